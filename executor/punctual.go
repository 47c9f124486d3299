package executor

import (
	"sync/atomic"

	"github.com/hookd-dev/hookd/executor/process"
)

// punctual is an [Asker] that is asked where the event is decided, for as long as
// it says so: its Ask surely returns when its context has ended. Handing the
// question to a goroutine of its own wakes threads, which costs as much as half a
// program's start.
type punctual interface{ punctual() bool }

func (p *Process) punctual() bool  { return p.nearby.Load() }
func (s *standing) punctual() bool { return s.plain.punctual() }

// nearby tells whether all that starting a program reads lies on file systems of
// this machine. A start waits for its files, and the file of a server that is gone
// does not come: no context ends that wait.
type nearby struct{ atomic.Bool }

// lookNearby is called by whoever asks, beside the event as long as it is not
// known. Where it cannot be known, it stays so.
func (p *Process) lookNearby() {
	if p.nearby.Load() {
		return
	}
	for _, path := range []string{p.config.Path, p.config.Dir, process.InterpreterOf(p.config.Path)} {
		if path != "" && !onThisMachine(path) {
			return
		}
	}
	p.nearby.Store(true)
}
