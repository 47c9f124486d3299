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
	if err != nil && len(input) > 0 { // hookd would find the rest only
		m.refuse(unread)
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

// leastWriting is how long an agent has to take a reply even when it is late.
const leastWriting = 200 * time.Millisecond

// answer writes a reply and ends the process. It writes first what the agent reads, since a
// full stderr must not keep that from it. A reply that cannot be written refuses by the exit
// code what can be refused: an agent that has read half of it would go on otherwise.
func (m *messenger) answer(r reply) {
	until := m.due
	if least := time.Now().Add(leastWriting); until.Before(least) {
		until = least
	}
	if writeAll(1, r.stdout, until) != nil {
		r.exit = failingExit
		if refusal := m.refusal(); refusal.exit != 0 || refusal.stdout != "" {
			r.exit = refusingExit
		}
		r.stderr = append(r.stderr, "hookd: the answer cannot be written\n"...)
	}
	_ = writeAll(2, r.stderr, until) // an agent that does not read it has the answer all the same
	os.Exit(r.exit)
}
