package eventcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// Commands are hookd fire and hookd try.
type Commands struct {
	Console   *cli.Console
	Project   *places.Project
	Opener    *engine.Opener
	Processes *engine.Processes
}

// Fire returns hookd fire.
func (cmd *Commands) Fire() *cobra.Command {
	var data, session string
	var explain bool
	c := &cobra.Command{
		Use:   "fire EVENT",
		Short: "Run the hooks for one event; exit code 0 means passed, 2 refused",
		Long: `Run the hooks for one event and print what they decided.

--data is the event's data: JSON, @FILE, or - for stdin. Members that must be
there and are not get their zero value. Without --data a sample is fired.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: places.CompleteEvents,
		RunE: func(c *cobra.Command, args []string) error {
			name, err := cli.EventName(args[0])
			if err != nil {
				return err
			}
			if c.Flags().Changed("session") {
				if err := protocol.CheckSessionID(session); err != nil {
					return cli.Usage("bad-session", "--session: "+err.Error(), "hookd run and hookd serve take the same")
				}
			}
			raw, err := cmd.eventData(name, data, c.Flags().Changed("data"), nil)
			if err != nil {
				return err
			}
			if !c.Flags().Changed("data") && !cmd.Console.JSON {
				cmd.Console.Err.Print("%s\n", cmd.Console.Err.In(show.Quiet, "no --data, so a sample is fired: "+show.Line(show.Shorten(show.Compact(raw), 120))))
			}
			return cmd.fire(c.Context(), name, raw, session, explain)
		},
	}
	c.Flags().StringVar(&data, "data", "", "the event's data: `JSON`, @FILE, or - for stdin")
	cli.NameFlag(c.Flags(), &session, "session", "", "session `ID`, for hooks' state and metadata")
	c.Flags().BoolVar(&explain, "explain", false, "show every hook, and of those that did not run, why")
	_ = c.RegisterFlagCompletionFunc("data", cobra.NoFileCompletions)
	cmd.Console.JSONFlag(c)
	return c
}

func (cmd *Commands) fire(ctx context.Context, name protocol.EventName, data protocol.RawMessage, session string, explain bool) error {
	options := engine.Options{Explain: explain}
	var held *cli.HeldNotes
	if cmd.Console.JSON {
		held = cmd.Console.HoldNotes()
		defer cmd.Console.ReleaseNotes(held)
		if explain { // the runs of those that nobody waited for are explained, too
			options.Late = holdLate(held)
		}
	}
	e, err := cmd.Opener.Open(ctx, options)
	if err != nil {
		return err
	}
	cmd.Opener.NoteNoProject(e.Project())
	event, err := cmd.event(name, data, session, e.Project())
	if err != nil {
		return err
	}
	outcome, err := e.Fire(ctx, event)
	if err != nil {
		return context.Cause(ctx)
	}
	if held != nil {
		outcome.Notices = append(held.Take(), outcome.Notices...)
		cmd.Console.NoteTo(nil)
	}
	hooks := e.HooksFor(name)
	if explain && cmd.Console.JSON {
		cmd.awaitObservers(ctx, e)
		outcome.Runs = append(outcome.Runs, e.LateRuns()...)
		outcome.Notices = append(outcome.Notices, held.Take()...)
	}
	e.Aside(func() {
		err = cmd.printOutcome(&outcome)
		if !cmd.Console.JSON && !explain && len(outcome.Runs) == 0 {
			report.NotAsked(cmd.Console.Out, hooks)
		}
	})
	if err != nil {
		return err
	}
	if explain && !cmd.Console.JSON {
		cmd.awaitObservers(ctx, e)
		report.Runs(cmd.Console.Out, append(outcome.Runs, e.LateRuns()...), hooks)
	}
	if outcome.Refused() {
		return cli.ExitCode(cli.ExitRefused)
	}
	return nil
}

// holdLate keeps what hooks say that nobody waited for. What went wrong with them is part
// of their runs.
func holdLate(held *cli.HeldNotes) engine.Late {
	return func(_ *protocol.Event, _ *protocol.Run, notice *protocol.HookText) {
		if notice != nil && notice.Failure == "" && !notice.Warning {
			held.Add(*notice)
		}
	}
}

// awaitObservers waits for the hooks that answer after the outcome stands: observers, and
// hooks in audit mode. Then what became of all of them can be explained.
func (cmd *Commands) awaitObservers(ctx context.Context, e *engine.Engine) {
	if err := e.Close(ctx); err != nil {
		cmd.Console.Note(show.OneLine(err.Error()), "")
	}
}

// printOutcome prints an outcome as soon as it stands; observers may still be at
// work then.
func (cmd *Commands) printOutcome(outcome *protocol.Outcome) error {
	shown := outcome.Shown()
	if cmd.Console.JSON {
		return cmd.Console.PrintJSON(&shown)
	}
	report.Outcome(cmd.Console.Out, &shown)
	return nil
}
