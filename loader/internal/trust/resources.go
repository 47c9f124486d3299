package trust

import (
	"slices"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// Resources decides about skills, recipes and servers.
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
	trusted := f.Scope.NeedsTrust() && f.Unstarted && f.AsAllowed()
	if trusted {
		f.Problem = nil // what starts it is pinned
	}
	switch r := f.Record; {
	case f.Problem != nil:
		f.Disable(executor.Broken, f.Problem.Why)
		d.Add(report.New(report.ResourceUnusable, f.Path, f.Line, f.Name, f.Problem.Why, f.Problem.Remedy))
	case r != nil && r.Decision == records.Denied:
		f.Disable(executor.Disabled, "denied with hookd untrust")
	case !f.Scope.NeedsTrust():
		f.Run = f.Path
	case f.Bundle == nil && r != nil: // only a record is left of it
		f.Disable(executor.Gone, "it was allowed here and is no longer there")
	case f.Waits: // and so does the server, whatever was decided about it
		f.Disable(executor.Untrusted, "nobody allowed the project's settings yet")
		d.UnallowedResources = append(d.UnallowedResources, f.Name)
		d.Add(report.New(report.ResourceUntrusted, f.Path, f.Line, f.Name, "it is not used: "+f.Why, f.Scope.TrustRemedy()))
	case f.AsAllowed(), r == nil && f.AllowedInMain() && len(f.Unwatched) == 0, d.hashListed(&f.Subject):
		if d.policy(&f.Subject, &f.Verdict, false) {
			d.useCopy(f)
		}
	case r != nil:
		f.Disable(executor.Changed, "it is not what was allowed any more"+difference(&f.Subject))
		d.Add(report.New(report.ResourceUntrusted, f.Path, f.Line, f.Name, "it is not used: "+f.Why, f.Scope.TrustRemedy()))
	default:
		f.Disable(executor.Untrusted, "nobody allowed it yet")
		d.UnallowedResources = append(d.UnallowedResources, f.Name)
		d.Add(report.New(report.ResourceUntrusted, f.Path, f.Line, f.Name, "it is not used: "+f.Why, f.Scope.TrustRemedy()))
	}
	if f.Unset != nil && f.Run != "" {
		f.Disable(executor.Broken, f.Unset.Why)
		d.Add(report.New(report.ResourceUnusable, f.Path, f.Line, f.Name, f.Unset.Why, f.Unset.Remedy))
	}
	return f
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
		f.Run = d.Store.path(f.Bundle.Hash, f.Base)
	}
}
