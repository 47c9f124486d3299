package signals

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrInterrupted is the cause of the context that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// Handler obeys the signals of a process.
type Handler struct {
	end       context.CancelCauseFunc
	exitCode  int
	forced    context.Context
	force     context.CancelFunc
	forceQuit atomic.Pointer[func()]
	interrupt atomic.Pointer[func()]
	restore   atomic.Pointer[func()]
}

// NewHandler returns a handler that ends the context of the command with
// [ErrInterrupted], and the process with an exit code.
func NewHandler(end context.CancelCauseFunc, exitCode int) *Handler {
	h := &Handler{end: end, exitCode: exitCode}
	h.forced, h.force = context.WithCancel(context.Background())
	return h
}

// Listen begins to obey signals. It never stops: the process ends when its command does.
func (h *Handler) Listen() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // for what is written past the printers
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go h.obey(signals)
}

// OnForceQuit says that the command ends in good order, and what the second signal does to
// end that: it calls do, if there is one, and ends [Handler.Forced].
func (h *Handler) OnForceQuit(do func()) {
	forceQuit := func() {
		h.force()
		if do != nil {
			do()
		}
	}
	h.forceQuit.Store(&forceQuit)
}

// Force has the command end without waiting, as a second signal does.
func (h *Handler) Force() { h.force() }

// Forced returns a context that ends when the command is to end without waiting.
func (h *Handler) Forced() context.Context { return h.forced }

// TakeInterrupts lets do have the interrupts, which then end nothing, until the returned
// function is called.
func (h *Handler) TakeInterrupts(do func()) (giveBack func()) {
	h.interrupt.Store(&do)
	return func() { h.interrupt.Store(nil) }
}

// OnExit has restore called before a signal ends the process: it makes the terminal as it
// was.
func (h *Handler) OnExit(restore func()) { h.restore.Store(&restore) }

func (h *Handler) obey(signals <-chan os.Signal) {
	h.next(signals, time.Time{})
	h.end(ErrInterrupted)
	h.next(signals, time.Now())
	if forceQuit := h.forceQuit.Load(); forceQuit != nil {
		(*forceQuit)()
		h.next(signals, time.Now())
	}
	if restore := h.restore.Load(); restore != nil {
		(*restore)()
	}
	os.Exit(h.exitCode)
}

// repeatedWithin is how long after a signal another one does not count: timeout(1) and some
// supervisors send theirs to the process and to its group.
const repeatedWithin = 100 * time.Millisecond

// next waits for a signal that asks for more than the one before it did. A terminal that
// is closed may say so more than once, and nobody is there who wants a faster end.
func (h *Handler) next(signals <-chan os.Signal, last time.Time) {
	for s := range signals {
		do := h.interrupt.Load()
		switch {
		case s == os.Interrupt && do != nil:
			(*do)()
		case last.IsZero(), s != syscall.SIGHUP && time.Since(last) >= repeatedWithin:
			return
		}
	}
}
