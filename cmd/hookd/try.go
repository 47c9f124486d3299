package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
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
}

func newTry(a *app) *cobra.Command {
	var f tryFlags
	c := &cobra.Command{
		Use:   "try HOOK",
		Short: "run one hook and show event, reply, stderr, time and the resulting change",
		Long: `Run one hook, by its name or as a file, on a sample event or on --data, and show
what it was given, what it answered, and what would change. Trying a file is
consent to run that file. --watch runs it again each time it is saved.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.hasData = c.Flags().Changed("data")
			return a.try(c.Context(), args[0], f)
		},
	}
	c.Flags().StringVar(&f.event, "event", "", "event `E` (default: the first one the hook is for)")
	c.Flags().StringVar(&f.data, "data", "", "the event's data: `JSON`, @FILE, or - for stdin")
	c.Flags().BoolVar(&f.watch, "watch", false, "run it again on each save")
	_ = c.RegisterFlagCompletionFunc("event", completeEvents)
	a.jsonFlag(c)
	return c
}

func (a *app) try(ctx context.Context, hook string, f tryFlags) error {
	rt, err := a.runtime(f.watch)
	if err != nil {
		return err
	}
	file, err := a.hookFile(ctx, hook)
	if err != nil {
		return err
	}
	if !f.watch {
		return a.tryOnce(ctx, rt, file, f)
	}
	for {
		saved := stampOf(file)
		err := a.tryOnce(ctx, rt, file, f)
		var code exitCode
		if err != nil && !errors.As(err, &code) {
			if ctx.Err() != nil {
				return err
			}
			a.report(err)
		}
		a.err.Print("%s\n", a.err.In(show.Quiet, "— waiting for the next save of "+show.Line(file)+"; Ctrl-C ends it"))
		if err := awaitSave(ctx, file, saved); err != nil {
			return err
		}
	}
}

// stamp is what tells one save of a file from the next.
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

// awaitSave waits until the file differs and is at rest. It looks by the clock:
// one file, for a person who waits for it.
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
func (a *app) hookFile(ctx context.Context, hook string) (string, error) {
	if info, err := os.Stat(hook); err == nil && info.Mode().IsRegular() {
		file, err := filepath.Abs(hook)
		if err != nil {
			return "", noDirectory()
		}
		return file, nil
	}
	listing, err := a.listing(ctx)
	if err != nil {
		return "", err
	}
	for _, h := range listing.Hooks {
		if h.Name == hook && h.Path != "" {
			return h.Path, nil
		}
	}
	return "", usage("no-hook", "there is no file and no hook "+hook, "hookd list shows the hooks; hookd new "+filepath.Base(hook)+" writes one")
}

// trial is one run of a hook on one event.
type trial struct {
	hook    *executor.Hook
	given   protocol.Event
	outcome protocol.Outcome
	stdin   []byte
	stdout  []byte
}

func (a *app) tryOnce(ctx context.Context, rt *process.Runtime, file string, f tryFlags) error {
	snapshot, err := loader.Single(ctx, loader.Options{Project: a.project, Runtime: rt}, file)
	if err != nil {
		return usage("no-hook", err.Error(), "")
	}
	t, err := a.newTrial(snapshot, file, f)
	if err != nil {
		return err
	}
	if err := a.runTrial(ctx, snapshot, t); err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(t.json())
	} else {
		t.show(a.out)
	}
	if err == nil && t.outcome.Refused() {
		return exitCode(exitRefused)
	}
	return err
}

// newTrial makes the event that a hook is tried on.
func (a *app) newTrial(snapshot *loader.Snapshot, file string, f tryFlags) (*trial, error) {
	for _, finding := range snapshot.Findings {
		if finding.Severity == schema.SeverityError && !a.json {
			showFinding(a.err, finding)
		}
	}
	hook := snapshot.Set.Hooks[0]
	if hook.Asker == nil {
		why := hook.Why
		if hook.Fault != nil {
			why = hook.Fault.Detail
		}
		remedy := ""
		if hook.Fault != nil {
			remedy = hook.Fault.Remedy
		}
		return nil, usage("cannot-run", filepath.Base(file)+" cannot run: "+why, remedy)
	}
	name := protocol.ToolCallStart
	if len(hook.Events) > 0 {
		name = hook.Events[0]
	}
	if f.event != "" {
		var err error
		if name, err = eventName(f.event); err != nil {
			return nil, err
		}
	}
	data, err := a.eventData(name, f.data, f.hasData, hook.Match.Tool)
	if err != nil {
		return nil, err
	}
	given, err := a.event(name, data, "", snapshot.Project)
	if err != nil {
		return nil, err
	}
	return &trial{hook: hook, given: given}, nil
}

// runTrial asks the one hook, whatever its matcher says, and waits for an
// observer too.
func (a *app) runTrial(ctx context.Context, snapshot *loader.Snapshot, t *trial) error {
	hook := *t.hook
	hook.Events, hook.Match = []protocol.EventName{t.given.Event}, schema.Match{}
	hook.Asker = &listener{asker: t.hook.Asker, trial: t}
	set, _ := executor.NewSet(executor.Set{Project: snapshot.Project, Settings: snapshot.Set.Settings, Hooks: []*executor.Hook{&hook}})
	progress := show.StartProgress(a.err)
	defer progress.Stop()
	var late lateRuns
	engine := executor.New(set, executor.Options{Depth: executor.ProcessDepth(), Progress: a.watchHooks(progress, &late)})
	outcome, err := engine.Fire(ctx, t.given)
	closed := engine.Close(ctx)
	if err != nil {
		return context.Cause(ctx)
	}
	if closed != nil {
		return failed("try", closed, "")
	}
	if len(outcome.Runs) == 0 {
		outcome.Runs = late.runs()
	}
	t.outcome = outcome
	return nil
}

// listener hands over what passes between hookd and a hook.
type listener struct {
	asker executor.Asker
	trial *trial
}

func (l *listener) Ask(ctx context.Context, q *executor.Question) protocol.Answer {
	return l.asker.Ask(executor.WithTranscript(ctx, func(stdin, stdout []byte) {
		l.trial.stdin, l.trial.stdout = bytes.Clone(stdin), bytes.Clone(stdout)
	}), q)
}

// run is the hook's part in the outcome.
func (t *trial) run() *protocol.Run {
	if len(t.outcome.Runs) == 0 {
		return &protocol.Run{}
	}
	return &t.outcome.Runs[0]
}

type trialJSON struct {
	protocol.Outcome
	Stdin  string `json:"stdin"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Diff   string `json:"diff"`
}

func (t *trial) json() trialJSON {
	return trialJSON{t.outcome, string(t.stdin), string(t.stdout), t.run().Stderr, show.UnifiedDiff(t.given.Data, t.outcome.Event.Data)}
}

// show prints the trial from top to bottom: given, answered, decided.
func (t *trial) show(p *show.Printer) {
	run := t.run()
	p.Print("%s %s\n", p.In(show.Strong, "event"), show.Line(string(t.given.Event)))
	p.Indented("  ", show.Quiet, show.Visible(show.Pretty(t.given.Data)))
	limit := schema.FormatDuration(t.hook.Timeout)
	p.Print("%s %s\n", p.In(show.Strong, "reply"), p.In(show.Quiet, fmt.Sprintf("after %s of %s", milliseconds(run.TookMs), limit)))
	switch text := strings.TrimRight(string(t.stdout), "\n"); {
	case text == "":
		p.Print("  %s\n", p.In(show.Quiet, "nothing on stdout"+exitText(run)))
	case jsontext.Value(text).IsValid():
		p.Indented("  ", show.Plain, show.Visible(show.Pretty(jsontext.Value(text))))
	default:
		p.Indented("  ", show.Plain, show.Visible(show.Shorten(text, 4000)))
	}
	if run.Stderr != "" {
		p.Print("%s\n", p.In(show.Strong, "stderr"))
		p.Indented("  ", show.Quiet, show.Visible(run.Stderr))
	}
	p.Print("%s %s", p.In(show.Strong, "counts as"), answerLine(p, run))
	p.Print("\n")
	run.Stderr = "" // shown above
	showOutcome(p, &t.outcome)
}

func exitText(run *protocol.Run) string {
	switch {
	case run.Signal != "":
		return ", ended by " + string(run.Signal)
	case run.Exit != nil:
		return fmt.Sprintf(", exit code %d", *run.Exit)
	}
	return ""
}

func answerLine(p *show.Printer, run *protocol.Run) string {
	text, tone := runAnswer(run)
	return p.In(tone, text)
}
