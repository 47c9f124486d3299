package loader

import (
	"slices"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/discover"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/imports"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/schema"
)

// take adds the decided hooks, with the answers of those that were asked, and completes
// them.
func (p *assembly) take(decided []*trust.DecidedHook, answers map[*trust.DecidedHook]*discover.DescribeAnswer) {
	for _, d := range decided {
		f := &hook{DecidedHook: d, answer: answers[d]}
		if f.answer != nil {
			f.Described = append(f.Described, f.answer.Described)
		}
		p.hooks = append(p.hooks, f)
	}
	p.settings.Agent.MCPServers = p.servers()
	for _, f := range p.hooks {
		p.finalize(f)
	}
	p.Findings = imports.OpenOnce(p.Findings)
	p.missing = p.missingNames()
	p.bound()
}

// bound keeps each layer to its number of hooks: the first ones in running order
// are loaded. Only hooks that would run count, so that files which nobody
// allowed cannot push a guard out.
func (p *assembly) bound() {
	running := map[*candidate.Scope]int{}
	for _, f := range p.hooks {
		if f.Run != "" {
			running[f.Scope]++
		}
	}
	tooMany := func(s *candidate.Scope) bool { return running[s] > s.Own.Hooks.MaxHooks }
	if !slices.ContainsFunc(p.scopes, tooMany) {
		return // as almost always, and putting all hooks in order takes time
	}
	set, index := p.order(), p.byName()
	for _, s := range p.scopes {
		most, n := s.Own.Hooks.MaxHooks, 0
		for _, h := range set.Hooks {
			f := index[hookName{h.Layer, h.Name}]
			if f.Scope != s || f.Run == "" {
				continue
			}
			if n++; n > most {
				p.Add(f.tooMany(most))
			}
		}
	}
}

// order puts the hooks into running order.
func (p *assembly) order() *executor.Set {
	set := executor.Set{}
	for _, f := range p.hooks {
		set.Hooks = append(set.Hooks, &executor.Hook{Hook: f.Resolution.Hook, Outer: f.Scope.Outer})
	}
	ordered, _ := executor.NewSet(set)
	return ordered
}

func (p *assembly) byName() map[hookName]*hook {
	index := make(map[hookName]*hook, len(p.hooks))
	for _, f := range p.hooks {
		index[hookName{f.Scope.Layer, f.Name}] = f
	}
	return index
}

// build makes the snapshot.
func (p *assembly) build(generation int64) *Snapshot {
	set := executor.Set{
		Generation: generation, Project: p.workplace(), Settings: p.settings,
		ManagedHash: p.machine().File.InForce.Hash, Refuse: p.Refuse, Findings: p.Findings,
	}
	for _, f := range p.hooks {
		set.Hooks = append(set.Hooks, p.executorHook(f))
	}
	for _, m := range p.missing {
		set.Hooks = append(set.Hooks, m.inSet(p.Report))
	}
	built, errs := executor.NewSet(set)
	for _, err := range errs {
		p.Add(p.badMatch(err))
	}
	built.Findings = p.Findings
	s := &Snapshot{
		Set: built, Project: p.workplace(), Findings: p.Findings, Unallowed: p.unallowed, UnallowedResources: p.unallowedResources,
		halfWritten: p.HalfWritten, recheck: p.Recheck, inputs: p.Inputs,
	}
	for _, scope := range p.scopes {
		if scope.File.State != "" {
			s.Settings = append(s.Settings, settingsInfo(scope))
		}
	}
	for _, f := range p.resources {
		s.Resources = append(s.Resources, resourceOf(f))
	}
	index := p.byName()
	for _, h := range built.Hooks {
		info := Info{Hook: h}
		if f := index[hookName{h.Layer, h.Name}]; f != nil {
			info.DescribedBy, info.Runs, info.InPlace, info.Pack = f.Resolution.DescribedBy, f.Run, f.InPlace, f.Pack
			info.project, info.base, info.Tests = f.Scope.Project, f.Base, f.Resolution.Tests
		}
		s.Hooks = append(s.Hooks, info)
	}
	if !p.Inputs.Stable(p.Now) {
		p.LookAgain(p.Now.Add(files.StableAfter * 3 / 2))
		s.recheck = p.Recheck
	}
	return s
}

// workplace is the project as events and tools have it: where the work is done,
// "" without a project.
func (p *assembly) workplace() string {
	if p.env.Workspace.Project == "" {
		return ""
	}
	return p.env.Workspace.Root
}

// badMatch reports a matcher that does not compile, at the place where the
// strongest source wrote it.
func (p *assembly) badMatch(err executor.MatchError) schema.Finding {
	f := report.New(schema.CodeBadMatcher, err.Hook.Path, 0, err.Hook.Name, "match."+err.Key+": "+err.Err.Error(), "correct the hook's match")
	hook := p.byName()[hookName{err.Hook.Layer, err.Hook.Name}]
	if hook == nil {
		return f
	}
	strongest := -1
	for i := range hook.Described {
		if d := &hook.Described[i]; d.Match != nil && (strongest < 0 || d.From.Over(hook.Described[strongest].From)) {
			strongest = i
		}
	}
	if strongest < 0 {
		return f
	}
	pos := hook.Described[strongest].At("match")
	f.File = pos.File
	if pos.Line > 0 {
		f.Line = &pos.Line
	}
	path := pos.Path + "." + err.Key
	if pos.Path == "" {
		path = "match." + err.Key
	}
	f.Path = &path
	return f
}

// importedFrom returns where a hook was read from, if that is another agent's settings.
func importedFrom(f *hook) *executor.Imported {
	if f.Import == nil {
		return nil
	}
	from := executor.Imported{Agent: f.Import.Agent, File: f.Path}
	if len(f.Described) > 0 && f.Import.Folder == "" {
		d := &f.Described[0]
		from.File, from.Line = d.Pos.File, d.Pos.Line
	}
	return &from
}

func (p *assembly) executorHook(f *hook) *executor.Hook {
	h := &executor.Hook{Hook: f.Resolution.Hook, Status: f.Status, Why: f.Why, Unwatched: f.Unwatched, Fault: f.Fault}
	h.Path, h.Home, h.Outer, h.Own = f.Path, f.Scope.Project, f.Scope.Outer, &f.Scope.Own.Hooks
	h.OnFailure = schema.AtLeast(h.OnFailure, schema.LeastRule(&p.settings, f.Scope.Layer)) // of one that stands as it was recorded, too
	h.Imported = importedFrom(f)
	h.SwitchedOff = f.Status == executor.Disabled && !f.offByProject
	switch {
	case f.Bundle != nil:
		h.Hash = f.Bundle.Hash
	case f.Record != nil:
		h.Hash = f.Record.Hash
	}
	if f.Run != "" && f.Fault == nil && p.opts.Runtime != nil {
		h.Asker = p.asker(f)
		h.Watches = h.Reply != nil && !h.Reply.Refuses() && !h.Reply.Grants()
	}
	return h
}
