package loader

import (
	"context"
	"fmt"
	"path/filepath"
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
	p := l.newLoad()
	p.readDecisions()
	p.readSettings()
	p.single = filepath.Dir(file)
	s := p.user
	if _, inside := insideProject(l.Project, file); inside {
		s = p.inner
	}
	s.always = true
	g := &gathering{load: p, scope: s, layer: s.layer, dir: p.single, checks: p.checksFor(s.layer), byName: map[string]*found{}}
	g.folder = openHooks(g.dir, g.checks)
	if _, g.sides, _, err = listHooks(g.dir); err != nil {
		return nil, fmt.Errorf("look at %s: %w", g.dir, err)
	}
	f := g.file(filepath.Base(file))
	if f == nil {
		return nil, fmt.Errorf("%s is a folder, not a hook", file)
	}
	if s.hooksDir() == p.single {
		g.describe(f)
	}
	p.describeForTrust(f)
	f.run, f.inPlace, f.record = p.original(f), true, nil
	p.askPrograms(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p.Refuse = nil
	p.settle(f)
	return p.build(1), nil
}

// describe adds what the settings say of a hook file.
func (g *gathering) describe(f *found) {
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

// hooksDir is the folder that a scope's hook files lie in.
func (p *load) hooksDir(s *scope) string {
	if p.single != "" {
		return p.single
	}
	return s.hooksDir()
}
