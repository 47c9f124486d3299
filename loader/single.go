package loader

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/discover"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/trust"
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
	env.HooksFolder = filepath.Dir(file)
	s := scopes[slices.IndexFunc(scopes, func(s *candidate.Scope) bool { return s.Layer == protocol.User })]
	if _, inside := insideProject(l.Project, file); inside {
		s = env.Inner
	}
	s.Decided.Always = true
	scan := &discover.Scanner{Report: r, Env: env, HashAll: true}
	g := scan.Begin(s, env.HooksFolder)
	g.Folder = discover.OpenHooks(g.Dir, g.Checks)
	if _, g.Sides, _, err = discover.ListHooks(g.Dir); err != nil {
		return nil, fmt.Errorf("look at %s: %w", g.Dir, err)
	}
	f := g.File(filepath.Base(file))
	if f == nil {
		return nil, fmt.Errorf("%s is a folder, not a hook", file)
	}
	if s.HooksDir() == env.HooksFolder {
		g.Describe(f)
	}
	scan.DescribeForTrust(f)
	decide := &trust.Decider{Report: r, Env: env, Settings: &settings}
	decided := decide.AsItLies(f)
	may, _ := decided.MayRun()
	answers := l.describer.Describe(ctx, l.opts.Runtime, env, []trust.Allowed{may})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.Refuse = nil
	p := &assembly{Report: r, opts: &l.opts, env: env, scopes: scopes, settings: settings}
	p.take([]*trust.DecidedHook{decided}, answers)
	return p.build(1), nil
}

// insideProject returns an argument's path relative to the project, if it is a
// path that lies there. A word without a slash or a dot is taken for a word:
// npm run lint does not mean a file named lint.
func insideProject(root, arg string) (name string, inside bool) {
	if root == "" || !strings.ContainsAny(arg, "/.") || strings.ContainsRune(arg, 0) {
		return "", false
	}
	where := arg
	if !filepath.IsAbs(where) {
		where = filepath.Join(root, where)
	}
	where = filepath.Clean(where)
	if where == root || !files.Within(root, where) {
		return "", false
	}
	rel, err := filepath.Rel(root, where)
	return filepath.ToSlash(rel), err == nil
}
