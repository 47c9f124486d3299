package process

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// guardianProcess is the guardian process.
type guardianProcess struct {
	hookd        int          // the process that the programs are of
	table        *sharedTable // what runs
	stoppedLooks int          // looks in a row that found hookd stopped
}

// runGuardian waits until the pipe ends, and then ends all that runs.
func runGuardian() {
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGQUIT)
	syscall.CloseOnExec(helperPipe)
	syscall.CloseOnExec(helperTable)
	shared, err := openSharedTable(os.NewFile(helperTable, "table"))
	if err != nil {
		os.Exit(1)
	}
	w := guardianProcess{hookd: os.Getppid(), table: shared}
	w.wait(os.NewFile(helperPipe, "hookd"))
	trees, cgroup := shared.read()
	if cgroup != "" {
		killCgroup(cgroup, closeTimeout)
	}
	endTrees(trees)
	os.Exit(0)
}

// While programs run, hookd is looked at now and then. A program may stop it again
// and again, faster than it wakes up; whatever runs is ended then.
const (
	watchPause       = 100 * time.Millisecond
	mostStoppedLooks = 10
)

// wait returns when hookd is dead. A byte in the pipe says that programs run.
func (w *guardianProcess) wait(pipe *os.File) {
	bytes := make(chan struct{})
	go func() {
		defer close(bytes)
		var one [1]byte
		for {
			if n, err := pipe.Read(one[:]); n == 0 || err != nil {
				return
			}
			bytes <- struct{}{}
		}
	}()
	for {
		var look <-chan time.Time
		if w.watches() {
			look = time.After(watchPause)
		}
		select {
		case _, alive := <-bytes:
			if !alive {
				return
			}
		case <-look:
			w.look()
		}
	}
}

// watches reports whether programs run. If none does, hookd says when one does again.
func (w *guardianProcess) watches() bool {
	if trees, _ := w.table.read(); len(trees) > 0 {
		return true
	}
	w.table.watched().Store(0)
	trees, _ := w.table.read() // one may have begun meanwhile
	return len(trees) > 0
}

// look ends what runs if hookd is kept stopped, unless a person has sent it to the
// background of a terminal.
func (w *guardianProcess) look() {
	e, ok := readEntry(w.hookd)
	if !ok || !e.stopped || e.background {
		w.stoppedLooks = 0
		return
	}
	if w.stoppedLooks++; w.stoppedLooks < mostStoppedLooks {
		return
	}
	w.stoppedLooks = 0
	trees, cgroup := w.table.read()
	if cgroup != "" {
		killMembers(cgroup)
	}
	endTrees(trees)
	syscall.Kill(w.hookd, syscall.SIGCONT)
}
