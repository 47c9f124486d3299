package loader

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// A decider decides what of a load may run. It runs nothing itself.
type decider struct {
	*report.Report
	env       *environment
	settings  *schema.Settings // in force: hooks.allow and hooks.trust.hashes
	store     store
	wholeHash func() string // of all that the project brings along
	// answer is what a hook that was allowed said of itself when it was asked; nil if
	// nobody knows.
	answer func(f *hookCandidate, hash string) *schema.Described

	unasked          []string // names of hooks that are absent because nobody allowed them
	unaskedResources []string
}

// hooks decides about hooks.
func (d *decider) hooks(candidates []*hookCandidate) (decided []*decidedHook) {
	for _, c := range candidates {
		decided = append(decided, d.hook(c))
	}
	return decided
}

// hook settles what of a hook may run: it compares the bundle of what is there
// now with what a person allowed. Nothing has been run so far.
func (d *decider) hook(c *hookCandidate) *decidedHook {
	f := &decidedHook{hookCandidate: c}
	switch {
	case f.standIn != "":
		f.failClosed(f.name, executor.Untrusted, protocol.FailUntrusted, f.standIn, f.scope.trustRemedy())
	case f.scope.needsTrust():
		d.projectHook(f)
	default:
		d.ownHook(f)
	}
	return f
}

// ownHook decides about a hook of user or machine, or of a project that the user
// always trusts: it runs where it lies.
func (d *decider) ownHook(f *decidedHook) {
	if d.policy(&f.subject, &f.verdict, f.faulty()) {
		f.run, f.inPlace = d.original(f), true
		d.startsInside(f)
	}
	if f.scope.always && f.record != nil && f.record.Decision == records.Denied {
		f.disable(executor.Disabled, "denied with hookd untrust")
	}
}

// asItLies has a hook run where it lies, because a person tries it.
func (d *decider) asItLies(c *hookCandidate) *decidedHook {
	f := &decidedHook{hookCandidate: c}
	f.run, f.inPlace, f.record = d.original(f), true, nil
	return f
}

// projectHook decides about a hook of a project: what a person allowed runs from the
// private copy.
func (d *decider) projectHook(f *decidedHook) {
	switch r := f.record; {
	case r != nil && r.Decision == records.Denied:
		f.disable(executor.Disabled, "denied with hookd untrust")
	case f.asAllowed() && f.elsewhere() && f.runsUnwatched():
		f.failClosed(f.name, executor.Untrusted, protocol.FailUntrusted, "it runs code of the checkout that hookd does not watch, and "+f.scope.root+" is another checkout", f.scope.trustRemedy())
		d.Add(report.New(report.Untrusted, f.path, 0, f.name, "it is not run: "+f.why, f.scope.trustRemedy()))
	case f.asAllowed():
		if d.policy(&f.subject, &f.verdict, f.faulty()) {
			d.runCopy(f, false)
			d.holdPins(&f.subject, &f.verdict, f.resolution.Hook.InPlace)
		}
	case r == nil && f.allowedInMain() && !f.faulty() && !f.runsUnwatched():
		if d.policy(&f.subject, &f.verdict, f.faulty()) {
			d.runCopy(f, true)
		}
	case !f.faulty() && d.hashListed(&f.subject):
		if d.policy(&f.subject, &f.verdict, f.faulty()) {
			d.runCopy(f, true)
			d.holdPins(&f.subject, &f.verdict, f.resolution.Hook.InPlace)
		}
	case r != nil && !f.isThere():
		d.lost(f, executor.Gone, protocol.FailGone, report.Gone, "it was allowed here and is no longer there",
			f.goneRemedy())
	case r != nil:
		d.lost(f, executor.Changed, protocol.FailUntrusted, report.Changed, "it is not what was allowed any more"+difference(&f.subject), f.scope.trustRemedy())
	case f.scope.inherited(f.base) != nil && (f.faulty() || !f.allowedInMain()):
		f.record = f.scope.inherited(f.base)
		d.lost(f, executor.Changed, protocol.FailUntrusted, report.Changed, "it is not what was allowed in "+f.scope.elsewhere.Project+difference(&f.subject), f.scope.trustRemedy())
	default:
		d.unknown(f)
	}
}

// policy asks the managed layer's hooks.allow. A hook that it leaves out is
// absent, unless its bundle is listed there by hash.
func (d *decider) policy(f *subject, v *verdict, faulty bool) bool {
	allow, layer := d.settings.Hooks.Allow, string(f.scope.layer)
	if slices.Contains(allow, layer) || slices.Contains(allow, "hashes") && !faulty && d.hashListed(f) {
		return true
	}
	v.disable(executor.Disabled, "the managed settings allow no hooks of the "+layer+" layer")
	d.Add(report.New(report.NotAllowed, f.path, 0, f.name, v.why, "have its hash listed in hooks.trust.hashes of the managed settings"))
	return false
}

// hashListed reports whether hooks.trust.hashes names the bundle or the project.
func (d *decider) hashListed(f *subject) bool {
	hashes := d.settings.Hooks.Trust.Hashes
	if len(hashes) == 0 || f.Bundle == nil {
		return false
	}
	return hashAmong(hashes, f.Bundle.Hash) || f.scope.layer == protocol.Project && f.scope.outer == 0 && hashAmong(hashes, d.wholeHash())
}

// hashAmong reports whether a list of hashes has one, with or without the prefix.
func hashAmong(hashes []string, hash string) bool {
	return hash != "" && slices.ContainsFunc(hashes, func(h string) bool {
		return strings.TrimPrefix(h, bundle.HashPrefix) == strings.TrimPrefix(hash, bundle.HashPrefix)
	})
}

// runCopy settles that the private copy runs. Where a hash alone allowed the
// hook, the copy is made now.
func (d *decider) runCopy(f *decidedHook, make bool) {
	f.Bundle.Members = slices.Clone(f.Bundle.Members)
	if f.resolution.Hook.InPlace {
		if err := d.runView(f); err != nil {
			f.failClosed(f.name, executor.Changed, protocol.FailUntrusted, "what was allowed cannot be run: "+err.Error(), "allow it again with: "+f.scope.trustCommand())
			d.Add(report.New(report.Tampered, f.path, 0, f.name, f.why, "allow it again with: "+f.scope.trustCommand()))
		}
		return
	}
	f.folder = d.store.folder(f.Bundle.Hash)
	err := d.store.verify(f.Bundle)
	if err != nil && make {
		err = d.store.put(f.Bundle)
	}
	if err != nil {
		f.failClosed(f.name, executor.Changed, protocol.FailUntrusted, "its private copy cannot be relied on: "+err.Error(), "allow it again with: "+f.scope.trustCommand())
		d.Add(report.New(report.Tampered, d.store.folder(f.Bundle.Hash), 0, f.name, f.why, "allow it again with: "+f.scope.trustCommand()))
		return
	}
	if f.file != nil && f.file.unsafe != "" {
		d.Add(report.New(report.NotRunnable, f.path, 0, f.name, "only its private copy runs: "+f.file.unsafe, "make it yours and writable by you only: chown, chmod go-w"))
	}
	f.Problem = nil // of the original; the copy was seen to be whole
	if f.IsCommand() {
		f.Argv = f.Copied(f.Argv, d.store.folder(f.Bundle.Hash))
		f.run = f.Argv[0]
	} else {
		f.run = d.store.path(f.Bundle.Hash, f.base)
	}
	f.Problem = interpreter.MountTrouble(f.run, interpreter.NoExecCopy)
}

// original is what runs where it lies.
func (d *decider) original(f *decidedHook) string {
	if f.IsCommand() {
		if len(f.Argv) == 0 {
			return ""
		}
		f.Problem = cmp.Or(f.Problem, interpreter.MountTrouble(f.Argv[0], interpreter.NoExecOriginal))
		return f.Argv[0]
	}
	if f.Problem == nil && d.env.liesInside(f.scope.layer, f.path) {
		f.Problem = &report.Problem{Why: fmt.Sprintf("it lies in the project, which the %s layer cannot vouch for", f.scope.layer), Remedy: "copy it out of the project, or have it be one of the project's hooks and allow it there"}
	}
	if f.Problem == nil && f.file != nil && f.file.unsafe != "" {
		f.Problem = &report.Problem{Why: f.file.unsafe, Remedy: "make it yours and writable by you only: chown, chmod go-w"}
	}
	f.Problem = cmp.Or(f.Problem, interpreter.MountTrouble(f.path, interpreter.NoExecOriginal))
	return f.path
}

// unknown settles a hook of the project that nobody decided about. One that says
// it guards something fails until a person decides; any other is absent.
func (d *decider) unknown(f *decidedHook) {
	if f.faulty() || f.Problem != nil || !f.listed {
		return // settled as rejected or broken
	}
	h := &f.resolution.Hook
	why := "nobody allowed it yet"
	if h.Enabled && f.scope.on() && h.Guards() {
		if len(h.Events) == 0 {
			h.Events = everywhere()
		}
		f.failClosed(f.name, executor.Untrusted, protocol.FailUntrusted, why, f.scope.trustRemedy())
	} else {
		d.unasked = append(d.unasked, f.name)
	}
	f.disable(executor.Untrusted, why)
	d.Add(report.New(report.Untrusted, f.path, 0, f.name, "it is not run: "+why, f.scope.trustRemedy()))
}

// runView settles that a hook with inPlace runs from its view. Where links cannot
// be made the original runs.
func (d *decider) runView(f *decidedHook) error {
	if runtime.GOOS == "windows" {
		f.run, f.inPlace = d.original(f), true
		return nil
	}
	b := *f.Bundle
	b.Members = slices.Clone(b.Members)
	if err := d.store.put(&b); err != nil {
		return err
	}
	folder, err := d.store.view(&b, d.Inputs.See)
	if err != nil {
		return err
	}
	f.inPlace, f.folder = true, folder
	if f.IsCommand() {
		f.Argv = f.Copied(f.Argv, folder)
		f.run = f.Argv[0]
	} else {
		f.run = filepath.Join(folder, f.base)
	}
	return nil
}

// startsInside settles a hook of user or machine that asks to start in a project
// which nobody allowed: it does not run there.
func (d *decider) startsInside(f *decidedHook) {
	if !f.resolution.Hook.InProject || d.env.projectAllowed() {
		return
	}
	const why = "it asks to start in the project (dir: project), which nobody allowed"
	const remedy = "allow the project with hookd trust, or leave dir out"
	if len(f.resolution.Hook.Events) == 0 && f.resolution.Hook.Guards() {
		f.resolution.Hook.Events = everywhere()
	}
	f.failClosed(f.name, executor.Broken, protocol.FailSpawn, why, remedy)
	d.Add(report.New(report.DirNotAllowed, f.path, 0, f.name, why, remedy))
}
