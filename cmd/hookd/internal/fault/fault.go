// Package fault is the programs of `hookd try --fault`: each misbehaves as a hook
// can, so that a person sees what a project's settings make of it. hookd starts
// itself as one of them; no shell and no file is needed.
package fault

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Role is the first argument of hookd as a faulty hook. The fault's name and the
// hook's limit follow.
const Role = "faulty-hook"

// A Fault is one way in which a hook misbehaves.
type Fault struct {
	Name string
	Does string // in words, behind "the hook"
	// Missing faults are those of a program that is not there: nothing is run.
	Missing bool
	run     func(limit time.Duration)
}

// long is longer than any hook may take.
const long = time.Hour

// Faults are all of them, in the order in which they are shown.
var Faults = []Fault{
	{Name: "missing", Does: "is a program that is not there", Missing: true},
	{Name: "timeout", Does: "reads its event and never answers", run: func(time.Duration) { time.Sleep(long) }},
	{Name: "slow", Does: "answers when half of its time is over", run: func(limit time.Duration) {
		time.Sleep(limit / 2)
		fmt.Println(`{"action":"observe"}`)
	}},
	{Name: "hang", Does: "says observe and does not end", run: func(time.Duration) {
		fmt.Println(`{"action":"observe"}`)
		time.Sleep(long)
	}},
	{Name: "stubborn", Does: "ignores TERM and never answers", run: func(time.Duration) {
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		time.Sleep(long)
	}},
	{Name: "child", Does: "says observe and leaves a child that holds its stdout", run: func(time.Duration) {
		if self, err := os.Executable(); err == nil {
			c := exec.Command(self, Role, "timeout", "0s")
			c.Stdout = os.Stdout
			_ = c.Start()
		}
		fmt.Println(`{"action":"observe"}`)
	}},
	{Name: "crash", Does: "is killed by a signal", run: func(time.Duration) {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		time.Sleep(time.Second)
	}},
	{Name: "exit", Does: "ends with exit code 1 and a word on stderr", run: func(time.Duration) {
		fmt.Fprintln(os.Stderr, "it broke")
		os.Exit(1)
	}},
	{Name: "exit-2", Does: "ends with exit code 2 and a word on stderr", run: func(time.Duration) {
		fmt.Fprintln(os.Stderr, "because")
		os.Exit(2)
	}},
	{Name: "silent", Does: "ends with exit code 0 and says nothing", run: func(time.Duration) {}},
	{Name: "garbage", Does: "prints text that is no JSON", run: func(time.Duration) { fmt.Println("Traceback (most recent call last):") }},
	{Name: "cut", Does: "prints half an answer", run: func(time.Duration) { fmt.Print(`{"action":"obs`) }},
	{Name: "typo", Does: "answers with an action that does not exist", run: func(time.Duration) { fmt.Println(`{"action":"blokc"}`) }},
	{Name: "twice", Does: "prints two answers", run: func(time.Duration) { fmt.Println(`{"action":"observe"}` + "\n" + `{"action":"observe"}`) }},
	{Name: "bytes", Does: "answers in bytes that are no UTF-8", run: func(time.Duration) { fmt.Println("{\"action\":\"observe\",\"notice\":\"\xff\"}") }},
	{Name: "protected", Does: "changes a field that no hook may change", run: func(time.Duration) {
		fmt.Println(`{"action":"modify","patch":[{"op":"add","path":"/notToBeChanged","value":1}]}`)
	}},
	{Name: "flood", Does: "writes to stdout without end", run: func(time.Duration) { flood(os.Stdout, long) }},
	{Name: "stderr-flood", Does: "writes 64 MiB to stderr and ends", run: func(time.Duration) {
		line := strings.Repeat("x", 1<<16-1) + "\n"
		for range 1 << 10 {
			if _, err := io.WriteString(os.Stderr, line); err != nil {
				return
			}
		}
	}},
}

func flood(w io.Writer, atMost time.Duration) {
	line := strings.Repeat("x", 1<<16-1) + "\n"
	for end := time.Now().Add(atMost); time.Now().Before(end); {
		if _, err := io.WriteString(w, line); err != nil {
			return
		}
	}
}

// Find returns the fault with a name, nil if there is none.
func Find(name string) *Fault {
	for i := range Faults {
		if Faults[i].Name == name {
			return &Faults[i]
		}
	}
	return nil
}

// Names lists the faults.
func Names() []string {
	names := make([]string, 0, len(Faults))
	for _, f := range Faults {
		names = append(names, f.Name)
	}
	return names
}

// Arguments are those of hookd as a hook with the fault.
func (f *Fault) Arguments(limit time.Duration) []string {
	return []string{Role, f.Name, limit.String()}
}

// Run misbehaves if args are those of a faulty hook, and reports whether it did.
func Run(args []string) bool {
	if len(args) != 3 || args[0] != Role {
		return false
	}
	f := Find(args[1])
	limit, err := time.ParseDuration(args[2])
	if f == nil || f.run == nil || err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	f.run(limit)
	return true
}
