package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/protocol/rpc/socket/meet"
)

// asksDaemons says that this system tells which program is at the other end of a socket.
const asksDaemons = true

// ask has the daemon of the project answer. On an error the call is to be answered without
// it; start then names the socket on which a new one should be started, "" for none.
func (m *messenger) ask(input []byte) (r reply, start string, err error) {
	if len(input) > mostInput {
		return r, "", errors.New("too large for a daemon")
	}
	cwd, err := unix.Getwd()
	if err != nil {
		return r, "", err
	}
	state, err := stateDir()
	if err != nil {
		return r, "", err
	}
	socket, err := meet.Path(meet.Project(cwd, os.Getenv("HOME")), state)
	if err == nil {
		err = meet.CheckPath(socket)
	}
	if err != nil {
		return r, "", err
	}
	if m.start {
		start = socket
	}
	left := time.Until(m.due)
	c := connection{patience: min(left/4, patience), due: m.due}
	if err := c.open(socket, state); err != nil {
		return r, start, err
	}
	own := event{
		agent: m.agent, name: m.event, cwd: cwd, environ: os.Environ(), input: input,
		leftMs: (left - min(left/10, margin)).Milliseconds(),
	}
	line, err := own.encode()
	if err != nil {
		return r, "", err
	}
	r, err = c.exchange(line)
	return r, "", err
}

const (
	// patience is how long the daemon may be silent before it is asked whether it is there,
	// and then again before the messenger does without it.
	patience = time.Second
	// margin is how much earlier than the messenger the daemon refuses what is late: it
	// knows which hooks were.
	margin = 100 * time.Millisecond
)

// stateDir is the user's state folder, by the rules of package state; where that would
// look into the user database, hookd has to.
func stateDir() (string, error) {
	if base := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "hookd"), nil
	}
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "hookd"), nil
	}
	return "", errors.New("neither HOME nor XDG_STATE_HOME says where the state folder is")
}
