package main

import (
	"context"
	"errors"
	"os"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/faultyhook"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/executor/process"
)

func init() { process.Harden() }

func main() {
	if faultyhook.Run(os.Args[1:]) { // hookd as a hook that fails, started by hookd try
		return
	}
	if code, is := shownCommand(os.Args[1:]); is {
		os.Exit(code)
	}
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	p := newParts(ctx, cancel)
	p.signals.Listen()
	err := newRoot(p, args).ExecuteContext(ctx)
	losses := p.closers.Close(p.console)
	if losses != nil { // what was decided stands, and so does the exit code
		p.console.Note(show.OneLine(losses.Error()), "")
	}
	if err != nil && errors.Is(context.Cause(ctx), signals.ErrInterrupted) {
		p.console.NoteUnread()
		return cli.ExitInterrupted
	}
	p.console.JSON = p.console.JSON || asksForJSON(args)
	return p.console.Report(p.console.OutputError(err))
}

// parts are what the commands are made of.
type parts struct {
	console *cli.Console
	project *places.Project
	signals *signals.Handler
	closers *cli.Closers
	opener  *engine.Opener
}

// newParts makes them. cancel ends the context of the command.
func newParts(ctx context.Context, cancel context.CancelCauseFunc) *parts {
	handler := signals.NewHandler(cancel, cli.ExitInterrupted)
	console := cli.NewConsole(func() { cancel(cli.ErrOutput) }, ctx.Done(), handler.Forced().Done())
	closers, project := &cli.Closers{}, &places.Project{}
	opener := &engine.Opener{
		Console: console, Project: project, Processes: &engine.Processes{Closers: closers},
		Signals: handler, Closers: closers, Judge: judgeResources,
	}
	return &parts{console: console, project: project, signals: handler, closers: closers, opener: opener}
}

// asksForJSON reports whether --json is among arguments that were not understood. What is
// wrong with them is then said to a program.
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
