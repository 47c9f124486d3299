package trust

import (
	"cmp"
	"slices"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// Resources decides about skills, recipes, servers and instructions.
func (d *Decider) Resources(found []*candidate.Resource) (decided []*DecidedResource) {
	for _, c := range found {
		decided = append(decided, d.resource(c))
	}
	return decided
}

// resource decides whether a resource may be used. None of them guards anything, so one
// that may not be used is left out, and reported.
func (d *Decider) resource(c *candidate.Resource) *DecidedResource {
	f := &DecidedResource{Resource: c}
	d.Env.NoteUnwatched(&f.Subject, false, false)
	d.Env.ReportUnwatched(&f.Subject, "", 0)
	found := foundResource(f.Resource)
	recorded := d.recordedResource(&f.Subject)
	if f.IsNested() { // what lists the project by its hash does not cover it
		recorded.Listed = found.Hash != "" && hashAmong(d.Settings.Hooks.Trust.Hashes, found.Hash)
	}
	decision := Decide(found, recorded)
	if f.Scope.NeedsTrust() && f.Unstarted && found.is(f.Record) {
		f.Problem = nil // what starts it is pinned
	}
	switch {
	case f.Problem != nil:
		f.Disable(executor.Broken, f.Problem.Why)
		d.Add(report.New(report.ResourceUnusable, f.Path, f.Line, f.Name, f.Problem.Why, f.Problem.Remedy))
	case decision.State == StateDenied:
		f.Disable(executor.Disabled, decision.Why)
	case !f.Scope.NeedsTrust():
		f.Run = cmp.Or(f.Real, f.Path)
	case decision.State == StateGone:
		f.Disable(executor.Gone, decision.Why)
	case f.Waits: // and so does the server, whatever was decided about it
		d.waits(f, "nobody allowed the project's settings yet")
	case decision.MayRun():
		if d.policy(&f.Subject, &f.Verdict, false) {
			d.useCopy(f)
		}
	case decision.State == StateChanged:
		f.Disable(executor.Changed, decision.Why+difference(&f.Subject))
		d.Add(report.New(report.ResourceUntrusted, f.Path, f.Line, f.Name, "it is not used: "+f.Why, f.Scope.TrustRemedy()))
	default:
		d.waits(f, decision.Why)
	}
	if f.Unset != nil && f.Run != "" {
		f.Disable(executor.Broken, f.Unset.Why)
		d.Add(report.New(report.ResourceUnusable, f.Path, f.Line, f.Name, f.Unset.Why, f.Unset.Remedy))
	}
	return f
}

// foundResource returns what was found of a resource. One without a bundle is only what
// a record left of it.
func foundResource(f *candidate.Resource) Found {
	return Found{Hash: f.Hash(), There: f.Bundle != nil, Unwatched: len(f.Unwatched) > 0}
}

// recordedResource returns what was decided about a resource before. One that was allowed
// in the main checkout and is another here is new: none of them guards anything.
func (d *Decider) recordedResource(f *candidate.Subject) Recorded {
	r := d.recorded(f)
	r.MainRules = true
	return r
}

// waits leaves a resource out until a person decides.
func (d *Decider) waits(f *DecidedResource, why string) {
	f.Disable(executor.Untrusted, why)
	d.UnallowedResources = append(d.UnallowedResources, f.Name)
	d.Add(report.New(report.ResourceUntrusted, f.Path, f.Line, f.Name, "it is not used: "+f.Why, f.Scope.TrustRemedy()))
}

// useCopy has the private copy be used.
func (d *Decider) useCopy(f *DecidedResource) {
	f.Bundle.Members = slices.Clone(f.Bundle.Members)
	if err := d.Store.Put(f.Bundle); err != nil {
		f.Disable(executor.Changed, "its private copy cannot be relied on: "+err.Error())
		d.Add(report.New(report.Tampered, d.Store.Folder(f.Bundle.Hash), 0, f.Name, f.Why, "allow it again with: "+f.Scope.TrustCommand()))
		return
	}
	switch f.Kind {
	case records.KindServer:
		f.Argv = f.Copied(f.Argv, d.Store.Folder(f.Bundle.Hash))
		f.Run = f.Path
		d.holdPins(&f.Subject, &f.Verdict, false)
	default:
		f.Run = d.Store.path(f.Bundle.Hash, f.File())
	}
}
