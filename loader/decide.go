package loader

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// decide settles what of a hook may run: it compares the bundle of what is there
// now with what a person allowed. Nothing has been run so far.
func (p *load) decide(f *found) {
	if f.stands {
		return
	}
	if !f.scope.needsTrust() {
		if p.policy(f, string(f.layer)) {
			f.run, f.inPlace = p.original(f), true
			p.startsInside(f)
		}
		if f.scope.always && f.record != nil && f.record.Decision == records.Denied {
			f.stop(executor.Disabled, "denied with hookd untrust")
		}
		return
	}
	switch r := f.record; {
	case r != nil && r.Decision == records.Denied:
		f.stop(executor.Disabled, "denied with hookd untrust")
	case r != nil && f.Bundle != nil && f.Bundle.Hash == r.Hash && f.elsewhere() && f.runsUnwatched():
		f.fail(executor.Untrusted, protocol.FailUntrusted, "it runs code of the checkout that hookd does not watch, and "+f.scope.root+" is another checkout", f.scope.trustRemedy())
		p.Add(report.New(report.Untrusted, f.path, 0, f.name, "it is not run: "+f.why, f.scope.trustRemedy()))
	case r != nil && f.Bundle != nil && f.Bundle.Hash == r.Hash:
		if p.policy(f, string(protocol.Project)) {
			p.runCopy(f, false)
			p.holdPins(f)
		}
	case r == nil && f.allowedInMain() && !f.runsUnwatched():
		if p.policy(f, string(protocol.Project)) {
			p.runCopy(f, true)
		}
	case p.hashListed(f):
		if p.policy(f, string(protocol.Project)) {
			p.runCopy(f, true)
			p.holdPins(f)
		}
	case r != nil && !f.isThere():
		p.lost(f, executor.Gone, protocol.FailGone, report.Gone, "it was allowed here and is no longer there",
			f.goneRemedy())
	case r != nil:
		p.lost(f, executor.Changed, protocol.FailUntrusted, report.Changed, "it is not what was allowed any more"+p.difference(f), f.scope.trustRemedy())
	case p.inherited(f.scope, f.base) != nil && !f.allowedInMain():
		f.record = p.inherited(f.scope, f.base)
		p.lost(f, executor.Changed, protocol.FailUntrusted, report.Changed, "it is not what was allowed in "+f.scope.elsewhere.Project+p.difference(f), f.scope.trustRemedy())
	default:
		p.unknown(f)
	}
}

// elsewhere reports whether the hook starts in another checkout than the one in
// which a person allowed it.
func (f *found) elsewhere() bool { return f.scope.project != "" && f.scope.root != f.scope.project }

// allowedInMain reports whether the very same hook was allowed in the main
// checkout of which its project is a worktree.
func (f *found) allowedInMain() bool {
	if f.scope.elsewhere == nil || f.Bundle == nil || f.faulty() {
		return false
	}
	return f.scope.elsewhere.Allows(f.base, f.Bundle)
}

// runsUnwatched reports whether the hook runs code that its hash does not cover.
func (f *found) runsUnwatched() bool { return f.resolution.Hook.InPlace || len(f.Unwatched) > 0 }

// runOnce leaves out the hooks of an outer project that its worktree, in which the
// work is done, has as well: they run there.
func (p *load) runOnce() {
	if p.TrustedIn == "" {
		return
	}
	for _, f := range p.hooks {
		if f.scope.outer == 0 || f.scope.project != p.TrustedIn || f.Bundle == nil || f.run == "" {
			continue
		}
		same := func(inner *found) bool {
			return inner.scope == p.inner && inner.run != "" && inner.base == f.base && inner.Bundle != nil && inner.Bundle.Hash == f.Bundle.Hash
		}
		if slices.ContainsFunc(p.hooks, same) {
			f.stop(executor.Disabled, "it runs in the worktree "+p.inner.project)
		}
	}
}

// isThere reports whether a recorded hook still has a file or a settings entry.
func (f *found) isThere() bool {
	return f.IsCommand() || f.file != nil && f.file.content != nil || f.Bundle != nil
}

// describeForTrust resolves a hook from header, side file and the settings of
// its own layer, and seals its bundle.
func (p *load) describeForTrust(f *found) {
	if f.stands {
		return
	}
	defaults := p.projectDefaults(f)
	if f.layer != protocol.Project {
		defaults = schema.DefaultsFor(f.scope.own, f.layer, f.name, f.path)
		defaults.Budget = 0
	}
	f.resolution, _ = schema.Resolve(defaults, f.described...)
	e := bundle.EntryOf(f.resolution)
	e.Enabled = e.Enabled && f.scope.on() && (f.listed || f.layer != protocol.Project)
	e.Rejected = f.faulty()
	in := *p.placeOf(f.scope, e.InPlace)
	if f.file == nil && !f.IsCommand() || f.file != nil && f.file.content == nil || f.IsCommand() && len(f.Argv) == 0 {
		return
	}
	in.Spare = p.spareFor(f.scope, f.record)
	missing, err := f.SealHook(&in, f.base, f.path, f.sideFile, e)
	if errors.Is(err, bundle.ErrNotHashed) {
		f.Bundle = nil
		return // it is unknown, whatever it holds
	}
	if err != nil {
		if f.Problem == nil {
			f.Problem = &report.Problem{Why: "its files cannot be used: " + err.Error(), Remedy: "correct what files names"}
		}
		return
	}
	f.believeRecord()
	for _, pattern := range missing {
		p.Add(report.Newf(report.MissingHelper, f.path, f.name, "correct files, or put the helper there", "files: nothing answers to %q", pattern))
	}
}

// spareFor is what may be hashed of something of a layer; nil is all, since
// somebody asks for the hash: a record, a list of hashes, or a person.
func (p *load) spareFor(s *scope, r *records.Record) *int64 {
	if !s.needsTrust() || p.hashAll || r != nil || s.elsewhere != nil || len(p.settings.Hooks.Trust.Hashes) > 0 {
		return nil
	}
	return &p.spare
}

// placeKey tells the places of one load apart.
type placeKey struct {
	scope       *scope
	runsInPlace bool
}

// placeOf is where what a scope holds is looked for, made once in a load.
func (p *load) placeOf(s *scope, runsInPlace bool) *bundle.Builder {
	key := placeKey{s, runsInPlace}
	if in := p.bases[key]; in != nil {
		return in
	}
	in := &bundle.Builder{HooksDir: p.hooksDir(s), Hashes: p.files, See: p.Inputs.See, Finder: &interpreter.Finder{
		Root: s.root, SearchPath: p.searchPath(s),
		Pinned: s.needsTrust(), Foreign: s.needsTrust() && !runsInPlace, Starters: p.starters,
		Checks: p.checksFor(s.layer), RootOnly: s.layer == protocol.Managed,
	}}
	if s.layer != protocol.Project {
		in.Inside = func(path string) bool { return p.liesInside(s.layer, path) }
	}
	if in.Pinned {
		in.Fixed = slices.Concat(p.envConfig(s, nil).Path, hookenv.FixedPath)
	}
	p.bases[key] = in
	return in
}

// faulty reports whether any description of the hook is.
func (f *found) faulty() bool {
	for i := range f.described {
		if len(f.described[i].Faults) > 0 {
			return true
		}
	}
	return f.resolution.Rejected && schema.NamesEvents(f.described...)
}

// policy asks the managed layer's hooks.allow. A hook that it leaves out is
// absent, unless its bundle is listed there by hash.
func (p *load) policy(f *found, layer string) bool {
	allow := p.settings.Hooks.Allow
	if slices.Contains(allow, layer) || slices.Contains(allow, "hashes") && p.hashListed(f) {
		return true
	}
	f.stop(executor.Disabled, "the managed settings allow no hooks of the "+layer+" layer")
	p.Add(report.New(report.NotAllowed, f.path, 0, f.name, f.why, "have its hash listed in hooks.trust.hashes of the managed settings"))
	return false
}

// hashListed reports whether hooks.trust.hashes names the bundle or the project.
func (p *load) hashListed(f *found) bool {
	if len(p.settings.Hooks.Trust.Hashes) == 0 || f.Bundle == nil || f.faulty() {
		return false
	}
	hashes := p.settings.Hooks.Trust.Hashes
	return hashAmong(hashes, f.Bundle.Hash) || f.layer == protocol.Project && f.scope.outer == 0 && hashAmong(hashes, p.wholeHash())
}

// hashAmong reports whether a list of hashes has one, with or without the prefix.
func hashAmong(hashes []string, hash string) bool {
	return hash != "" && slices.ContainsFunc(hashes, func(h string) bool {
		return strings.TrimPrefix(h, bundle.HashPrefix) == strings.TrimPrefix(hash, bundle.HashPrefix)
	})
}

// wholeHash is projectHash, made once: every hook that nobody allowed asks for it.
func (p *load) wholeHash() string {
	if p.whole == "" {
		p.whole = p.projectHash()
	}
	return p.whole
}

// runCopy settles that the private copy runs. Where a hash alone allowed the
// hook, the copy is made now.
func (p *load) runCopy(f *found, make bool) {
	f.Bundle.Members = slices.Clone(f.Bundle.Members)
	if f.resolution.Hook.InPlace {
		if err := p.runView(f); err != nil {
			f.fail(executor.Changed, protocol.FailUntrusted, "what was allowed cannot be run: "+err.Error(), "allow it again with: "+f.scope.trustCommand())
			p.Add(report.New(report.Tampered, f.path, 0, f.name, f.why, "allow it again with: "+f.scope.trustCommand()))
		}
		return
	}
	f.folder = p.store.folder(f.Bundle.Hash)
	err := p.store.verify(f.Bundle)
	if err != nil && make {
		err = p.store.put(f.Bundle)
	}
	if err != nil {
		f.fail(executor.Changed, protocol.FailUntrusted, "its private copy cannot be relied on: "+err.Error(), "allow it again with: "+f.scope.trustCommand())
		p.Add(report.New(report.Tampered, p.store.folder(f.Bundle.Hash), 0, f.name, f.why, "allow it again with: "+f.scope.trustCommand()))
		return
	}
	if f.file != nil && f.file.unsafe != "" {
		p.Add(report.New(report.NotRunnable, f.path, 0, f.name, "only its private copy runs: "+f.file.unsafe, "make it yours and writable by you only: chown, chmod go-w"))
	}
	f.Problem = nil // of the original; the copy was seen to be whole
	if f.IsCommand() {
		f.Argv = f.Copied(f.Argv, p.store.folder(f.Bundle.Hash))
		f.run = f.Argv[0]
	} else {
		f.run = p.store.path(f.Bundle.Hash, f.base)
	}
	f.Problem = interpreter.MountTrouble(f.run, interpreter.NoExecCopy)
}

// original is what runs where it lies.
func (p *load) original(f *found) string {
	if f.IsCommand() {
		if len(f.Argv) == 0 {
			return ""
		}
		f.Problem = cmp.Or(f.Problem, interpreter.MountTrouble(f.Argv[0], interpreter.NoExecOriginal))
		return f.Argv[0]
	}
	if f.Problem == nil && p.liesInside(f.layer, f.path) {
		f.Problem = &report.Problem{Why: fmt.Sprintf("it lies in the project, which the %s layer cannot vouch for", f.layer), Remedy: "copy it out of the project, or have it be one of the project's hooks and allow it there"}
	}
	if f.Problem == nil && f.file != nil && f.file.unsafe != "" {
		f.Problem = &report.Problem{Why: f.file.unsafe, Remedy: "make it yours and writable by you only: chown, chmod go-w"}
	}
	f.Problem = cmp.Or(f.Problem, interpreter.MountTrouble(f.path, interpreter.NoExecOriginal))
	return f.path
}

// unknown settles a hook of the project that nobody decided about. One that says
// it guards something fails until a person decides; any other is absent.
func (p *load) unknown(f *found) {
	if f.faulty() || f.Problem != nil || !f.listed {
		return // settled as rejected or broken
	}
	h := &f.resolution.Hook
	why := "nobody allowed it yet"
	if h.Enabled && f.scope.on() && h.Guards() {
		if len(h.Events) == 0 {
			h.Events = everywhere()
		}
		f.fail(executor.Untrusted, protocol.FailUntrusted, why, f.scope.trustRemedy())
	} else {
		p.unasked = append(p.unasked, f.name)
	}
	f.stop(executor.Untrusted, why)
	p.Add(report.New(report.Untrusted, f.path, 0, f.name, "it is not run: "+why, f.scope.trustRemedy()))
}

// runView settles that a hook with inPlace runs from its view. Where links cannot
// be made the original runs.
func (p *load) runView(f *found) error {
	if runtime.GOOS == "windows" {
		f.run, f.inPlace = p.original(f), true
		return nil
	}
	b := *f.Bundle
	b.Members = slices.Clone(b.Members)
	if err := p.store.put(&b); err != nil {
		return err
	}
	folder, err := p.store.view(&b, p.Inputs.See)
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
