package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/fault"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// allFaults is the value of --fault that asks for a table.
const allFaults = "all"

// faultFlag adds --fault, whose every misuse lists the names.
func faultFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "fault", "", "let the hook fail in the way `NAME`, or all, and show what its settings make of it")
	_ = c.RegisterFlagCompletionFunc("fault", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return append(fault.Names(), allFaults), cobra.ShellCompDirectiveNoFileComp
	})
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if strings.HasSuffix(err.Error(), "--fault") {
			return noFault("--fault needs the name of a fault")
		}
		return c.Parent().FlagErrorFunc()(c, err)
	})
}

func noFault(message string) error {
	return usage("no-fault", message, "one of "+strings.Join(fault.Names(), ", ")+", or "+allFaults)
}

// chosenFaults are those that a value of --fault names.
func chosenFaults(name string) ([]fault.Fault, error) {
	if name == allFaults {
		return fault.Faults, nil
	}
	f := fault.Find(name)
	if f == nil {
		return nil, noFault("there is no fault " + name)
	}
	return []fault.Fault{*f}, nil
}

// tryFaults lets a hook misbehave: all that its settings say of it stays, and in
// place of its program stands one of hookd's own that fails.
func (a *app) tryFaults(ctx context.Context, rt *process.Runtime, file string, f tryFlags) error {
	faults, err := chosenFaults(f.fault)
	if err != nil {
		return err
	}
	snapshot, t, err := a.newTrial(ctx, rt, file, f)
	if err != nil {
		return err
	}
	trials := faultTrials(t, faults)
	if err := a.runFaults(ctx, snapshot, trials); err != nil {
		return err
	}
	return a.showFaults(trials)
}

// tryFaultsOfAll lets every hook of the project fail. Whether a hook may run does
// not matter, because its program is not: one that waits to be allowed is shown too.
func (a *app) tryFaultsOfAll(ctx context.Context, f tryFlags) error {
	faults, err := chosenFaults(f.fault)
	if err != nil {
		return err
	}
	if _, err := a.runtime(false); err != nil {
		return err
	}
	snapshot, err := a.look(ctx)
	if err != nil {
		return err
	}
	var trials []*faultTrial
	for _, hook := range snapshot.Set.Hooks {
		if hook.Status == executor.Rejected || hook.Status == executor.Disabled {
			continue // no settings that count
		}
		t, err := a.trialOf(hook, snapshot.Project, f)
		if err != nil {
			return err
		}
		trials = append(trials, faultTrials(t, faults)...)
	}
	if len(trials) == 0 {
		return usage("no-hook", "there is no hook that could fail", "hookd list shows the hooks; hookd new NAME writes one")
	}
	if err := a.runFaults(ctx, snapshot, trials); err != nil {
		return err
	}
	return a.showFaultsOfAll(trials)
}

func faultTrials(t *trial, faults []fault.Fault) []*faultTrial {
	trials := make([]*faultTrial, len(faults))
	for i := range faults {
		trials[i] = &faultTrial{Fault: faults[i], trial: &trial{hook: t.hook, given: t.given}}
	}
	return trials
}

// runFaults runs the trials, a few side by side: more would take the time that a
// hook's limit counts from each other.
func (a *app) runFaults(ctx context.Context, snapshot *loader.Snapshot, trials []*faultTrial) error {
	progress := show.StartProgress(a.err)
	var running errgroup.Group
	running.SetLimit(4)
	for _, t := range trials {
		running.Go(func() error {
			progress.Begin(t.Name)
			defer progress.End(t.Name)
			return a.runFault(ctx, snapshot, t)
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
	return failed("try", err, "")
}

// faultTrial is one fault of a hook and what became of it.
type faultTrial struct {
	fault.Fault
	*trial
	took time.Duration
}

// faultyHook is the hook with a faulty program in place of its own, which is asked
// in the hook's own mode: a resident one that ends without an answer is lost,
// whatever its exit code.
func (a *app) faultyHook(hook *executor.Hook, f *fault.Fault, snapshot *loader.Snapshot) *executor.Hook {
	faulty := *hook
	config := exechook.Config{
		Dir: snapshot.Project, HookFile: hook.Path, Args: f.Arguments(hook.Timeout),
		Env: []string{"PATH=" + os.Getenv("PATH")},
		Key: hook.Name + "\x00" + f.Name, // else one trial would wait until another's processes have ended
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
	faulty.Asker, faulty.Status, faulty.Fault = exechook.New(a.processes, config), executor.Ready, nil
	if hook.Run == schema.Resident {
		hooks := snapshot.Set.SettingsOf(protocol.OriginOf(hook.Layer, hook.Name))
		faulty.Asker = a.pool.Asker(exechook.WorkerConfig{
			Program: config, Layer: hook.Layer, Name: hook.Name, Mode: hook.Run, Grace: hooks.Grace, Stderr: hooks.Limits.Stderr,
		})
	}
	return &faulty
}

// runFault asks the faulty hook about the event.
func (a *app) runFault(ctx context.Context, snapshot *loader.Snapshot, t *faultTrial) error {
	hook := a.faultyHook(t.hook, &t.Fault, snapshot)
	hook.Events, hook.Match = []protocol.EventName{t.given.Event}, schema.Match{}
	own := snapshot.Set.SettingsOf(protocol.OriginOf(hook.Layer, hook.Name))
	own.Drain = hook.Timeout + own.Grace + time.Second // an observer, too, has its whole limit
	hook.Own = &own
	settings := snapshot.Set.Settings
	set, _ := executor.NewSet(executor.Set{Project: snapshot.Project, Settings: settings, Hooks: []*executor.Hook{hook}})
	var late lateRuns
	engine := executor.New(set, executor.Options{Depth: hookenv.ProcessDepth(), Progress: executor.Progress{
		Finished: func(ev *protocol.Event, h *executor.Hook, run protocol.Run) { late.add(ev, h, run) },
	}})
	began := time.Now()
	outcome, err := engine.Fire(ctx, t.given)
	t.took = time.Since(began)
	if closed := engine.Close(ctx); err == nil {
		err = closed
	}
	if len(outcome.Runs) == 0 {
		outcome.Runs = late.runs()
	}
	t.outcome = outcome
	return err
}
