// Command hookd runs hooks: programs that read an agent's events and observe,
// block or change them before they take effect.
//
// One small file per command holds its flags and its wiring; everything that
// decides anything lives in the packages of the module.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/fault"
	_ "github.com/hookd-dev/hookd/cmd/hookd/internal/stack"
	"github.com/hookd-dev/hookd/executor/process"
)

func init() { process.Shield() }

func main() {
	if fault.Run(os.Args[1:]) { // hookd as a hook that fails, started by hookd try
		return
	}
	os.Exit(run(os.Args[1:]))
}

// errInterrupted is the cause of the context that a signal ended.
var errInterrupted = errors.New("interrupted")

func run(args []string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	a := newApp()
	a.watchOutput(ctx, cancel)
	a.watchSignals = sync.OnceFunc(func() { a.obeySignals(cancel) })
	if len(args) == 0 || args[0] != "fire" { // it listens when it has something to end in good order
		a.watchSignals()
	}
	err := newRoot(a, args).ExecuteContext(ctx)
	losses := a.close()
	if losses != nil { // what was decided stands, and so does the exit code
		a.note(oneLine(losses.Error()), "")
	}
	if err != nil && errors.Is(context.Cause(ctx), errInterrupted) {
		a.tellUnread()
		return exitInterrupted
	}
	a.json = a.json || asksForJSON(args)
	return a.report(a.outputError(err))
}

// asksForJSON reports whether --json is among arguments that were not understood so
// far: what is wrong with them is then said to a program.
func asksForJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// obeySignals begins to listen for signals. They are never given back: the process
// ends when run returns. Listening costs two threads and twenty page faults.
func (a *app) obeySignals(cancel context.CancelCauseFunc) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // for what is written past the printers
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go a.obey(signals, cancel)
}

// obey ends the command at the first signal. The second one does not wait for
// anything to end well, where the command has a way to hurry; the last always
// ends the process. A conversation takes interrupts itself.
func (a *app) obey(signals <-chan os.Signal, cancel context.CancelCauseFunc) {
	a.nextSignal(signals, time.Time{})
	cancel(errInterrupted)
	a.nextSignal(signals, time.Now())
	if h := a.abort.Load(); h != nil {
		h.up()
		a.nextSignal(signals, time.Now())
	}
	if restore := a.rescue.Load(); restore != nil {
		(*restore)()
	}
	os.Exit(exitInterrupted)
}

// sameWish is how long after a signal another one is still the same wish: timeout(1)
// and some supervisors send theirs to the process and to its group.
const sameWish = 100 * time.Millisecond

// nextSignal waits for a signal that asks for more than the one before it did. A
// terminal that is closed may tell so more than once, and nobody is there who could
// be in a hurry.
func (a *app) nextSignal(signals <-chan os.Signal, last time.Time) {
	for s := range signals {
		do := a.interrupt.Load()
		switch {
		case s == os.Interrupt && do != nil:
			(*do)()
		case last.IsZero(), s != syscall.SIGHUP && time.Since(last) >= sameWish:
			return
		}
	}
}
