package faultyhook

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
)

// Role is the first argument of hookd as a faulty hook. The fault's name, the hook's limit
// and the dialect that it speaks follow, and what the hook's agent adds.
const Role = "faulty-hook"

// A Fault is one way in which a hook misbehaves.
type Fault struct {
	Name string
	Does string // in words, after "the hook"
	// Missing faults are those of a program that is not there: nothing is run.
	Missing bool
	// Waits faults use the hook's limit up, or a part of it. The others get more, so
	// that how long hookd takes to start on a busy machine does not pass for them.
	Waits bool
	run   func(limit time.Duration, id string)
}

// long is longer than any hook may take.
const long = time.Hour

// speaks is the dialect of this faulty hook.
var speaks = foreignhooks.Own

// reply prints an answer to the event, with its id: in every mode it ends the turn. A hook
// of another agent says the same in words that all of them read so.
func reply(id, rest string) {
	switch {
	case speaks == foreignhooks.Own:
		fmt.Printf("{\"id\":%q%s\n", id, rest)
	case rest == observe && speaks == "acai":
		fmt.Println("observe")
	default:
		fmt.Println(theirs[rest])
	}
}

// Answers, of which hookd's own begin with the id.
const (
	observe   = `,"action":"observe"}`
	typo      = `,"action":"blokc"}`
	protected = `,"action":"modify","patch":[{"op":"add","path":"/notToBeChanged","value":1}]}`
)

// theirs are the same answers in the words of other agents.
var theirs = map[string]string{
	observe:   `{}`,
	typo:      `{"action":"blokc","decision":"blokc","permission":"blokc","permissionDecision":"blokc","blocked":"blokc"}`,
	protected: `{"action":"modify","modifications":{"notToBeChanged":1},"hookSpecificOutput":1,"updated_input":1,"modifiedArgs":1,"input":1,"additionalContext":1}`,
}

// Faults are all of them, in the order in which they are shown.
var Faults = []Fault{
	{Name: "missing", Does: "is a program that is not there", Missing: true},
	{Name: "timeout", Waits: true, Does: "reads its event and never answers", run: func(time.Duration, string) { time.Sleep(long) }},
	{Name: "slow", Waits: true, Does: "answers when half of its time is over", run: func(limit time.Duration, id string) {
		time.Sleep(limit / 2)
		reply(id, observe)
	}},
	{Name: "hang", Waits: true, Does: "says observe and does not end", run: func(_ time.Duration, id string) {
		reply(id, observe)
		time.Sleep(long)
	}},
	{Name: "stubborn", Waits: true, Does: "ignores TERM and never answers", run: func(time.Duration, string) {
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		time.Sleep(long)
	}},
	{Name: "child", Waits: true, Does: "says observe and leaves a child that holds its stdout", run: func(_ time.Duration, id string) {
		if self, err := os.Executable(); err == nil {
			c := exec.Command(self, Role, "timeout", "0s")
			c.Stdout = os.Stdout
			_ = c.Start()
		}
		reply(id, observe)
	}},
	{Name: "crash", Does: "is killed by a signal", run: func(time.Duration, string) {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		time.Sleep(time.Second)
	}},
	{Name: "exit", Does: "ends with exit code 1 and a word on stderr", run: func(time.Duration, string) {
		fmt.Fprintln(os.Stderr, "it broke")
		os.Exit(1)
	}},
	{Name: "exit-2", Does: "ends with exit code 2 and a word on stderr", run: func(time.Duration, string) {
		fmt.Fprintln(os.Stderr, "because")
		os.Exit(2)
	}},
	{Name: "silent", Does: "ends with exit code 0 and says nothing", run: func(time.Duration, string) {}},
	{Name: "garbage", Does: "prints text that is no JSON", run: func(time.Duration, string) { fmt.Println("Traceback (most recent call last):") }},
	{Name: "cut", Does: "prints half an answer", run: func(_ time.Duration, id string) { fmt.Printf(`{"id":%q,"action":"obs`, id) }},
	{Name: "typo", Does: "answers with an action that does not exist", run: func(_ time.Duration, id string) { reply(id, typo) }},
	{Name: "twice", Does: "prints two answers", run: func(_ time.Duration, id string) { reply(id, observe); reply(id, observe) }},
	{Name: "bytes", Does: "answers in bytes that are no UTF-8", run: func(_ time.Duration, id string) {
		fmt.Printf("{\"id\":%q,\"action\":\"observe\",\"notice\":\"\xff\"}\n", id)
	}},
	{Name: "protected", Does: "changes what no hook may change", run: func(_ time.Duration, id string) { reply(id, protected) }},
	{Name: "flood", Does: "writes to stdout without end", run: func(time.Duration, string) { flood(os.Stdout, long) }},
	{Name: "stderr-flood", Does: "writes 64 MiB to stderr and ends", run: func(time.Duration, string) {
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

// Arguments returns the arguments of hookd as a hook with the fault.
func (f *Fault) Arguments(limit time.Duration, dialect string) []string {
	return []string{Role, f.Name, limit.String(), dialect}
}

// Run misbehaves if args are those of a faulty hook, and reports whether it did.
func Run(args []string) bool {
	if len(args) < 3 || args[0] != Role {
		return false
	}
	if len(args) > 3 {
		speaks = args[3]
	}
	f := Find(args[1])
	limit, err := time.ParseDuration(args[2])
	if f == nil || f.run == nil || err != nil {
		return false
	}
	f.run(limit, readID(os.Stdin))
	return true
}

// readID reads the event, one line, and returns its id.
func readID(in io.Reader) string {
	line, _ := bufio.NewReader(in).ReadBytes('\n')
	var event struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(line, &event)
	return event.ID
}
