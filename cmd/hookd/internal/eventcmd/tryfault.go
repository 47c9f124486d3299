package eventcmd

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/faultyhook"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema"
)

// allFaults is the value of --fault that asks for a table.
const allFaults = "all"

// faultFlag adds --fault. An error about its value lists the names.
func faultFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "fault", "", "let the hook fail in the way `NAME`, or all, and show what its settings make of it")
	_ = c.RegisterFlagCompletionFunc("fault", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return append(faultyhook.Names(), allFaults), cobra.ShellCompDirectiveNoFileComp
	})
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if strings.HasSuffix(err.Error(), "--fault") {
			return noFault("--fault needs the name of a fault")
		}
		return c.Parent().FlagErrorFunc()(c, err)
	})
}

func noFault(message string) error {
	return cli.Usage("no-fault", message, "one of "+strings.Join(faultyhook.Names(), ", ")+", or "+allFaults)
}

// chosenFaults returns the faults that a value of --fault names.
func chosenFaults(name string) ([]faultyhook.Fault, error) {
	if name == allFaults {
		return faultyhook.Faults, nil
	}
	f := faultyhook.Find(name)
	if f == nil {
		return nil, noFault("there is no fault " + name)
	}
	return []faultyhook.Fault{*f}, nil
}

// tryFaults lets a hook misbehave: its settings stay as they are, and a program that fails
// takes the place of its own.
func (cmd *Commands) tryFaults(ctx context.Context, rt *process.Runtime, of subject, f tryFlags) error {
	faults, err := chosenFaults(f.fault)
	if err != nil {
		return err
	}
	snapshot, t, err := cmd.newTrial(ctx, rt, of, f)
	if err != nil {
		return err
	}
	if t.hook.Reply != nil {
		return cli.Usage("no-program", t.hook.Name+" is a rule: it starts no program that could fail", "hookd try "+t.hook.Name+" shows what it answers")
	}
	trials := faultTrials(t, faults)
	if err := cmd.runFaults(ctx, snapshot, trials); err != nil {
		return err
	}
	return cmd.showFaults(trials)
}

// tryFaultsOfAll lets every hook of the project fail. Whether a hook may run does
// not matter, because its program is not: one that waits to be allowed is shown too.
func (cmd *Commands) tryFaultsOfAll(ctx context.Context, f tryFlags) error {
	faults, err := chosenFaults(f.fault)
	if err != nil {
		return err
	}
	if _, err := cmd.Processes.Start(false); err != nil {
		return err
	}
	snapshot, err := cmd.Opener.Look(ctx)
	if err != nil {
		return err
	}
	var trials []*faultTrial
	for _, hook := range snapshot.Set.Hooks {
		if hook.Status == executor.Rejected || hook.Status == executor.Disabled {
			continue // no settings that count
		}
		if hook.Reply != nil {
			continue // it starts no program that could fail
		}
		t, err := cmd.trialOf(hook, snapshot.Project, f)
		if err != nil {
			return err
		}
		trials = append(trials, faultTrials(t, faults)...)
	}
	if len(trials) == 0 {
		return cli.Usage("no-hook", "there is no hook that could fail", "hookd list shows the hooks; hookd new NAME writes one")
	}
	if err := cmd.runFaults(ctx, snapshot, trials); err != nil {
		return err
	}
	return cmd.showFaultsOfAll(trials)
}

func faultTrials(t *trial, faults []faultyhook.Fault) []*faultTrial {
	trials := make([]*faultTrial, len(faults))
	for i := range faults {
		trials[i] = &faultTrial{Fault: faults[i], trial: &trial{hook: t.hook, given: t.given}}
	}
	return trials
}

// runFaults runs the trials, a few at a time: more would take processor time from each
// other that the limit of a hook counts.
func (cmd *Commands) runFaults(ctx context.Context, snapshot *loader.Snapshot, trials []*faultTrial) error {
	progress := show.StartProgress(cmd.Console.Err)
	var running errgroup.Group
	running.SetLimit(4)
	for _, t := range trials {
		running.Go(func() error {
			progress.Begin(t.Name)
			defer progress.End(t.Name)
			return cmd.runFault(ctx, snapshot, t)
		})
	}
	err := running.Wait()
	progress.Stop()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return cli.Failed("try", err, "")
}

// faultTrial is one fault of a hook and what became of it.
type faultTrial struct {
	faultyhook.Fault
	*trial
	took time.Duration
}

// faultyHook returns the hook with a faulty program in place of its own. It is asked
// in the hook's own mode: a resident one that ends without an answer is lost,
// whatever its exit code.
func (cmd *Commands) faultyHook(hook *executor.Hook, f *faultyhook.Fault, snapshot *loader.Snapshot) *executor.Hook {
	faulty := *hook
	config := exechook.Config{
		Dir: snapshot.Project, HookFile: hook.Path, Args: f.Arguments(hook.Timeout, cmp.Or(hook.Dialect, foreignhooks.Own)),
		Env: []string{"PATH=" + os.Getenv("PATH")},
		Key: hook.Name + "\x00" + f.Name, // else one trial would wait until another's processes have ended
	}
	if of := hook.Foreign(); of != nil {
		config.Selector, _ = of.Select(hook.Named, "")
	}
	if config.Dir == "" {
		config.Dir = filepath.Dir(hook.Path)
	}
	config.Path, _ = os.Executable()
	if f.Missing {
		config.Path = filepath.Join(filepath.Dir(hook.Path), "there-is-no-such-program")
	}
	const hookdStarts = 10 * time.Second // at the most
	if !f.Waits {
		faulty.Timeout += hookdStarts
	}
	faulty.Asker, faulty.Status, faulty.Fault = exechook.New(cmd.Processes.Runtime(), config), executor.Ready, nil
	if hook.Run == schema.Resident {
		own := snapshot.Set.SettingsOf(protocol.OriginOf(hook.Layer, hook.Name))
		faulty.Asker = cmd.Processes.Pool().Asker(exechook.WorkerConfig{
			Program: config, Layer: hook.Layer, Name: hook.Name, Mode: hook.Run, Grace: own.Grace, Stderr: own.Limits.Stderr,
		})
	}
	return &faulty
}

// runFault asks the faulty hook about the event.
func (cmd *Commands) runFault(ctx context.Context, snapshot *loader.Snapshot, t *faultTrial) error {
	hook := cmd.faultyHook(t.hook, &t.Fault, snapshot)
	hook.Events, hook.Match, hook.Matcher = []protocol.EventName{t.given.Event}, schema.Match{}, ""
	own := snapshot.Set.SettingsOf(protocol.OriginOf(hook.Layer, hook.Name))
	own.Drain = hook.Timeout + own.Grace + time.Second // an observer, too, has its whole limit
	hook.Own = &own
	settings := snapshot.Set.Settings
	set, _ := executor.NewSet(executor.Set{Project: snapshot.Project, Settings: settings, Hooks: []*executor.Hook{hook}})
	var late engine.LateRuns
	hooks := executor.New(set, executor.Options{Depth: hookenv.ProcessDepth(), Progress: executor.Progress{
		Finished: func(ev *protocol.Event, h *executor.Hook, run protocol.Run) { late.Add(ev, h, run) },
	}})
	began := time.Now()
	outcome, err := hooks.Fire(ctx, t.given)
	t.took = time.Since(began)
	if closed := hooks.Close(ctx); err == nil {
		err = closed
	}
	if len(outcome.Runs) == 0 {
		outcome.Runs = late.Runs()
	}
	t.outcome = outcome
	return err
}
