//go:build unix

package integration

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
)

func init() { programs["faulty"] = faulty }

// faulty is the fault kit's program: `faulty KIND` misbehaves in one way. The
// test binary runs it under that name, so that each fault is a few lines of Go
// that can do what a script cannot.
func faulty() {
	kind := ""
	if len(os.Args) > 1 {
		kind = os.Args[1]
	}
	fault, known := faults[kind]
	if !known {
		fmt.Fprintln(os.Stderr, "faulty: no fault", kind)
		os.Exit(99)
	}
	fault()
}

const okBlock = `{"action":"block","reason":"said no"}`

// answer is okBlock, or another answer, as the fault's mode asks for: a resident
// hook gives the event's id as the second argument.
func answer(text string) string {
	if len(os.Args) > 2 {
		return `{"id":"` + os.Args[2] + `",` + text[1:]
	}
	return text
}

var faults = map[string]func(){
	"flood-stdout": func() { flood(os.Stdout) },
	"flood-stderr": func() { flood(os.Stderr) },
	"big-string": func() {
		w := bufio.NewWriter(os.Stdout)
		fmt.Fprint(w, answer(`{"action":"modify","changes":{"args":{"command":"`))
		chunk := strings.Repeat("x", 1<<20)
		for range 64 {
			io.WriteString(w, chunk)
		}
		fmt.Fprint(w, `"}}}`)
		w.Flush()
	},
	"deep": func() {
		fmt.Printf(answer(`{"action":"modify","changes":{"args":{"command":%s%s}}}`),
			strings.Repeat("[", 100_000), strings.Repeat("]", 100_000))
	},
	"utf-16":         func() { os.Stdout.Write(inUTF16(answer(okBlock))) },
	"utf-16-observe": func() { os.Stdout.Write(inUTF16(answer(`{"action":"observe"}`))) },
	"reads-half": func() {
		io.ReadFull(os.Stdin, make([]byte, 100))
		os.Stdin.Close()
		fmt.Println(answer(okBlock))
	},
	"closes-stdin": func() {
		os.Stdin.Close()
		time.Sleep(50 * time.Millisecond)
		fmt.Println(answer(okBlock))
	},
	"long-answer": func() {
		fmt.Printf(answer(`{"action":"block","reason":"%s"}`), strings.Repeat("€", 200<<10/3))
	},
	"drips": func() {
		for _, b := range []byte(answer(`{"action":"block","reason":"é€😀"}`)) {
			os.Stdout.Write([]byte{b})
			time.Sleep(5 * time.Millisecond)
		}
	},
	"stops-itself": func() { syscall.Kill(os.Getpid(), syscall.SIGSTOP) },
	"ignores-term": func() {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		time.Sleep(30 * time.Second)
	},
	"storm": func() {
		for range 100 {
			exec.Command("sleep", "30").Start()
		}
		time.Sleep(30 * time.Second)
	},
	"setsid": func() {
		child := exec.Command("sleep", "30")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		child.Stdout = os.Stdout // and holds the pipe
		child.Start()
		time.Sleep(30 * time.Second)
	},
	"daemon-holds-pipe": func() {
		child := exec.Command("sleep", "30")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.Start()
		fmt.Println(answer(okBlock))
	},
	"double-fork": func() {
		child := exec.Command("sh", "-c", "(sh -c 'sleep 30' &) ; exit 0")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		child.Run()
		time.Sleep(30 * time.Second)
	},
}

func flood(w io.Writer) {
	chunk := []byte(strings.Repeat("x", 1<<16))
	for range 1 << 14 { // 1 GiB, then the fault ends by itself
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
	fmt.Println(answer(okBlock))
}

// inUTF16 is ASCII text as some shells write it: little-endian with its mark.
func inUTF16(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, b := range []byte(text) {
		out = append(out, b, 0)
	}
	return out
}
