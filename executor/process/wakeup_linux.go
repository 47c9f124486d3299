package process

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// wakeup keeps this process from being stopped for good while programs run: one of
// them, being of our user, may send SIGSTOP, and then no limit would be kept. The
// kernel itself sends SIGCONT again and again, by a timer that no stop delays.
//
// A person who stops us at a terminal means it. So in the background of a terminal
// the timer rests, and a stop that came from the keyboard is obeyed.
//
// One that stops us again and again leaves no time to do anything. A guardian ends
// it; without one, in a life of one event, we are killed when every limit is long
// over: an end without an answer passes for no answer.
type wakeup struct {
	mu       sync.Mutex
	wakes    [len(wakeAfter)]timer
	last     timer
	mortal   bool
	running  int
	latest   time.Time // limit of those that run, or have run with them
	terminal *os.File  // that controls us, nil without one
	signals  chan os.Signal
	done     chan struct{}
}

// wakePause is how long a stop lasts: less than an outcome may be late.
const wakePause = 100 * time.Millisecond

// wakeAfter is when each of the timers begins. The first is enough, but that a stop
// which comes between a SIGCONT and the moment when it is taken note of takes that
// signal away, and the kernel sets a timer anew only when its signal was taken note
// of: it never comes again. Then the next one comes, and all are set anew.
var wakeAfter = [...]time.Duration{
	wakePause, 150 * time.Millisecond, 200 * time.Millisecond, 250 * time.Millisecond, 325 * time.Millisecond, 400 * time.Millisecond,
	500 * time.Millisecond, 700 * time.Millisecond, time.Second, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second, 5 * time.Second, 8 * time.Second,
}

// lastPause is how long after the last limit a process without a guardian ends, if
// it could not take note of that limit. It is as long as ending a tree may take.
const lastPause = 2 * closeTimeout

// newWakeup returns nil where the kernel has no such timers.
func newWakeup(mortal bool) *wakeup {
	a := &wakeup{mortal: mortal, signals: make(chan os.Signal, 4), done: make(chan struct{})}
	for i := range a.wakes {
		if a.wakes[i].make(syscall.SIGCONT) != nil {
			return nil
		}
	}
	if a.last.make(syscall.SIGKILL) != nil {
		return nil
	}
	// A signal that nobody wants would not make a timer go on in every kernel.
	signal.Notify(a.signals, syscall.SIGCONT)
	if terminal, err := os.OpenFile("/dev/tty", os.O_RDONLY|unix.O_NOCTTY, 0); err == nil {
		a.terminal = terminal
		signal.Notify(a.signals, syscall.SIGTSTP)
	}
	go a.watch()
	return a
}

// watch tells a person's stop from another's.
func (a *wakeup) watch() {
	defer close(a.done)
	for s := range a.signals {
		switch {
		case s == syscall.SIGTSTP && a.background(): // no keyboard's
		case s == syscall.SIGTSTP:
			a.rest()
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			a.rearm()
		case a.background():
			a.rest()
		case s == syscall.SIGCONT: // whichever timer it came from, or a shell's fg: all begin anew
			a.rearm()
		}
	}
}

// background reports whether a terminal controls us that another group of processes
// has the keyboard of.
func (a *wakeup) background() bool {
	if a.terminal == nil {
		return false
	}
	group, err := unix.IoctlGetInt(int(a.terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group != syscall.Getpgrp()
}

func (a *wakeup) began(limit time.Time) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	later := limit.After(a.latest)
	if later {
		a.latest = limit
	}
	if a.running++; a.running == 1 || a.mortal && later {
		a.arm()
	}
}

func (a *wakeup) ended() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running--; a.running == 0 {
		a.latest = time.Time{}
		a.disarm()
	}
}

// arm sets the timers. a.mu is held.
func (a *wakeup) arm() {
	for i := range a.wakes {
		a.wakes[i].set(wakeAfter[i], wakePause)
	}
	if a.mortal && !a.latest.IsZero() {
		a.last.set(max(0, time.Until(a.latest))+lastPause, 0)
	}
}

// disarm has the timers rest. a.mu is held.
func (a *wakeup) disarm() {
	for i := range a.wakes {
		a.wakes[i].set(0, 0)
	}
	a.last.set(0, 0)
}

func (a *wakeup) rest() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.disarm()
}

func (a *wakeup) rearm() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running > 0 && !a.background() {
		a.arm()
	}
}

func (a *wakeup) close() {
	if a == nil {
		return
	}
	signal.Stop(a.signals)
	close(a.signals)
	<-a.done
	for i := range a.wakes {
		a.wakes[i].remove()
	}
	a.last.remove()
	if a.terminal != nil {
		a.terminal.Close()
	}
}
