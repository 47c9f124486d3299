package loader

import (
	"slices"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// resources decides about skills, recipes and servers.
func (d *decider) resources(found []*resource) (decided []*decidedResource) {
	for _, c := range found {
		decided = append(decided, d.resource(c))
	}
	return decided
}

// resource settles whether one may be used. Nothing of it guards anything,
// so that what may not be used is absent, and said to be.
func (d *decider) resource(c *resource) *decidedResource {
	f := &decidedResource{resource: c}
	d.env.seeUnwatched(&f.subject, false, false)
	d.env.tellUnwatched(&f.subject, "", 0)
	trusted := f.scope.needsTrust() && f.Unstarted && f.asAllowed()
	if trusted {
		f.Problem = nil // what starts it is pinned
	}
	switch r := f.record; {
	case f.Problem != nil:
		f.disable(executor.Broken, f.Problem.Why)
		d.Add(report.New(report.MaterialUnusable, f.path, f.line, f.name, f.Problem.Why, f.Problem.Remedy))
	case r != nil && r.Decision == records.Denied:
		f.disable(executor.Disabled, "denied with hookd untrust")
	case !f.scope.needsTrust():
		f.run = f.path
	case f.Bundle == nil && r != nil: // only a record is left of it
		f.disable(executor.Gone, "it was allowed here and is no longer there")
	case f.waits: // and so does the server, whatever was decided about it
		f.disable(executor.Untrusted, "nobody allowed the project's settings yet")
		d.unaskedResources = append(d.unaskedResources, f.name)
		d.Add(report.New(report.MaterialUntrusted, f.path, f.line, f.name, "it is not used: "+f.why, f.scope.trustRemedy()))
	case f.asAllowed(), r == nil && f.allowedInMain() && len(f.Unwatched) == 0, d.hashListed(&f.subject):
		if d.policy(&f.subject, &f.verdict, false) {
			d.useCopy(f)
		}
	case r != nil:
		f.disable(executor.Changed, "it is not what was allowed any more"+difference(&f.subject))
		d.Add(report.New(report.MaterialUntrusted, f.path, f.line, f.name, "it is not used: "+f.why, f.scope.trustRemedy()))
	default:
		f.disable(executor.Untrusted, "nobody allowed it yet")
		d.unaskedResources = append(d.unaskedResources, f.name)
		d.Add(report.New(report.MaterialUntrusted, f.path, f.line, f.name, "it is not used: "+f.why, f.scope.trustRemedy()))
	}
	if f.unset != nil && f.run != "" {
		f.disable(executor.Broken, f.unset.Why)
		d.Add(report.New(report.MaterialUnusable, f.path, f.line, f.name, f.unset.Why, f.unset.Remedy))
	}
	return f
}

// useCopy settles that the private copy is used.
func (d *decider) useCopy(f *decidedResource) {
	f.Bundle.Members = slices.Clone(f.Bundle.Members)
	if err := d.store.put(f.Bundle); err != nil {
		f.disable(executor.Changed, "its private copy cannot be relied on: "+err.Error())
		d.Add(report.New(report.Tampered, d.store.folder(f.Bundle.Hash), 0, f.name, f.why, "allow it again with: "+f.scope.trustCommand()))
		return
	}
	switch f.kind {
	case records.KindServer:
		f.Argv = f.Copied(f.Argv, d.store.folder(f.Bundle.Hash))
		f.run = f.path
		d.holdPins(&f.subject, &f.verdict, false)
	default:
		f.run = d.store.path(f.Bundle.Hash, f.base)
	}
}
