package loader

import (
	"slices"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/schema"
)

// bound keeps each layer to its number of hooks: the first ones in running order
// are loaded. Only hooks that would run count, so that files which nobody
// allowed cannot push a guard out.
func (p *assembly) bound() {
	running := map[*scope]int{}
	for _, f := range p.hooks {
		if f.run != "" {
			running[f.scope]++
		}
	}
	tooMany := func(s *scope) bool { return running[s] > s.own.Hooks.MaxHooks }
	if !slices.ContainsFunc(p.scopes, tooMany) {
		return // as almost always, and putting all hooks in order takes time
	}
	set, index := p.order(), p.byName()
	for _, s := range p.scopes {
		most, n := s.own.Hooks.MaxHooks, 0
		for _, h := range set.Hooks {
			f := index[hookName{h.Layer, h.Name}]
			if f.scope != s || f.run == "" {
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
		set.Hooks = append(set.Hooks, &executor.Hook{Hook: f.resolution.Hook, Outer: f.scope.outer})
	}
	ordered, _ := executor.NewSet(set)
	return ordered
}

func (p *assembly) byName() map[hookName]*hook {
	index := make(map[hookName]*hook, len(p.hooks))
	for _, f := range p.hooks {
		index[hookName{f.scope.layer, f.name}] = f
	}
	return index
}

// build makes the snapshot.
func (p *assembly) build(generation int64) *Snapshot {
	set := executor.Set{
		Generation: generation, Project: p.workplace(), Settings: p.settings,
		ManagedHash: p.machine().settings.Hash, Refuse: p.Refuse, Findings: p.Findings,
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
		Set: built, Project: p.workplace(), Findings: p.Findings, Unasked: p.unasked, UnaskedMaterials: p.unaskedResources,
		halfWritten: p.HalfWritten, recheck: p.Recheck, inputs: p.Inputs,
	}
	for _, scope := range p.scopes {
		if scope.state != "" {
			s.Settings = append(s.Settings, scope.settingsInfo())
		}
	}
	for _, f := range p.resources {
		s.Materials = append(s.Materials, f.material())
	}
	index := p.byName()
	for _, h := range built.Hooks {
		info := Info{Hook: h}
		if f := index[hookName{h.Layer, h.Name}]; f != nil {
			info.DescribedBy, info.Runs, info.InPlace = f.resolution.DescribedBy, f.run, f.inPlace
			info.project, info.base = f.scope.project, f.base
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
	if p.env.place.Project == "" {
		return ""
	}
	return p.env.place.Root
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
	for i := range hook.described {
		if d := &hook.described[i]; d.Match != nil && (strongest < 0 || d.From.Over(hook.described[strongest].From)) {
			strongest = i
		}
	}
	if strongest < 0 {
		return f
	}
	pos := hook.described[strongest].At("match")
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

func (p *assembly) executorHook(f *hook) *executor.Hook {
	h := &executor.Hook{Hook: f.resolution.Hook, Status: f.status, Why: f.why, Unwatched: f.Unwatched, Fault: f.fault}
	h.Path, h.Home, h.Outer, h.Own = f.path, f.scope.project, f.scope.outer, &f.scope.own.Hooks
	h.OnFailure = schema.AtLeast(h.OnFailure, schema.LeastRule(&p.settings, f.scope.layer)) // of one that stands as it was recorded, too
	h.SwitchedOff = f.status == executor.Disabled && !f.offByProject
	switch {
	case f.Bundle != nil:
		h.Hash = f.Bundle.Hash
	case f.record != nil:
		h.Hash = f.record.Hash
	}
	if f.run != "" && f.fault == nil && p.opts.Runtime != nil {
		h.Asker = p.asker(f)
	}
	return h
}
