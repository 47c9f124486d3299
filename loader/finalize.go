package loader

import (
	"fmt"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// finalize resolves a hook for good and lets everything that keeps it from running
// have its say: faults of its description, of its file, and what the person
// switched off.
func (p *assembly) finalize(f *hook) {
	switch f.status {
	case executor.Changed, executor.Gone: // it stands as it was allowed
	case executor.Untrusted: // and as settings describe it that nobody allowed either
		if h := &f.resolution.Hook; h.Timeout == 0 {
			h.Timeout = f.scope.own.Hooks.Timeout
		}
	default:
		defaults := schema.DefaultsFor(f.scope.own, f.scope.layer, f.name, f.path)
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
	p.env.seeUnwatched(&f.subject, f.resolution.Hook.InPlace, f.resolution.Hook.InProject)
	p.env.seeAnswer(f)
	file, line := "", 0
	if len(f.described) > 0 {
		file, line = f.described[0].Pos.File, f.described[0].Pos.Line
	}
	p.env.tellUnwatched(&f.subject, file, line)
	p.env.tellNotPassed(f.hookCandidate)
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
func (p *assembly) rejectOrBreak(f *hook) {
	h := &f.resolution.Hook
	switch {
	case f.status != "":
	case f.resolution.Rejected:
		why := "its description is faulty"
		if !f.faulty() {
			why = "nothing says which events it is for"
		}
		if f.resolution.Guards && f.scope.on() {
			f.failClosed(f.name, executor.Rejected, protocol.FailSettings, why, "correct what hookd check says about it")
		}
		f.disable(executor.Rejected, why)
	case f.Problem != nil:
		if h.Enabled && f.scope.on() && h.Guards() {
			kind := protocol.FailSpawn
			if f.file == nil && !f.IsCommand() {
				kind = protocol.FailGone
			}
			f.failClosed(f.name, executor.Broken, kind, f.Problem.Why, f.Problem.Remedy)
		}
		f.disable(executor.Broken, f.Problem.Why)
	}
	denied := f.record != nil && f.record.Decision == records.Denied // what is wrong with it is of no use to anybody
	if f.Problem != nil && f.scope.layer != "" && !denied {
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
func (p *assembly) switchOff(f *hook) {
	h := &f.resolution.Hook
	off := ""
	switch {
	case !h.Enabled && f.status != executor.Changed && f.status != executor.Gone:
		off, f.offByProject = "its settings entry switches it off", f.scope.layer == protocol.Project
	case !f.scope.on() && f.status != executor.Changed && f.status != executor.Gone:
		off, f.offByProject = "hooks.enabled of its layer is false", f.scope.layer == protocol.Project
	case h.Required || f.scope.layer == protocol.Managed:
		return
	case slices.Contains(p.opts.Without, f.name):
		off = "left out in this process"
	default:
		r := f.scope.decisions.SwitchedOff(string(f.scope.layer), f.base, p.Now)
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
func (p *assembly) isRequired(f *hook) bool {
	above := false // of the hook's own scope, or at it
	for _, s := range p.scopes {
		above = above || s == f.scope
		names, _ := s.settings.Values["hooks.required"].V.([]string)
		if !slices.Contains(names, f.base) {
			continue
		}
		if above && s.outer > f.scope.outer && s.layer == f.scope.layer || !above && f.scope.outer > 0 {
			continue
		}
		return true
	}
	return false
}

// missingName is a name of hooks.required that no hook has.
type missingName struct {
	scope *scope
	name  string
}

// missingNames are the names that some settings require and no hook has.
func (p *assembly) missingNames() (missing []missingName) {
	for i, s := range p.scopes {
		names, _ := s.settings.Values["hooks.required"].V.([]string)
		for _, name := range names {
			// A hook of an inner project does not answer for one that an outer one misses.
			answers := func(by *scope) bool { return s.outer == 0 || slices.Contains(p.scopes[i:], by) }
			if !slices.ContainsFunc(p.hooks, func(f *hook) bool { return f.base == name && answers(f.scope) }) &&
				!slices.ContainsFunc(missing, func(m missingName) bool { return m.name == name && answers(m.scope) }) {
				missing = append(missing, missingName{s, name})
			}
		}
	}
	return missing
}

// inSet reports the missing name, and returns the failure that stands in its place at
// every event.
func (m missingName) inSet(r *report.Report) *executor.Hook {
	why := "it is required and is not there"
	remedy := "put it into the hooks folder, or take it off hooks.required"
	s, name := m.scope, m.scope.prefix+m.name
	r.Add(report.New(report.RequiredMissing, s.settings.File, 0, name, why, remedy))
	return &executor.Hook{
		Hook: schema.Hook{
			Name: name, Layer: s.layer, Events: everywhere(), Can: protocol.CanBlock, Mode: protocol.Enforce,
			OnFailure: protocol.RuleBlock, Required: true, Enabled: true, Run: schema.Once, Timeout: s.own.Hooks.Timeout,
			Protocol: protocol.Version, Dialect: schema.Dialects[0],
		},
		Status: executor.Gone, Why: why, Home: s.project, Outer: s.outer, Own: &s.own.Hooks,
		Fault: &protocol.Failure{Kind: protocol.FailGone, Detail: name + ": " + why, Remedy: remedy},
	}
}

// tooMany settles a hook that comes behind the last one its layer may have.
func (f *hook) tooMany(most int) schema.Finding {
	why := fmt.Sprintf("not loaded: its layer has more than %d hooks (hooks.maxHooks)", most)
	remedy := "raise hooks.maxHooks, or remove hooks"
	if f.resolution.Hook.Guards() {
		f.failClosed(f.name, executor.Rejected, protocol.FailSettings, why, remedy)
	}
	f.disable(executor.Rejected, why)
	return report.New(report.TooMany, f.path, 0, f.name, why, remedy)
}
