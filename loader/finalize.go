package loader

import (
	"fmt"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// finalize resolves a hook for the last time and applies all that keeps it from running:
// faults of its description and of its file, and what the person switched off.
func (p *assembly) finalize(f *hook) {
	switch {
	case f.Status == executor.Changed, f.Status == executor.Gone: // it stands as it was allowed
	case f.StandIn != nil: // and as it was made
	case f.Status == executor.Untrusted: // and as settings describe it that nobody allowed either
		if h := &f.Resolution.Hook; h.Timeout == 0 {
			h.Timeout = f.Scope.Own.Hooks.Timeout
		}
	default:
		defaults := schema.DefaultsFor(f.Scope.Own, f.Scope.Layer, f.Name, f.Path)
		defaults.Required = p.isRequired(f)
		events := f.Resolution.Hook.Events
		resolution, findings := schema.Resolve(defaults, f.Described...)
		f.Resolution = resolution
		if f.Fault != nil && len(f.Resolution.Hook.Events) == 0 {
			f.Resolution.Hook.Events = events
		}
		if f.Status == "" || f.Status == executor.Ready {
			p.Add(findings...)
		}
		p.rejectOrBreak(f)
	}
	if p.isRequired(f) {
		f.Resolution.Hook.Required = true
	}
	p.switchOff(f)
	p.env.NoteUnwatched(&f.Subject, f.Resolution.Hook.InPlace, f.Resolution.Hook.InProject)
	p.noteAnswer(f)
	file, line := "", 0
	if len(f.Described) > 0 {
		file, line = f.Described[0].Pos.File, f.Described[0].Pos.Line
	}
	p.env.ReportUnwatched(&f.Subject, file, line)
	p.env.ReportNotPassed(f.Hook)
	if h := &f.Resolution.Hook; h.Required && f.Fault == nil && f.Run == "" {
		if len(h.Events) == 0 {
			h.Events = candidate.Everywhere()
		}
		f.Fault = &protocol.Failure{Kind: protocol.FailSettings, Detail: f.Name + " is required: " + f.Why, Remedy: "make it run again, or take it off the required ones"}
		if h.OnFailure == protocol.RuleContinue {
			h.OnFailure = protocol.RuleBlock
		}
	}
	if f.Status == "" {
		f.Status = executor.Ready
	}
}

// unreadRemedy is what to do about settings that cannot be read.
const unreadRemedy = "correct it as hookd check says, or remove it"

// rejectOrBreak disables a hook whose description or file is faulty, or that a limit binds
// which nobody can read. One that guards something fails instead.
func (p *assembly) rejectOrBreak(f *hook) {
	h := &f.Resolution.Hook
	switch {
	case f.Status != "":
	case f.Resolution.Rejected:
		why, remedy := "its description is faulty", "correct what hookd check says about it"
		switch d := f.Described; {
		case !f.Faulty():
			why = "nothing says which events it is for"
		case len(d) == 1 && d[0].From == schema.FromSettings && d[0].Pos.Path == f.Base: // nobody knows which hook it is about
			place := d[0].Pos.File
			if d[0].Pos.Line > 0 {
				place += fmt.Sprintf(":%d", d[0].Pos.Line)
			}
			why, remedy = fmt.Sprintf("%s cannot be read (%s), and may name a guard", d[0].Pos.Path, place), unreadRemedy
		}
		if f.Resolution.Guards && f.Scope.On() {
			f.FailClosed(f.Name, executor.Rejected, protocol.FailSettings, why, remedy)
		}
		f.Disable(executor.Rejected, why)
	case f.Problem != nil:
		if h.Enabled && f.Scope.On() && h.Guards() {
			kind := protocol.FailSpawn
			if f.File == nil && !f.IsCommand() {
				kind = protocol.FailGone
			}
			f.FailClosed(f.Name, executor.Broken, kind, f.Problem.Why, f.Problem.Remedy)
		}
		f.Disable(executor.Broken, f.Problem.Why)
	case len(f.Scope.Own.Hooks.Unread) > 0:
		why := f.Scope.Own.Hooks.Unread[0].String() + ", which limits it"
		if h.Enabled && f.Scope.On() && h.Guards() {
			f.FailClosed(f.Name, executor.Rejected, protocol.FailSettings, why, unreadRemedy)
		}
		f.Disable(executor.Rejected, why)
	}
	denied := f.Record != nil && f.Record.Decision == records.Denied // what is wrong with it is of no use to anybody
	if f.Problem != nil && f.Scope.Layer != "" && !denied {
		code := report.NotRunnable
		if f.File == nil && !f.IsCommand() {
			code = report.NoSuchFile
		}
		if f.Described != nil || f.File != nil {
			p.Add(report.New(code, f.Path, 0, f.Name, f.Problem.Why, f.Problem.Remedy))
		}
	}
}

// switchOff disables hooks that a person switched off: by an entry, by the
// layer's settings, for this process, or with hookd disable. The last two never
// reach a required hook or the managed layer.
func (p *assembly) switchOff(f *hook) {
	h := &f.Resolution.Hook
	off := ""
	switch {
	case !h.Enabled && f.Status != executor.Changed && f.Status != executor.Gone:
		off, f.offByProject = "its settings entry switches it off", f.Scope.Layer == protocol.Project
	case !f.Scope.On() && f.Status != executor.Changed && f.Status != executor.Gone:
		off, f.offByProject = "hooks.enabled of its layer is false", f.Scope.Layer == protocol.Project
	case h.Required || f.Scope.Layer == protocol.Managed:
		return
	case slices.Contains(p.opts.Without, f.Name):
		off = "left out in this process"
	default:
		r := f.Scope.Decided.Here.SwitchedOff(string(f.Scope.Layer), f.Base, p.Now)
		if r == nil {
			return
		}
		off = "switched off with hookd disable"
		if r.Until != nil {
			off += " until " + r.Until.Local().Format(time.DateTime)
			p.LookAgain(*r.Until)
		}
	}
	f.Status, f.Why, f.Run, f.Fault = executor.Disabled, off, "", nil
}

// isRequired reports whether some settings require the hook. What an outer
// project requires are its own hooks and those above it, and no inner project
// reaches the hooks of an outer one.
func (p *assembly) isRequired(f *hook) bool {
	above := false // of the hook's own scope, or at it
	for _, s := range p.scopes {
		above = above || s == f.Scope
		names, _ := s.File.InForce.Values["hooks.required"].V.([]string)
		if !slices.Contains(names, f.Base) {
			continue
		}
		if above && s.Outer > f.Scope.Outer && s.Layer == f.Scope.Layer || !above && f.Scope.Outer > 0 {
			continue
		}
		return true
	}
	return false
}

// missingNames are the names that some settings require and no hook has.
func (p *assembly) missingNames() (missing []missingName) {
	for i, s := range p.scopes {
		names, _ := s.File.InForce.Values["hooks.required"].V.([]string)
		for _, name := range names {
			// A hook of an inner project does not answer for one that an outer one misses.
			answers := func(by *candidate.Scope) bool { return s.Outer == 0 || slices.Contains(p.scopes[i:], by) }
			if !slices.ContainsFunc(p.hooks, func(f *hook) bool { return f.Base == name && answers(f.Scope) }) &&
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
	s, name := m.scope, m.scope.Prefix+m.name
	r.Add(report.New(report.RequiredMissing, s.File.InForce.File, 0, name, why, remedy))
	return &executor.Hook{
		Hook: schema.Hook{
			Name: name, Layer: s.Layer, Events: candidate.Everywhere(), Can: protocol.CanBlock, Mode: protocol.Enforce,
			OnFailure: protocol.RuleBlock, Required: true, Enabled: true, Run: schema.Once, Timeout: s.Own.Hooks.Timeout,
			Protocol: protocol.Version, Dialect: schema.Dialects[0],
		},
		Status: executor.Gone, Why: why, Home: s.Project, Outer: s.Outer, Own: &s.Own.Hooks,
		Fault: &protocol.Failure{Kind: protocol.FailGone, Detail: name + ": " + why, Remedy: remedy},
	}
}

// tooMany disables a hook that comes after the last one its layer may have, and returns
// the finding.
func (f *hook) tooMany(most int) schema.Finding {
	why := fmt.Sprintf("not loaded: its layer has more than %d hooks (hooks.maxHooks)", most)
	remedy := "raise hooks.maxHooks, or remove hooks"
	if f.Resolution.Hook.Guards() {
		f.FailClosed(f.Name, executor.Rejected, protocol.FailSettings, why, remedy)
	}
	f.Disable(executor.Rejected, why)
	return report.New(report.TooMany, f.Path, 0, f.Name, why, remedy)
}
