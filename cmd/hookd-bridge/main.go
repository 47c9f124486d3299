package main

import (
	"errors"
	"os"
	"time"
)

// version is set at link time by releases, as that of hookd is. "" is not compared with
// the daemon's: that the daemon runs the installed hookd is checked in any case.
var version = ""

func main() {
	began := time.Now()
	a, understood := parse(os.Args[1:])
	m := &messenger{arguments: a, due: began.Add(a.ownTime())}
	if !understood {
		m.become(append([]string{"bridge"}, os.Args[1:]...), nil) // hookd says what is wrong
	}
	m.run()
}

// messenger is one call of an agent. It has one goroutine and no timer, which would cost
// a thread: whatever waits does so until due.
type messenger struct {
	arguments
	due time.Time
}

// errLate says that time is over.
var errLate = errors.New(late)

// mostInput is the largest input that is sent to a daemon. Larger ones are for hookd
// bridge to take or to refuse, which reads no more than mostAlone.
const (
	mostInput = 16 << 20
	mostAlone = 32<<20 + 1
)

// run answers the call and ends the process.
func (m *messenger) run() {
	if !asksDaemons {
		m.alone(nil, "")
	}
	input, err := readAll(0, mostAlone, m.due)
	if err == errLate {
		m.refuse(late)
	}
	if err != nil {
		m.alone(nil, "")
	}
	reply, start, err := m.ask(input)
	if err == errLate {
		m.refuse(late)
	}
	if err != nil {
		m.alone(input, start)
	}
	m.answer(reply)
}

// reply is what to write, and the exit code.
type reply struct {
	stdout, stderr []byte
	exit           int
}

// answer writes a reply and ends the process.
func (m *messenger) answer(r reply) {
	_ = writeAll(2, r.stderr) // an agent that does not read it reads the answer all the same
	if writeAll(1, r.stdout) != nil && r.exit == 0 {
		r.exit = refusingExit
	}
	os.Exit(r.exit)
}
