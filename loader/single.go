package loader

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
)

// Single describes one hook file on its own, as it lies there, for trying it: a
// person who tries a file consents to run it, and no other. No trust record and
// no limit on the number of hooks applies; the settings do, and those of the
// hook's own layer describe it. The set of the snapshot holds just this hook.
func Single(ctx context.Context, opts Options, file string) (*Snapshot, error) {
	l, err := newLoader(opts)
	if err != nil {
		return nil, err
	}
	if file, err = filepath.Abs(file); err != nil {
		return nil, fmt.Errorf("working directory missing: %w", err)
	}
	r := report.NewReport()
	scopes := l.scopes()
	l.readDecisions(r, scopes)
	settings := l.readSettings(r, scopes, false)
	env := l.newEnvironment(r, scopes)
	env.hooksFolder = filepath.Dir(file)
	s := scopes[slices.IndexFunc(scopes, func(s *scope) bool { return s.layer == protocol.User })]
	if _, inside := insideProject(l.Project, file); inside {
		s = env.inner
	}
	s.always = true
	scan := &scanner{Report: r, env: env, hashAll: true}
	g := scan.begin(s, env.hooksFolder)
	g.folder = openHooks(g.dir, g.checks)
	if _, g.sides, _, err = listHooks(g.dir); err != nil {
		return nil, fmt.Errorf("look at %s: %w", g.dir, err)
	}
	f := g.file(filepath.Base(file))
	if f == nil {
		return nil, fmt.Errorf("%s is a folder, not a hook", file)
	}
	if s.hooksDir() == env.hooksFolder {
		g.describe(f)
	}
	scan.describeForTrust(f)
	decide := &decider{Report: r, env: env, settings: &settings}
	decided := decide.asItLies(f)
	answers := l.describer.describe(ctx, l.opts.Runtime, env, []allowed{{decided}})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.Refuse = nil
	p := &assembly{Report: r, opts: &l.opts, env: env, scopes: scopes, settings: settings}
	p.take([]*decidedHook{decided}, answers)
	return p.build(1), nil
}

// describe adds what the settings say of a hook file.
func (g *layerScan) describe(f *hookCandidate) {
	entries := g.scope.settings.Use
	if g.scope.waiting != nil {
		entries = g.scope.waiting.settings.Use
	}
	for i := range entries {
		d := &entries[i]
		if d.Name != nil && *d.Name == f.base && d.Command == nil {
			f.described = append(f.described, *d)
		}
	}
}
