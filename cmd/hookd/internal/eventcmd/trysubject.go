package eventcmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema"
)

// subject is what a person means to try: a file, as it lies there, or a hook by its name,
// as it is in force.
type subject struct{ file, name string }

// subjectOf finds what a word on the command line means: a file, or the name of a hook.
// A hook that is a file of its own is tried as that file; an entry that names a command,
// or that was imported from another agent's settings, is tried as the entry.
func (cmd *Commands) subjectOf(ctx context.Context, hook string) (subject, error) {
	if loader.PackName(hook) != "" {
		return subject{}, cli.Usage("no-hook", hook+" is a file of rules, each of which is a hook", "hookd list shows their names, for hookd try NAME; hookd test "+loader.PackName(hook)+" runs the tests of all")
	}
	if info, err := os.Stat(hook); err == nil && info.Mode().IsRegular() {
		file, err := filepath.Abs(hook)
		if err != nil {
			return subject{}, places.NoDirectory()
		}
		return subject{file: file}, nil
	}
	snapshot, err := cmd.Opener.Look(ctx)
	if err != nil {
		return subject{}, err
	}
	cmd.Opener.NoteNoProject(snapshot.Project)
	for _, h := range snapshot.Hooks {
		switch {
		case h.Name != hook || h.Layer == protocol.Builtin:
		case h.Path != "" && len(h.Command) == 0 && h.Imported == nil:
			return subject{file: h.Path}, nil
		default:
			return subject{name: h.Name}, nil
		}
	}
	return subject{}, cli.Usage("no-hook", "there is no file and no hook "+hook, "hookd list shows the hooks; hookd new "+filepath.Base(hook)+" writes one")
}

// newTrial loads what is tried and makes the event that it is tried on.
func (cmd *Commands) newTrial(ctx context.Context, rt *process.Runtime, of subject, f tryFlags) (*loader.Snapshot, *trial, error) {
	snapshot, hook, findings, err := cmd.load(ctx, rt, of)
	if err != nil {
		return nil, nil, err
	}
	if !cmd.Console.JSON {
		for _, finding := range findings {
			report.Findings(cmd.Console.Err, []schema.Finding{finding})
		}
	}
	if hook.Asker == nil {
		return nil, nil, cannotRun(hook, findings, cmd.Console.JSON)
	}
	t, err := cmd.trialOf(hook, snapshot.Project, f)
	if err == nil {
		t.findings = append([]schema.Finding{}, findings...)
	}
	return snapshot, t, err
}

// load loads the hook that is tried, with what there is to say about it.
func (cmd *Commands) load(ctx context.Context, rt *process.Runtime, of subject) (*loader.Snapshot, *executor.Hook, []schema.Finding, error) {
	if of.file == "" {
		snapshot, err := cmd.Opener.Look(ctx)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, hook := range snapshot.Set.Hooks {
			if hook.Name == of.name && hook.Layer != protocol.Builtin {
				return snapshot, hook, about(hook.Name, snapshot.Findings), nil
			}
		}
		return nil, nil, nil, cli.Usage("no-hook", "the hook "+of.name+" is gone", "hookd list shows the hooks")
	}
	snapshot, err := loader.Single(ctx, loader.Options{Project: cmd.Project.Folder, Runtime: rt, Program: places.Program()}, of.file)
	if err != nil {
		return nil, nil, nil, cli.Usage("no-hook", err.Error(), "")
	}
	hook := snapshot.Set.Hooks[0]
	findings := about("", snapshot.Findings)
	if other := loader.SpeaksOtherwise(of.file, hook.Name); other != nil && hook.Foreign() == nil {
		findings = append(findings, *other)
		if entry := entryOf(ctx, cmd.Opener, of.file); entry != "" {
			findings[len(findings)-1].Remedy = "the entry " + entry + " says how it is asked: hookd try " + entry
		}
	}
	return snapshot, hook, findings, nil
}

// about are the errors among the findings, those of one hook if it is named.
func about(hook string, findings []schema.Finding) (kept []schema.Finding) {
	for _, f := range findings {
		if f.Severity == schema.SeverityError && (hook == "" || f.Hook != nil && *f.Hook == hook) {
			kept = append(kept, f)
		}
	}
	return kept
}

// entryOf is the name of the entry of another agent's dialect whose command names a file,
// "" if there is none.
func entryOf(ctx context.Context, opener *engine.Opener, file string) string {
	snapshot, err := opener.Look(ctx)
	if err != nil {
		return ""
	}
	for _, h := range snapshot.Hooks {
		line, is := foreignhooks.ShellText(h.Command)
		if !is {
			line = strings.Join(h.Command, " ")
		}
		if h.Foreign() != nil && len(h.Command) > 0 && strings.Contains(line, filepath.Base(file)) {
			return h.Name
		}
	}
	return ""
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
	if hook.Foreign() != nil {
		tools = foreignTools(hook, name, project)
	}
	data, err := cmd.eventData(name, f.data, f.hasData, tools)
	if err != nil {
		return nil, err
	}
	if !f.hasData && hook.Reply != nil {
		data = sampleForRule(data, &hook.Match)
	}
	given, err := cmd.event(name, data, "", project)
	if err != nil {
		return nil, err
	}
	return &trial{hook: hook, given: given}, nil
}

// foreignTools is the tool of a sample that a hook of another agent would be asked about:
// its matcher, and its events, are in that agent's own names.
func foreignTools(hook *executor.Hook, event protocol.EventName, project string) []string {
	selector, err := hook.Foreign().Select(hook.Named, hook.Matcher)
	if err != nil {
		return nil
	}
	for _, tool := range sampleOrder {
		ev := protocol.Event{Event: event, Project: project, Data: protocol.Complete(protocol.Lookup(event), sampleData(event, []string{tool}))}
		if selector.Ask(&ev, project) != nil {
			return []string{tool}
		}
	}
	return nil
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

// cannotRun returns the fault of a hook that cannot be tried, with the remedy of the last
// finding about it. With json nobody has read that finding above.
func cannotRun(hook *executor.Hook, findings []schema.Finding, json bool) *cli.Fault {
	why, remedy := hook.Why, ""
	if hook.Fault != nil {
		why, remedy = hook.Fault.Detail, hook.Fault.Remedy
	}
	switch {
	case len(findings) > 0 && !json:
		remedy = "see what is said about it above"
	case len(findings) > 0:
		remedy = findings[len(findings)-1].Remedy
	case remedy == "" && (hook.Status == executor.Untrusted || hook.Status == executor.Changed):
		remedy = "look at it and allow it with: hookd trust"
	}
	return cli.Usage("cannot-run", hook.Name+" cannot run: "+strings.TrimPrefix(why, hook.Name+": "), remedy)
}
