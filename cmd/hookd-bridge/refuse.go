package main

import (
	"strings"
	"time"
)

// refusal is how an agent is told at one event that it is refused: an entry of the table
// in refusals.go, which is made from package hosts. Where the agent can refuse nothing
// there, it is a note. REASON stands for why.
type refusal struct {
	agent, event   string // the agent's own name of the event, "" for one that nobody names
	limit          time.Duration
	exit           int
	stdout, stderr string
}

//go:generate go test -run ^TestRefusals$ . -update

// Reasons of refusals. They stand in JSON strings as they are.
const (
	late    = "hookd's hooks did not answer in time"
	unread  = "hookd cannot read to its end what was sent to it"
	missing = "hookd cannot be started: it must lie in the folder of hookd-bridge"
)

// refusingExit with a text on stderr refuses at the gates of every agent.
const refusingExit = 2

// failingExit says that something went wrong where nothing can be refused.
const failingExit = 1

// shortestLimit is for agents that nobody knows: hookd says that in time.
const shortestLimit = 5 * time.Second

// refusal returns how the event of a call is refused. An event that is not named on the
// command line, or that the table does not have, is refused as the agent's table says of
// events that nobody names.
func (a *arguments) refusal() refusal {
	r := refusal{limit: shortestLimit, exit: refusingExit, stderr: "hookd: REASON"}
	for i := range refusals {
		switch known := &refusals[i]; {
		case known.agent != a.agent:
		case known.event == a.event:
			return *known
		case known.event == "":
			r = *known
		}
	}
	return r
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
