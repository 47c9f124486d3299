package trust

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/environment"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// A Decider decides what of a load may run. It runs nothing itself.
type Decider struct {
	*report.Report
	Env       *environment.Environment
	Settings  *schema.Settings // in force: hooks.allow and hooks.trust.hashes
	Store     Store
	WholeHash func() string // of all that the project brings along
	// Answer returns what a hook that was allowed said of itself when it was asked, nil
	// if that is not known.
	Answer func(f *candidate.Hook, hash string) *schema.Described

	Unallowed          []string // names of hooks that are absent because nobody allowed them
	UnallowedResources []string
}

// Hooks decides about hooks.
func (d *Decider) Hooks(candidates []*candidate.Hook) (decided []*DecidedHook) {
	for _, c := range candidates {
		decided = append(decided, d.hook(c))
	}
	return decided
}

// hook decides whether a hook may run, and has it run from where it may. Nothing of it
// has been run so far.
func (d *Decider) hook(c *candidate.Hook) *DecidedHook {
	f := &DecidedHook{Hook: c}
	switch {
	case f.StandIn != nil:
		status := executor.Untrusted
		if f.StandIn.Kind == protocol.FailSettings {
			status = executor.Broken
		}
		f.FailClosed(f.Name, status, f.StandIn.Kind, f.StandIn.Why, f.StandIn.Remedy)
	case f.Scope.NeedsTrust():
		d.projectHook(f)
	default:
		d.ownHook(f)
	}
	return f
}

// ownHook decides about a hook of user or machine, or of a project that the user
// always trusts: it runs where it lies.
func (d *Decider) ownHook(f *DecidedHook) {
	if d.policy(&f.Subject, &f.Verdict, f.Faulty()) {
		f.Run, f.InPlace = d.original(f), true
		d.startsInside(f)
	}
	if f.Scope.Decided.Always && f.Record != nil && f.Record.Decision == records.Denied {
		f.Disable(executor.Disabled, "denied with hookd untrust")
	}
}

// AsItLies has a hook run where it lies, because a person tries it.
func (d *Decider) AsItLies(c *candidate.Hook) *DecidedHook {
	f := &DecidedHook{Hook: c}
	f.Run, f.InPlace, f.Record = d.original(f), true, nil
	return f
}

// projectHook decides about a hook of a project: what a person allowed runs from the
// private copy.
func (d *Decider) projectHook(f *DecidedHook) {
	decision := Decide(foundHook(f.Hook), d.recorded(&f.Subject))
	switch decision.State {
	case StateDenied:
		f.Disable(executor.Disabled, decision.Why)
	case StateTrusted:
		d.trustedHook(f, decision)
	case StateGone:
		f.Record = decision.Record
		d.failChanged(f, executor.Gone, protocol.FailGone, report.Gone, decision.Why, f.GoneRemedy())
	case StateChanged:
		f.Record = decision.Record
		remedy := f.Scope.TrustRemedy()
		if f.Import != nil && f.Problem != nil { // the settings that name it cannot be read
			remedy = f.Problem.Remedy
		}
		d.failChanged(f, executor.Changed, protocol.FailUntrusted, report.Changed, decision.Why+difference(&f.Subject), remedy)
	default:
		d.decideUnallowed(f, decision.Why)
	}
}

// trustedHook has the private copy of a hook run, unless it may not run here. Where
// nobody allowed it in this project, the copy is made now.
func (d *Decider) trustedHook(f *DecidedHook, decision Decision) {
	if !decision.MayRun() {
		f.FailClosed(f.Name, executor.Untrusted, protocol.FailUntrusted, decision.Why, f.Scope.TrustRemedy())
		d.Add(report.New(report.Untrusted, f.Path, 0, f.Name, "it is not run: "+f.Why, f.Scope.TrustRemedy()))
		return
	}
	if !d.policy(&f.Subject, &f.Verdict, f.Faulty()) {
		return
	}
	d.runCopy(f, decision.Source != FromRecord)
	if decision.Source != FromMain {
		d.holdPins(&f.Subject, &f.Verdict, f.Resolution.Hook.InPlace)
	}
}

// foundHook returns what was found of a hook.
func foundHook(f *candidate.Hook) Found {
	found := Found{Hash: f.Hash(), There: f.IsThere(), Faulty: f.Faulty(), Unwatched: f.RunsUnwatched()}
	if f.InOtherCheckout() {
		found.Elsewhere = f.Scope.Root
	}
	return found
}

// recorded returns what was decided about a subject before.
func (d *Decider) recorded(f *candidate.Subject) Recorded {
	r := recordedBy(&f.Scope.Decided, f.Base)
	r.Here, r.Listed = f.Record, d.hashListed(f)
	return r
}

// recordedBy returns what persons decided in a scope about something.
func recordedBy(d *candidate.Decided, name string) Recorded {
	r := Recorded{Here: d.Here.Find(name), MainRules: d.MainRules}
	if d.InMain != nil {
		r.Checkout = d.InMain.Project
		if main := d.InMain.Find(name); main != nil && main.Decision == records.Allowed {
			r.Main = main
		}
	}
	return r
}

// policy asks the managed layer's hooks.allow. A hook that it leaves out is
// absent, unless its bundle is listed there by hash.
func (d *Decider) policy(f *candidate.Subject, v *Verdict, faulty bool) bool {
	allow, layer := d.Settings.Hooks.Allow, string(f.Scope.Layer)
	if slices.Contains(allow, layer) || slices.Contains(allow, "hashes") && !faulty && d.hashListed(f) {
		return true
	}
	v.Disable(executor.Disabled, "the managed settings allow no hooks of the "+layer+" layer")
	d.Add(report.New(report.NotAllowed, f.Path, 0, f.Name, v.Why, "have its hash listed in hooks.trust.hashes of the managed settings"))
	return false
}

// hashListed reports whether hooks.trust.hashes names the bundle or the project.
func (d *Decider) hashListed(f *candidate.Subject) bool {
	hashes := d.Settings.Hooks.Trust.Hashes
	if len(hashes) == 0 || f.Bundle == nil {
		return false
	}
	return hashAmong(hashes, f.Bundle.Hash) || f.Scope.Layer == protocol.Project && f.Scope.Outer == 0 && hashAmong(hashes, d.WholeHash())
}

// runCopy has the private copy run. Where a hash alone allowed the hook, the copy is
// made now.
func (d *Decider) runCopy(f *DecidedHook, make bool) {
	if f.Rule {
		f.Run = d.original(f)
		return
	}
	f.Bundle.Members = slices.Clone(f.Bundle.Members)
	if f.Resolution.Hook.InPlace && len(f.Bundle.Members) > 0 {
		if err := d.runView(f); err != nil {
			f.FailClosed(f.Name, executor.Changed, protocol.FailUntrusted, "what was allowed cannot be run: "+err.Error(), "allow it again with: "+f.Scope.TrustCommand())
			d.Add(report.New(report.Tampered, f.Path, 0, f.Name, f.Why, "allow it again with: "+f.Scope.TrustCommand()))
		}
		return
	}
	f.Folder = d.Store.Folder(f.Bundle.Hash)
	err := d.Store.verify(f.Bundle)
	if err != nil && make {
		err = d.Store.Put(f.Bundle)
	}
	if err != nil {
		f.FailClosed(f.Name, executor.Changed, protocol.FailUntrusted, "its private copy cannot be relied on: "+err.Error(), "allow it again with: "+f.Scope.TrustCommand())
		d.Add(report.New(report.Tampered, d.Store.Folder(f.Bundle.Hash), 0, f.Name, f.Why, "allow it again with: "+f.Scope.TrustCommand()))
		return
	}
	if f.File != nil && f.File.Unsafe != "" {
		d.Add(report.New(report.NotRunnable, f.Path, 0, f.Name, "only its private copy runs: "+f.File.Unsafe, "make it yours and writable by you only: chown, chmod go-w"))
	}
	f.Problem = nil // of the original; the copy was seen to be whole
	if f.IsCommand() {
		f.Argv = f.Copied(f.Argv, d.Store.Folder(f.Bundle.Hash))
		f.Run = f.Argv[0]
	} else {
		f.Run = d.Store.path(f.Bundle.Hash, f.Base)
	}
	f.Problem = interpreter.MountTrouble(f.Run, interpreter.NoExecCopy)
}

// original returns the path of a hook that runs where it lies, and notes what keeps it
// from running.
func (d *Decider) original(f *DecidedHook) string {
	if f.Rule {
		return f.Described[len(f.Described)-1].Pos.File // nothing is started: the settings are all of it
	}
	if f.IsCommand() {
		if len(f.Argv) == 0 {
			return ""
		}
		f.Problem = cmp.Or(f.Problem, interpreter.MountTrouble(f.Argv[0], interpreter.NoExecOriginal))
		return f.Argv[0]
	}
	if f.Problem == nil && d.Env.LiesInside(f.Scope.Layer, f.Path) {
		f.Problem = &report.Problem{Why: fmt.Sprintf("it lies in the project, which the %s layer cannot vouch for", f.Scope.Layer), Remedy: "copy it out of the project, or have it be one of the project's hooks and allow it there"}
	}
	if f.Problem == nil && f.File != nil && f.File.Unsafe != "" {
		f.Problem = &report.Problem{Why: f.File.Unsafe, Remedy: "make it yours and writable by you only: chown, chmod go-w"}
	}
	f.Problem = cmp.Or(f.Problem, interpreter.MountTrouble(f.Path, interpreter.NoExecOriginal))
	return f.Path
}

// decideUnallowed decides about a hook of the project that nobody decided about. One that says
// it guards something fails until a person decides; any other is absent.
func (d *Decider) decideUnallowed(f *DecidedHook, why string) {
	if f.Faulty() || f.Problem != nil || !f.Listed {
		return // it ends as rejected or broken
	}
	h := &f.Resolution.Hook
	if f.Import != nil && len(h.Events) == 0 { // a program that must be asked, and may refuse these
		h.Events, h.OnFailure = f.Import.Refuses, protocol.RuleBlock
	}
	if h.Enabled && f.Scope.On() && h.Guards() {
		if len(h.Events) == 0 {
			h.Events = candidate.Everywhere()
		}
		f.FailClosed(f.Name, executor.Untrusted, protocol.FailUntrusted, why, f.Scope.TrustRemedy())
	} else {
		d.Unallowed = append(d.Unallowed, f.Name)
	}
	f.Disable(executor.Untrusted, why)
	file, line := f.Place()
	d.Add(report.New(report.Untrusted, file, line, f.Name, "it is not run: "+why, f.Scope.TrustRemedy()))
}

// runView has a hook with inPlace run from its view. Where links cannot be made the
// original runs.
func (d *Decider) runView(f *DecidedHook) error {
	if runtime.GOOS == "windows" {
		f.Run, f.InPlace = d.original(f), true
		return nil
	}
	b := *f.Bundle
	b.Members = slices.Clone(b.Members)
	if err := d.Store.Put(&b); err != nil {
		return err
	}
	folder, err := d.Store.view(&b, d.Inputs.See)
	if err != nil {
		return err
	}
	f.InPlace, f.Folder = true, folder
	if f.IsCommand() {
		f.Argv = f.Copied(f.Argv, folder)
		f.Run = f.Argv[0]
	} else {
		f.Run = filepath.Join(folder, f.Base)
	}
	return nil
}

// startsInside fails a hook of user or machine that asks to start in a project which
// nobody allowed.
func (d *Decider) startsInside(f *DecidedHook) {
	if !f.Resolution.Hook.InProject || d.Env.ProjectAllowed() {
		return
	}
	const why = "it asks to start in the project (dir: project), which nobody allowed"
	const remedy = "allow the project with hookd trust, or leave dir out"
	if len(f.Resolution.Hook.Events) == 0 && f.Resolution.Hook.Guards() {
		f.Resolution.Hook.Events = candidate.Everywhere()
	}
	f.FailClosed(f.Name, executor.Broken, protocol.FailSpawn, why, remedy)
	d.Add(report.New(report.DirNotAllowed, f.Path, 0, f.Name, why, remedy))
}
