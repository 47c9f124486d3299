package trust

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
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

// hook decides whether a hook may run: it compares the bundle of what is there now with
// what a person allowed. Nothing of it has been run so far.
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
	switch r := f.Record; {
	case r != nil && r.Decision == records.Denied:
		f.Disable(executor.Disabled, "denied with hookd untrust")
	case f.AsAllowed() && f.InOtherCheckout() && f.RunsUnwatched():
		f.FailClosed(f.Name, executor.Untrusted, protocol.FailUntrusted, "it runs code of the checkout that hookd does not watch, and "+f.Scope.Root+" is another checkout", f.Scope.TrustRemedy())
		d.Add(report.New(report.Untrusted, f.Path, 0, f.Name, "it is not run: "+f.Why, f.Scope.TrustRemedy()))
	case f.AsAllowed():
		if d.policy(&f.Subject, &f.Verdict, f.Faulty()) {
			d.runCopy(f, false)
			d.holdPins(&f.Subject, &f.Verdict, f.Resolution.Hook.InPlace)
		}
	case r == nil && f.AllowedInMain() && !f.Faulty() && !f.RunsUnwatched():
		if d.policy(&f.Subject, &f.Verdict, f.Faulty()) {
			d.runCopy(f, true)
		}
	case !f.Faulty() && d.hashListed(&f.Subject):
		if d.policy(&f.Subject, &f.Verdict, f.Faulty()) {
			d.runCopy(f, true)
			d.holdPins(&f.Subject, &f.Verdict, f.Resolution.Hook.InPlace)
		}
	case r != nil && !f.IsThere():
		d.failChanged(f, executor.Gone, protocol.FailGone, report.Gone, "it was allowed here and is no longer there",
			f.GoneRemedy())
	case r != nil:
		remedy := f.Scope.TrustRemedy()
		if f.Import != nil && f.Problem != nil { // the settings that name it cannot be read
			remedy = f.Problem.Remedy
		}
		d.failChanged(f, executor.Changed, protocol.FailUntrusted, report.Changed, "it is not what was allowed any more"+difference(&f.Subject), remedy)
	case f.Scope.Decided.Inherited(f.Base) != nil && (f.Faulty() || !f.AllowedInMain()):
		f.Record = f.Scope.Decided.Inherited(f.Base)
		d.failChanged(f, executor.Changed, protocol.FailUntrusted, report.Changed, "it is not what was allowed in "+f.Scope.Decided.InMain.Project+difference(&f.Subject), f.Scope.TrustRemedy())
	default:
		d.decideUnallowed(f)
	}
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

// hashAmong reports whether a list of hashes has one, with or without the prefix.
func hashAmong(hashes []string, hash string) bool {
	return hash != "" && slices.ContainsFunc(hashes, func(h string) bool {
		return strings.TrimPrefix(h, bundle.HashPrefix) == strings.TrimPrefix(hash, bundle.HashPrefix)
	})
}

// runCopy has the private copy run. Where a hash alone allowed the hook, the copy is
// made now.
func (d *Decider) runCopy(f *DecidedHook, make bool) {
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
func (d *Decider) decideUnallowed(f *DecidedHook) {
	if f.Faulty() || f.Problem != nil || !f.Listed {
		return // it ends as rejected or broken
	}
	h := &f.Resolution.Hook
	why := "nobody allowed it yet"
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
