package main

import (
	"errors"
	"time"
)

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

// reply is what to write, and the exit code.
type reply struct {
	stdout, stderr []byte
	exit           int
}

// refusal is how an agent is told at one event that it is refused: an entry of the table
// in refusals.go, which is made from package hosts. Where the agent can refuse nothing
// there, it is a note. REASON stands for why.
type refusal struct {
	agent, event   string // the agent's own name of the event, "" for one that nobody names
	limit          time.Duration
	exit           int
	stdout, stderr string
}

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
