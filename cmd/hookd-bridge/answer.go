package main

import (
	"os"
	"strings"
	"time"
)

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

// refuse refuses the event and ends the process.
func (m *messenger) refuse(reason string) {
	r := m.refusal()
	fill := func(form string) []byte { return []byte(strings.ReplaceAll(form, "REASON", reason)) }
	stderr := fill(r.stderr)
	if len(stderr) > 0 {
		stderr = append(stderr, '\n')
	}
	m.answer(reply{stdout: fill(r.stdout), stderr: stderr, exit: r.exit})
}
