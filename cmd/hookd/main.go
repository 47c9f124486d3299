// Command hookd runs hooks: programs that read an agent's events and observe,
// block or change them before they take effect.
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

func init() { process.Shield() }

func main() {
	if faultyhook.Run(os.Args[1:]) { // hookd as a hook that fails, started by hookd try
		return
	}
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	a := newApp(ctx, cancel)
	a.signals.Listen()
	err := newRoot(a, args).ExecuteContext(ctx)
	losses := a.closers.Close(a.console)
	if losses != nil { // what was decided stands, and so does the exit code
		a.console.Note(show.OneLine(losses.Error()), "")
	}
	if err != nil && errors.Is(context.Cause(ctx), signals.ErrInterrupted) {
		a.console.NoteUnread()
		return cli.ExitInterrupted
	}
	a.console.JSON = a.console.JSON || asksForJSON(args)
	return a.console.Report(a.console.OutputError(err))
}

// newApp makes the parts that commands share. cancel ends the context of the command.
func newApp(ctx context.Context, cancel context.CancelCauseFunc) *app {
	handler := signals.NewHandler(cancel, cli.ExitInterrupted)
	console := cli.NewConsole(func() { cancel(cli.ErrOutput) }, ctx.Done(), handler.Forced().Done())
	closers := &cli.Closers{}
	project := &places.Project{}
	processes := &engine.Processes{Closers: closers}
	opener := &engine.Opener{Console: console, Project: project, Processes: processes, Signals: handler, Closers: closers, Judge: judgeDocuments}
	return &app{version: versionName(), builtin: builtinHooks, console: console, project: project, signals: handler, closers: closers, processes: processes, opener: opener}
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
