package eventcmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// tryFlags are the flags of `hookd try`.
type tryFlags struct {
	event, data string
	hasData     bool
	watch       bool
	fault       string
}

// Try returns hookd try.
func (cmd *Commands) Try() *cobra.Command {
	var f tryFlags
	c := &cobra.Command{
		Use:   "try HOOK",
		Short: "Run one hook and show event, reply, stderr, time and the resulting change",
		Long: `Run one hook, by its name or as a file, on a sample event or on --data, and show
what it was given, what it answered, and what would change. Trying a file is
consent to run that file. --watch runs it again each time it is saved. An entry of
settings, an imported one too, is tried by the name that hookd list shows; one of a
project must have been allowed. A rule, which starts no program, is tried with its match.

--fault runs, in place of the hook's program, one of hookd's own that fails, and
shows what the hook's class, rule and limit make of that: the failure's name, the
rule applied and the outcome. --fault all shows every fault in a table. Without
HOOK, --fault lets every hook of the project fail, each at its own event; none of
their programs is run, and each may take its whole limit.`,
		Args: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("fault") && len(args) == 0 {
				return nil
			}
			return cobra.ExactArgs(1)(c, args)
		},
		ValidArgsFunction: cmd.Project.CompleteHooks,
		RunE: func(c *cobra.Command, args []string) error {
			f.hasData = c.Flags().Changed("data")
			if c.Flags().Changed("fault") {
				if _, err := chosenFaults(f.fault); err != nil {
					return err
				}
			}
			if len(args) > 0 {
				return cmd.try(c.Context(), args[0], f)
			}
			return cmd.tryFaultsOfAll(c.Context(), f)
		},
	}
	cli.NameFlag(c.Flags(), &f.event, "event", "", "event `E` (default: the first one the hook is for)")
	c.Flags().StringVar(&f.data, "data", "", "the event's data: `JSON`, @FILE, or - for stdin")
	c.Flags().BoolVar(&f.watch, "watch", false, "run it again on each save")
	_ = c.RegisterFlagCompletionFunc("event", places.CompleteEvents)
	faultFlag(c, &f.fault)
	cli.Exclusive(c, "fault", "watch")
	cmd.Console.JSONFlag(c)
	return c
}

func (cmd *Commands) try(ctx context.Context, hook string, f tryFlags) error {
	rt, err := cmd.Processes.Start(f.watch)
	if err != nil {
		return err
	}
	of, err := cmd.subjectOf(ctx, hook)
	if err != nil {
		return err
	}
	if f.fault != "" {
		return cmd.tryFaults(ctx, rt, of, f)
	}
	if !f.watch {
		return cmd.tryOnce(ctx, rt, of, f)
	}
	file := of.file
	if file == "" {
		return cli.Usage("no-file", of.name+" is an entry of settings, and no file is saved for it", "hookd try "+of.name+" runs it once; hookd try FILE --watch is for a hook that is a file")
	}
	for {
		saved := stampOf(file)
		err := cmd.tryOnce(ctx, rt, of, f)
		var code cli.ExitCode
		if err != nil && !errors.As(err, &code) {
			if ctx.Err() != nil {
				return err
			}
			cmd.Console.Report(err)
		}
		cmd.Console.Err.Print("%s\n", cmd.Console.Err.In(show.Quiet, "— waiting for the next save of "+show.Line(file)+"; Ctrl-C ends it"))
		if err := awaitSave(ctx, file, saved); err != nil {
			return err
		}
	}
}

// stamp distinguishes one save of a file from the next.
type stamp struct {
	modified time.Time
	size     int64
	mode     os.FileMode
}

func stampOf(file string) stamp {
	info, err := os.Stat(file)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size(), info.Mode()}
}

// awaitSave waits until the file has changed and does not change any more. It polls, since
// there is one file and a person who waits for it.
func awaitSave(ctx context.Context, file string, saved stamp) error {
	last := saved
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
		now := stampOf(file)
		if now != saved && now == last && now != (stamp{}) {
			return nil
		}
		last = now
	}
}

// trial is one run of a hook on one event.
type trial struct {
	hook    *executor.Hook
	given   protocol.Event
	outcome protocol.Outcome
	stdin   []byte
	stdout  []byte
	fits    bool                // the hook is for this event
	kept    protocol.RawMessage // what the hook kept in the session before, nil if nothing
	keeping bool                // the hook's answer is that it keeps this, and nothing else

	findings []schema.Finding // about the hook
}

func (cmd *Commands) tryOnce(ctx context.Context, rt *process.Runtime, of subject, f tryFlags) error {
	snapshot, t, err := cmd.newTrial(ctx, rt, of, f)
	if err != nil {
		return err
	}
	if err := cmd.runTrial(ctx, snapshot, t); err != nil {
		return err
	}
	if cmd.Console.JSON {
		err = cmd.Console.PrintJSON(t.json())
	} else {
		t.show(cmd.Console.Out)
	}
	if err == nil && t.outcome.Refused() {
		return cli.ExitCode(cli.ExitRefused)
	}
	return err
}

// runTrial asks the one hook, a program whatever its matcher says, and waits for an
// observer too.
func (cmd *Commands) runTrial(ctx context.Context, snapshot *loader.Snapshot, t *trial) error {
	hook := *t.hook
	hook.Events, hook.Matcher = []protocol.EventName{t.given.Event}, ""
	if hook.Reply == nil { // of a rule its match is all that there is to try
		hook.Match = schema.Match{}
	}
	if err := fireAlone(ctx, engine.Observe(cmd.Console, nil), snapshot, t, &hook); err != nil {
		return err
	}
	t.fits = fits(ctx, t)
	return nil
}

// fireAlone fires the event of a trial with one hook, or the rules of one pack, and nothing
// else: without records, and without what hooks remember. It waits for an observer too.
func fireAlone(ctx context.Context, observer *engine.Observer, snapshot *loader.Snapshot, t *trial, hooks ...*executor.Hook) error {
	for _, hook := range hooks {
		hook.Sensitive = false // the person who tries it gave the event, and is to see all that it does
		hook.Asker = &listener{asker: hook.Asker, trial: t}
	}
	set, _ := executor.NewSet(executor.Set{Project: snapshot.Project, Settings: snapshot.Set.Settings, Hooks: hooks})
	defer observer.Progress.Stop()
	asked := executor.New(set, executor.Options{Depth: hookenv.ProcessDepth(), Progress: observer.Hooks()})
	if t.kept != nil { // so that it reads it as one that was asked before in the session
		t.given.Session.ID = testSession
		t.keeping = true
		_, err := asked.Fire(ctx, t.given)
		t.keeping = false
		if err != nil {
			return errors.Join(context.Cause(ctx), asked.Close(ctx))
		}
	}
	outcome, err := asked.Fire(ctx, t.given)
	closed := asked.Close(ctx)
	if err != nil {
		return context.Cause(ctx)
	}
	if closed != nil {
		return cli.Failed("try", closed, "")
	}
	if len(outcome.Runs) == 0 {
		outcome.Runs = observer.LateRuns.Runs()
	}
	t.outcome = outcome
	return nil
}

// fits reports whether the hook would be asked about the event outside of a
// trial. Nothing is run to find out.
func fits(ctx context.Context, t *trial) bool {
	hook := *t.hook
	hook.Can, hook.Mode, hook.Asker = protocol.CanBlock, protocol.Enforce, silent{}
	set, _ := executor.NewSet(executor.Set{Hooks: []*executor.Hook{&hook}})
	engine := executor.New(set, executor.Options{})
	outcome, err := engine.Fire(ctx, t.given)
	return errors.Join(err, engine.Close(ctx)) == nil && len(outcome.Runs) > 0
}

// silent is an asker that decides nothing.
type silent struct{}

func (silent) Info() executor.AskerInfo { return executor.AskerInfo{} }

func (silent) Ask(context.Context, *executor.Question) protocol.Answer { return protocol.Answer{} }

// testSession is the session of a trial in which the hook kept something before. Nothing
// of it is stored.
const testSession = "test"

// listener hands over what passes between hookd and a hook.
type listener struct {
	asker executor.Asker
	trial *trial
}

func (l *listener) Info() executor.AskerInfo { return l.asker.Info() }

func (l *listener) Ask(ctx context.Context, q *executor.Question) protocol.Answer {
	if l.trial.keeping {
		return protocol.Answer{ReadResult: protocol.ReadResult{Reply: &protocol.Reply{Action: protocol.Observe, State: l.trial.kept}}}
	}
	heard := *q
	heard.Transcript = func(stdin [][]byte, stdout []byte) {
		l.trial.stdin, l.trial.stdout = bytes.Join(stdin, nil), bytes.Clone(stdout)
	}
	return l.asker.Ask(ctx, &heard)
}
