package main

import (
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
