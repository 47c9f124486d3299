package loader

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// askPrograms asks every program that may run and that nothing else described.
func (p *load) askPrograms(ctx context.Context) {
	questions := map[*answers][]question{}
	var asked []*found
	for _, f := range p.hooks {
		if f.run == "" || f.Problem != nil || f.Bundle == nil || f.faulty() || schema.NamesEvents(f.described...) || !f.scope.on() {
			continue
		}
		asked = append(asked, f)
		answers := p.answersOf(f.layer)
		if _, known := answers.known(f.Bundle.Hash, p.Now); known || p.opts.Runtime == nil {
			continue
		}
		s := p.startOf(f)
		questions[answers] = append(questions[answers], question{f.Bundle.Hash, process.Command{
			Path: s.path, Argv: append(s.argv, askArgument), Dir: p.dirOf(f), Env: s.environ(p.env(f, hookenv.Describe)), Grace: f.scope.own.Hooks.Grace,
		}})
	}
	for answers, questions := range questions {
		answers.ask(ctx, p.opts.Runtime, questions)
	}
	for _, f := range asked {
		got, known := p.answersOf(f.layer).known(f.Bundle.Hash, p.Now)
		if !known {
			continue
		}
		told := got.about(f.path, f.name)
		p.Add(told.findings...)
		if told.why != "" {
			p.Add(report.New(report.NoAnswer, f.path, 0, f.name, "it was asked for its events: "+told.why, "add a line `hook: events=tool-call-start` to its header"))
			continue
		}
		f.described, f.told = append(f.described, told.described), told
	}
}

// argv is the command line of a hook, without what is appended for one purpose.
func (p *load) argv(f *found) []string {
	if f.IsCommand() {
		return slices.Clone(f.Argv)
	}
	return []string{f.run}
}

// settle resolves a hook for good and lets everything that keeps it from running
// have its say: faults of its description, of its file, and what the person
// switched off.
func (p *load) settle(f *found) {
	switch f.status {
	case executor.Changed, executor.Gone: // it stands as it was allowed
	case executor.Untrusted: // and as settings describe it that nobody allowed either
		if h := &f.resolution.Hook; h.Timeout == 0 {
			h.Timeout = f.scope.own.Hooks.Timeout
		}
	default:
		defaults := schema.DefaultsFor(f.scope.own, f.layer, f.name, f.path)
		defaults.Required = p.isRequired(f)
		events := f.resolution.Hook.Events
		resolution, findings := schema.Resolve(defaults, f.described...)
		f.resolution = resolution
		if f.fault != nil && len(f.resolution.Hook.Events) == 0 {
			f.resolution.Hook.Events = events
		}
		if f.status == "" || f.status == executor.Ready {
			p.Add(findings...)
		}
		p.rejectOrBreak(f)
	}
	if p.isRequired(f) {
		f.resolution.Hook.Required = true
	}
	p.switchOff(f)
	p.tellUnwatched(f)
	p.tellNotPassed(f)
	if h := &f.resolution.Hook; h.Required && f.fault == nil && f.run == "" {
		if len(h.Events) == 0 {
			h.Events = everywhere()
		}
		f.fault = &protocol.Failure{Kind: protocol.FailSettings, Detail: f.name + " is required: " + f.why, Remedy: "make it run again, or take it off the required ones"}
		if h.OnFailure == protocol.RuleContinue {
			h.OnFailure = protocol.RuleBlock
		}
	}
	if f.status == "" {
		f.status = executor.Ready
	}
}

// rejectOrBreak settles hooks whose description or file is faulty.
func (p *load) rejectOrBreak(f *found) {
	h := &f.resolution.Hook
	switch {
	case f.status != "":
	case f.resolution.Rejected:
		why := "its description is faulty"
		if !f.faulty() {
			why = "nothing says which events it is for"
		}
		if f.resolution.Guards && f.scope.on() {
			f.fail(executor.Rejected, protocol.FailSettings, why, "correct what hookd check says about it")
		}
		f.stop(executor.Rejected, why)
	case f.Problem != nil:
		if h.Enabled && f.scope.on() && h.Guards() {
			kind := protocol.FailSpawn
			if f.file == nil && !f.IsCommand() {
				kind = protocol.FailGone
			}
			f.fail(executor.Broken, kind, f.Problem.Why, f.Problem.Remedy)
		}
		f.stop(executor.Broken, f.Problem.Why)
	}
	denied := f.record != nil && f.record.Decision == records.Denied // what is wrong with it is of no use to anybody
	if f.Problem != nil && f.layer != "" && !denied {
		code := report.NotRunnable
		if f.file == nil && !f.IsCommand() {
			code = report.NoSuchFile
		}
		if f.described != nil || f.file != nil {
			p.Add(report.New(code, f.path, 0, f.name, f.Problem.Why, f.Problem.Remedy))
		}
	}
}

// switchOff lets hooks be absent that a person switched off: by an entry, by the
// layer's settings, for this process, or with hookd disable. The last two never
// reach a required hook or the managed layer.
func (p *load) switchOff(f *found) {
	h := &f.resolution.Hook
	off := ""
	switch {
	case !h.Enabled && f.status != executor.Changed && f.status != executor.Gone:
		off, f.offByProject = "its settings entry switches it off", f.layer == protocol.Project
	case !f.scope.on() && f.status != executor.Changed && f.status != executor.Gone:
		off, f.offByProject = "hooks.enabled of its layer is false", f.layer == protocol.Project
	case h.Required || f.layer == protocol.Managed:
		return
	case slices.Contains(p.opts.Without, f.name):
		off = "left out in this process"
	default:
		r := f.scope.decisions.SwitchedOff(string(f.layer), f.base, p.Now)
		if r == nil {
			return
		}
		off = "switched off with hookd disable"
		if r.Until != nil {
			off += " until " + r.Until.Local().Format(time.DateTime)
			p.LookAgain(*r.Until)
		}
	}
	f.status, f.why, f.run, f.fault = executor.Disabled, off, "", nil
}

// isRequired reports whether some settings require the hook. What an outer
// project requires are its own hooks and those above it, and no inner project
// reaches the hooks of an outer one.
func (p *load) isRequired(f *found) bool {
	above := false // of the hook's own scope, or at it
	for _, s := range p.scopes {
		above = above || s == f.scope
		names, _ := s.settings.Values["hooks.required"].V.([]string)
		if !slices.Contains(names, f.base) {
			continue
		}
		if above && s.outer > f.scope.outer && s.layer == f.layer || !above && f.scope.outer > 0 {
			continue
		}
		return true
	}
	return false
}

// requireNames puts a failure in the place of every required hook that is not
// there at all.
func (p *load) requireNames() {
	for i, s := range p.scopes {
		names, _ := s.settings.Values["hooks.required"].V.([]string)
		for _, name := range names {
			answers := func(f *found) bool {
				// A hook of an inner project does not answer for one that an outer one misses.
				return f.base == name && (s.outer == 0 || slices.Contains(p.scopes[i:], f.scope))
			}
			if !slices.ContainsFunc(p.hooks, answers) {
				p.hooks = append(p.hooks, p.missing(s, name))
			}
		}
	}
}

// missing stands for a required hook that is not there.
func (p *load) missing(s *scope, name string) *found {
	why := "it is required and is not there"
	remedy := "put it into the hooks folder, or take it off hooks.required"
	p.Add(report.New(report.RequiredMissing, s.settings.File, 0, s.prefix+name, why, remedy))
	return &found{
		layer: s.layer, scope: s, base: name, name: s.prefix + name, status: executor.Gone, why: why,
		fault: &protocol.Failure{Kind: protocol.FailGone, Detail: name + ": " + why, Remedy: remedy},
		resolution: schema.Resolution{Hook: schema.Hook{
			Name: s.prefix + name, Layer: s.layer, Events: everywhere(), Can: protocol.CanBlock, Mode: protocol.Enforce,
			OnFailure: protocol.RuleBlock, Required: true, Enabled: true, Run: schema.Once, Timeout: s.own.Hooks.Timeout,
			Protocol: protocol.Version, Dialect: schema.Dialects[0],
		}},
	}
}

// tooMany settles a hook that comes behind the last one its layer may have.
func (f *found) tooMany(most int) schema.Finding {
	why := fmt.Sprintf("not loaded: its layer has more than %d hooks (hooks.maxHooks)", most)
	remedy := "raise hooks.maxHooks, or remove hooks"
	if f.resolution.Hook.Guards() {
		f.fail(executor.Rejected, protocol.FailSettings, why, remedy)
	}
	f.stop(executor.Rejected, why)
	return report.New(report.TooMany, f.path, 0, f.name, why, remedy)
}
