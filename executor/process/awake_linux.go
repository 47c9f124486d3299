package process

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// awake keeps this process from being stopped for good while programs run: one of
// them, being of our user, may send SIGSTOP, and then no limit would be kept. The
// kernel itself sends SIGCONT again and again, by a timer that no stop delays.
//
// A person who stops us at a terminal means it. So in the background of a terminal
// the timer rests, and a stop that came from the keyboard is obeyed.
type awake struct {
	mu       sync.Mutex
	timer    int32
	running  int
	terminal *os.File // that controls us, nil without one
	signals  chan os.Signal
	done     chan struct{}
}

// wakePause is how long a stop lasts: less than an outcome may be late.
const wakePause = 100 * time.Millisecond

// newAwake returns nil where the kernel has no such timer.
func newAwake() *awake {
	// The kernel's struct sigevent, of 64 bytes on every system.
	event := struct {
		value          uintptr
		signal, notify int32
		_              [64]byte
	}{signal: int32(unix.SIGCONT)} // notify 0: a signal to the process
	a := &awake{signals: make(chan os.Signal, 4), done: make(chan struct{})}
	// A signal that nobody wants would not make a timer go on in every kernel.
	signal.Notify(a.signals, syscall.SIGCONT)
	_, _, errno := syscall.Syscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&a.timer)))
	if errno != 0 {
		signal.Stop(a.signals)
		return nil
	}
	if terminal, err := os.OpenFile("/dev/tty", os.O_RDONLY|unix.O_NOCTTY, 0); err == nil {
		a.terminal = terminal
		signal.Notify(a.signals, syscall.SIGTSTP)
	}
	go a.watch()
	return a
}

// watch tells a person's stop from another's.
func (a *awake) watch() {
	defer close(a.done)
	for s := range a.signals {
		switch {
		case s == syscall.SIGTSTP:
			a.set(0)
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			a.rearm()
		case a.background():
			a.set(0)
		case s == syscall.SIGCONT && a.terminal != nil: // may be a shell's fg
			a.rearm()
		}
	}
}

// background reports whether a terminal controls us that another group of processes
// has the keyboard of.
func (a *awake) background() bool {
	if a.terminal == nil {
		return false
	}
	group, err := unix.IoctlGetInt(int(a.terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group != syscall.Getpgrp()
}

func (a *awake) began() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running++; a.running == 1 {
		a.set(wakePause)
	}
}

func (a *awake) ended() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running--; a.running == 0 {
		a.set(0)
	}
}

func (a *awake) rearm() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running > 0 && !a.background() {
		a.set(wakePause)
	}
}

// set makes the timer come every pause, or never again.
func (a *awake) set(pause time.Duration) {
	every := unix.NsecToTimespec(int64(pause))
	spec := unix.ItimerSpec{Interval: every, Value: every}
	syscall.Syscall6(unix.SYS_TIMER_SETTIME, uintptr(a.timer), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}

func (a *awake) close() {
	if a == nil {
		return
	}
	signal.Stop(a.signals)
	close(a.signals)
	<-a.done
	syscall.Syscall(unix.SYS_TIMER_DELETE, uintptr(a.timer), 0, 0)
	if a.terminal != nil {
		a.terminal.Close()
	}
}
