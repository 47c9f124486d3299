package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// app is what all commands share: the streams, the common flags, and the parts
// that are made when a command first needs them.
type app struct {
	stdin    *os.File
	out, err *show.Printer
	project  string // --project
	json     bool   // --json

	// late gets what hooks did or say that nobody waited for, in place of the person.
	late func(ev *protocol.Event, run *protocol.Run, notice *protocol.HookText)

	// noted gets the notes in place of the person, where a program reads what the
	// command says.
	noted func(text, remedy string)

	lines    *typedLines // what the person types, nil before somebody wants it
	reviewed bool        // the person was asked about guards that refuse

	watchSignals func()                 // begins to obey signals, unless it has begun
	outlet       *outlet                // where out writes to
	abort        atomic.Pointer[hurry]  // what a second signal does
	unhurried    context.Context        // until a second signal, of a command with hooks
	endNow       func()                 // ends unhurried
	interrupt    atomic.Pointer[func()] // has the interrupts, if somebody wants them
	rescue       atomic.Pointer[func()] // makes the terminal as it was
	processes    *process.Runtime
	guarded      bool           // processes has a guardian
	pool         *exechook.Pool // goes with processes
	closers      []func() error
}

// hurry is a command's way to end without waiting.
type hurry struct{ up func() }

func newApp() *app {
	a := &app{stdin: os.Stdin, out: show.New(apart(os.Stdout)), err: show.New(apart(os.Stderr))}
	a.unhurried, a.endNow = context.WithCancel(context.Background())
	return a
}

// lost is why something that was to be kept is not.
type lost struct{ error }

func (l lost) Unwrap() error { return l.error }

// close ends what was made, the last first. What does not end well is told; the
// error says what was lost.
func (a *app) close() (losses error) {
	for i := len(a.closers) - 1; i >= 0; i-- {
		err := a.closers[i]()
		if loss, isLoss := errors.AsType[lost](err); isLoss {
			losses = errors.Join(losses, loss)
		} else if err != nil {
			a.note(oneLine(err.Error()), "")
		}
	}
	return losses
}

// atEnd has something done before the process ends, the last first.
func (a *app) atEnd(do func() error) { a.closers = append(a.closers, do) }

// runtime is what runs programs in this process. The first who asks decides whether a
// guardian ends them when hookd is killed: a command that needs one asks before all else.
func (a *app) runtime(longLived bool) (*process.Runtime, error) {
	if a.processes != nil {
		if longLived && !a.guarded {
			return nil, failed("processes", errors.New("programs were started without a guardian before"), "this is a mistake of hookd's, please report it")
		}
		return a.processes, nil
	}
	// How many hooks run at once is for the executor to say (hooks.processes), which
	// does not count the wait against a hook's own limit.
	rt, err := process.New(process.Options{LongLived: longLived, Dedicated: true, Processes: 4096, Starting: a.watchSignals})
	if err != nil {
		return nil, failed("processes", err, "")
	}
	a.processes, a.guarded, a.pool = rt, longLived, exechook.NewPool(rt)
	a.atEnd(rt.Close)
	a.atEnd(a.pool.Close)
	return rt, nil
}

// root is the folder that init and new write to: --project or the working
// directory.
func (a *app) root() (string, error) {
	folder := a.project
	if folder == "" {
		wd, err := os.Getwd()
		if err != nil {
			return "", noDirectory()
		}
		return wd, nil
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", failed("no-directory", err, "")
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", usage("no-project", folder+" is not a folder", "give --project a folder that exists")
	}
	return folder, nil
}

func noDirectory() *Fault {
	return failed("no-directory", errors.New("the working directory is missing"), "change to a folder that exists")
}

// noProject is why hooks could not be loaded at all.
func noProject(err error) error {
	if _, wdErr := os.Getwd(); wdErr != nil {
		return noDirectory()
	}
	hint := ""
	if errors.Is(err, loader.ErrState) {
		hint = "set XDG_STATE_HOME to a folder of yours outside of the project"
	}
	return usage("no-project", err.Error(), hint)
}

func stateDir() (string, error) {
	dir, err := executor.StateDir()
	if err != nil {
		return "", failed("no-state", err, "make $XDG_STATE_HOME (or ~/.local/state) a folder that you can write to")
	}
	return dir, nil
}

func joinLines(names []string) string { return strings.Join(names, " ") }

func (a *app) printJSON(value any) error {
	text, err := protocol.Marshal(value)
	if err != nil {
		return err
	}
	a.out.Raw(string(text) + "\n")
	return nil
}

// isTerminal reports whether a person is at the other end of a stream.
func isTerminal(stream any) bool {
	if o, is := stream.(*outlet); is {
		stream = o.to
	}
	f, isFile := stream.(*os.File)
	return isFile && show.IsTerminal(f)
}
