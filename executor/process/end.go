package process

import (
	"errors"
	"time"
)

// How often the end of a tree is checked, and how long a tree that does not die
// (a process the kernel cannot interrupt, or one of another user) keeps its
// slot among Options.Processes.
const (
	checkFirst = 250 * time.Microsecond
	checkMost  = 20 * time.Millisecond
	stuckAfter = 10 * time.Second
	stuckCheck = time.Second
)

// end ends the run's tree after its result was returned: TERM to the group, KILL to
// everything after the grace time, then wait until nothing is alive.
func (r *run) end(cause error) {
	exited := cause == nil // and reaped
	if r.deservesGrace(cause) {
		r.container.terminate()
		exited = r.exitsInGrace()
		if exited {
			r.container.exited()
			r.program.reap()
		}
	}
	r.killAll(exited)
}

// exitsInGrace waits until the program has exited, but no longer than its grace time, or
// until [Runtime.Hurry].
func (r *run) exitsInGrace() bool {
	for end := time.Now().Add(r.command.Grace); !r.runtime.hurried.Load(); {
		left := time.Until(end)
		if left <= 0 {
			return false
		}
		if r.program.discardOutput(min(left, checkMost)) {
			return true
		}
	}
	return false
}

// deservesGrace is false for a program that ended by itself and left processes
// running, and for one that floods us.
func (r *run) deservesGrace(cause error) bool {
	var flood *OutputError
	return cause != nil && !errors.As(cause, &flood) && r.command.Grace > 0
}

// killAll kills until nothing is left, however long that takes, but gives the
// run's slot free when it takes too long.
func (r *run) killAll(reaped bool) {
	began, pause, stuck := time.Now(), checkFirst, false
	for !reaped || !r.container.empty() {
		r.container.kill()
		if !reaped && r.program.discardOutput(pause) {
			r.program.reap()
			reaped = true
			continue
		}
		if !r.rest(pause) {
			return // Close has given up on it and says so
		}
		pause = min(2*pause, checkMost)
		if time.Since(began) > stuckAfter {
			if !stuck {
				stuck = true
				r.leave()
			}
			pause = stuckCheck
		}
	}
	r.finish()
	if !stuck {
		r.leave()
	}
	close(r.gone)
}

// rest waits, as long as the container may still hold a process, and reports false when
// Close has stopped waiting.
func (r *run) rest(d time.Duration) bool {
	if container, ok := r.container.(endAwaiter); ok && d <= checkMost {
		container.await(d)
		select {
		case <-r.runtime.giveUp:
			return false
		default:
			return true
		}
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.runtime.giveUp:
		return false
	case <-timer.C:
		return true
	}
}
