package eventcmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
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
consent to run that file. --watch runs it again each time it is saved.

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
	file, err := cmd.hookFile(ctx, hook)
	if err != nil {
		return err
	}
	if f.fault != "" {
		return cmd.tryFaults(ctx, rt, file, f)
	}
	if !f.watch {
		return cmd.tryOnce(ctx, rt, file, f)
	}
	for {
		saved := stampOf(file)
		err := cmd.tryOnce(ctx, rt, file, f)
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

// hookFile finds the file that a person means: a path, or the name of a hook.
func (cmd *Commands) hookFile(ctx context.Context, hook string) (string, error) {
	if info, err := os.Stat(hook); err == nil && info.Mode().IsRegular() {
		file, err := filepath.Abs(hook)
		if err != nil {
			return "", places.NoDirectory()
		}
		return file, nil
	}
	listing, err := cmd.Opener.Listing(ctx)
	if err != nil {
		return "", err
	}
	for _, h := range listing.Hooks {
		if h.Name == hook && h.Path != "" {
			return h.Path, nil
		}
	}
	return "", cli.Usage("no-hook", "there is no file and no hook "+hook, "hookd list shows the hooks; hookd new "+filepath.Base(hook)+" writes one")
}

// trial is one run of a hook on one event.
type trial struct {
	hook    *executor.Hook
	given   protocol.Event
	outcome protocol.Outcome
	stdin   []byte
	stdout  []byte
	fits    bool // the hook is for this event
}

func (cmd *Commands) tryOnce(ctx context.Context, rt *process.Runtime, file string, f tryFlags) error {
	snapshot, t, err := cmd.newTrial(ctx, rt, file, f)
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

// newTrial loads one file as a hook and makes the event that it is tried on.
func (cmd *Commands) newTrial(ctx context.Context, rt *process.Runtime, file string, f tryFlags) (*loader.Snapshot, *trial, error) {
	snapshot, err := loader.Single(ctx, loader.Options{Project: cmd.Project.Folder, Runtime: rt, Program: places.Program()}, file)
	if err != nil {
		return nil, nil, cli.Usage("no-hook", err.Error(), "")
	}
	shown := false
	for _, finding := range snapshot.Findings {
		if finding.Severity == schema.SeverityError && !cmd.Console.JSON {
			report.Findings(cmd.Console.Err, []schema.Finding{finding})
			shown = true
		}
	}
	hook := snapshot.Set.Hooks[0]
	if other := loader.SpeaksOtherwise(file, hook.Name); other != nil && hook.Foreign() == nil && !cmd.Console.JSON {
		report.Findings(cmd.Console.Err, []schema.Finding{*other})
		shown = true
	}
	if hook.Asker == nil {
		return nil, nil, cannotRun(hook, shown)
	}
	t, err := cmd.trialOf(hook, snapshot.Project, f)
	return snapshot, t, err
}

// trialOf makes the event that a hook is tried on: the one asked for, or the first
// that the hook is for.
func (cmd *Commands) trialOf(hook *executor.Hook, project string, f tryFlags) (*trial, error) {
	name := protocol.ToolCallStart
	if len(hook.Events) > 0 {
		name = hook.Events[0]
	}
	if f.event != "" {
		var err error
		if name, err = eventOf(hook, f.event); err != nil {
			return nil, err
		}
	}
	tools := hook.Match.Tool
	if hook.Matcher != "" {
		tools = strings.Split(hook.Matcher, "|")
	}
	data, err := cmd.eventData(name, f.data, f.hasData, tools)
	if err != nil {
		return nil, err
	}
	given, err := cmd.event(name, data, "", project)
	if err != nil {
		return nil, err
	}
	return &trial{hook: hook, given: given}, nil
}

// eventOf is the event that a name on the command line means: ours, an alias, or one of
// the agent that the hook was written for.
func eventOf(hook *executor.Hook, name string) (protocol.EventName, error) {
	if f := hook.Foreign(); f != nil {
		if event, err := f.Resolve(name); err == nil {
			return event, nil
		}
	}
	return cli.EventName(name)
}

// cannotRun returns the fault of a hook that cannot be tried. With shown, the remedy was
// printed before.
func cannotRun(hook *executor.Hook, shown bool) *cli.Fault {
	why, remedy := hook.Why, ""
	if hook.Fault != nil {
		why, remedy = hook.Fault.Detail, hook.Fault.Remedy
	}
	if shown {
		remedy = "see what is said about it above"
	}
	return cli.Usage("cannot-run", hook.Name+" cannot run: "+strings.TrimPrefix(why, hook.Name+": "), remedy)
}

// runTrial asks the one hook, whatever its matcher says, and waits for an
// observer too.
func (cmd *Commands) runTrial(ctx context.Context, snapshot *loader.Snapshot, t *trial) error {
	hook := *t.hook
	hook.Events, hook.Match, hook.Matcher = []protocol.EventName{t.given.Event}, schema.Match{}, ""
	hook.Sensitive = false // the person who tries it gave the event, and is to see all that it does
	hook.Asker = &listener{asker: t.hook.Asker, trial: t}
	set, _ := executor.NewSet(executor.Set{Project: snapshot.Project, Settings: snapshot.Set.Settings, Hooks: []*executor.Hook{&hook}})
	observer := engine.Observe(cmd.Console, nil)
	defer observer.Progress.Stop()
	hooks := executor.New(set, executor.Options{Depth: hookenv.ProcessDepth(), Progress: observer.Hooks()})
	outcome, err := hooks.Fire(ctx, t.given)
	closed := hooks.Close(ctx)
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
	t.fits = fits(ctx, t)
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

// listener hands over what passes between hookd and a hook.
type listener struct {
	asker executor.Asker
	trial *trial
}

func (l *listener) Info() executor.AskerInfo { return l.asker.Info() }

func (l *listener) Ask(ctx context.Context, q *executor.Question) protocol.Answer {
	heard := *q
	heard.Transcript = func(stdin [][]byte, stdout []byte) {
		l.trial.stdin, l.trial.stdout = bytes.Join(stdin, nil), bytes.Clone(stdout)
	}
	return l.asker.Ask(ctx, &heard)
}
