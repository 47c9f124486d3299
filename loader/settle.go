package loader

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// askPrograms asks every program that may run and that nothing else described.
func (p *load) askPrograms(ctx context.Context) {
	questions := map[*answers][]question{}
	var asked []*found
	for _, f := range p.hooks {
		if f.run == "" || f.trouble != nil || f.bundle == nil || f.faulty() || schema.NamesEvents(f.described...) || !p.layerOn(f.layer) {
			continue
		}
		asked = append(asked, f)
		answers := p.answersOf(f.layer)
		if _, known := answers.known(f.bundle.hash, p.now); known || p.opts.Runtime == nil {
			continue
		}
		s := p.startOf(f)
		questions[answers] = append(questions[answers], question{f.bundle.hash, process.Command{
			Path: s.path, Argv: append(s.argv, askArgument), Dir: p.dirOf(f), Env: s.environ(p.env(f, executor.ActionDescribe)), Grace: p.settings.Hooks.Grace,
		}})
	}
	for answers, questions := range questions {
		answers.ask(ctx, p.opts.Runtime, questions)
	}
	for _, f := range asked {
		got, known := p.answersOf(f.layer).known(f.bundle.hash, p.now)
		if !known {
			continue
		}
		told := got.about(f.path, f.name)
		p.add(told.findings...)
		if told.why != "" {
			p.add(newFinding(CodeNoAnswer, f.path, 0, f.name, "it was asked for its events: "+told.why, "add a line `hook: events=tool-call-start` to its header"))
			continue
		}
		f.described, f.told = append(f.described, told.described), told
	}
}

// argv is the command line of a hook, without what is appended for one purpose.
func (p *load) argv(f *found) []string {
	if f.isCommand() {
		return slices.Clone(f.argv)
	}
	return []string{f.run}
}

// settle resolves a hook for good and lets everything that keeps it from running
// have its say: faults of its description, of its file, and what the person
// switched off.
func (p *load) settle(f *found) {
	if f.status != executor.Changed && f.status != executor.Gone {
		defaults := schema.DefaultsFor(p.own[f.layer], f.layer, f.name, f.path)
		defaults.Required = slices.Contains(p.settings.Hooks.Required, f.name)
		events := f.resolution.Hook.Events
		resolution, findings := f.resolve(defaults)
		f.resolution = resolution
		if f.fault != nil && len(f.resolution.Hook.Events) == 0 {
			f.resolution.Hook.Events = events
		}
		if f.status == "" || f.status == executor.Ready {
			p.add(findings...)
		}
		p.rejectOrBreak(f)
	}
	if slices.Contains(p.settings.Hooks.Required, f.name) {
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
		if f.resolution.Guards && p.layerOn(f.layer) {
			f.fail(executor.Rejected, protocol.FailSettings, why, "correct what hookd check says about it")
		}
		f.stop(executor.Rejected, why)
	case f.trouble != nil:
		if h.Enabled && p.layerOn(f.layer) && h.Guards() {
			kind := protocol.FailSpawn
			if f.file == nil && !f.isCommand() {
				kind = protocol.FailGone
			}
			f.fail(executor.Broken, kind, f.trouble.why, f.trouble.remedy)
		}
		f.stop(executor.Broken, f.trouble.why)
	}
	if f.trouble != nil && f.layer != "" {
		code := CodeNotRunnable
		if f.file == nil && !f.isCommand() {
			code = CodeNoSuchFile
		}
		if f.described != nil || f.file != nil {
			p.add(newFinding(code, f.path, 0, f.name, f.trouble.why, f.trouble.remedy))
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
	case !p.layerOn(f.layer) && f.status != executor.Changed && f.status != executor.Gone:
		off, f.offByProject = "hooks.enabled of its layer is false", f.layer == protocol.Project
	case h.Required || f.layer == protocol.Managed:
		return
	case slices.Contains(p.opts.Without, f.name):
		off = "left out in this process"
	default:
		about := p.decisions
		if f.layer == protocol.User {
			about = p.global
		}
		r := about.disabled(string(f.layer), f.name, p.now)
		if r == nil {
			return
		}
		off = "switched off with hookd disable"
		if r.Until != nil {
			off += " until " + r.Until.Local().Format(time.DateTime)
			p.lookAgain(*r.Until)
		}
	}
	f.status, f.why, f.run, f.fault = executor.Disabled, off, "", nil
}

// lookAgain makes a watcher load again at a moment although nothing changes.
func (p *load) lookAgain(at time.Time) {
	if p.recheck.IsZero() || at.Before(p.recheck) {
		p.recheck = at
	}
}

// requireNames puts a failure in the place of every required hook that is not
// there at all.
func (p *load) requireNames() {
	for _, name := range p.settings.Hooks.Required {
		if slices.ContainsFunc(p.hooks, func(f *found) bool { return f.name == name }) {
			continue
		}
		layer := p.requiredBy(name)
		why := "it is required and is not there"
		remedy := "put it into the hooks folder, or take it off hooks.required"
		p.hooks = append(p.hooks, &found{
			layer: layer, name: name, status: executor.Gone, why: why,
			fault: &protocol.Failure{Kind: protocol.FailGone, Detail: name + ": " + why, Remedy: remedy},
			resolution: schema.Resolution{Hook: schema.Hook{
				Name: name, Layer: layer, Events: everywhere(), Can: protocol.CanBlock, Mode: protocol.Enforce,
				OnFailure: protocol.RuleBlock, Required: true, Enabled: true, Run: schema.Once, Timeout: p.settings.Hooks.Timeout,
				Protocol: protocol.Version, Dialect: schema.Dialects[0],
			}},
		})
		file := p.layers[layer].File
		p.add(newFinding(CodeRequiredMissing, file, 0, name, why, remedy))
	}
}

// requiredBy is the highest layer whose settings require a hook.
func (p *load) requiredBy(name string) protocol.Layer {
	by := protocol.Project
	for _, layer := range rising {
		if names, ok := p.layers[layer].Values["hooks.required"].V.([]string); ok && slices.Contains(names, name) {
			by = layer
		}
	}
	return by
}

// tooMany settles a hook that comes behind the last one its layer may have.
func (f *found) tooMany(most int) schema.Finding {
	why := fmt.Sprintf("not loaded: its layer has more than %d hooks (hooks.maxHooks)", most)
	remedy := "raise hooks.maxHooks, or remove hooks"
	if f.resolution.Hook.Guards() {
		f.fail(executor.Rejected, protocol.FailSettings, why, remedy)
	}
	f.stop(executor.Rejected, why)
	return newFinding(CodeTooMany, f.path, 0, f.name, why, remedy)
}
