package loader

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/discover"
	"github.com/hookd-dev/hookd/loader/internal/environment"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/imports"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Load builds one snapshot. It fails only if the project cannot be found;
// everything else that is wrong is in the snapshot: as findings, as failures of
// single hooks, or as a set that refuses every gate.
func Load(ctx context.Context, opts Options) (*Snapshot, error) {
	l, err := newLoader(opts)
	if err != nil {
		return nil, err
	}
	return l.stableSnapshot(ctx)
}

// stableSnapshot loads again while something looks half-written, or changed during the
// load: once more however long the first took, and for as long as report.StableTimeout lasts.
func (l *loader) stableSnapshot(ctx context.Context) (*Snapshot, error) {
	deadline := time.Now().Add(report.StableTimeout)
	for again := false; ; again = true {
		s, err := l.snapshot(ctx, 1)
		if err != nil || !s.halfWritten && !s.changedDuringLoad || again && !time.Now().Before(deadline) {
			return s, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// snapshot goes through the steps of one load. Each step takes the values that earlier
// ones returned; its findings go into the report.
func (l *loader) snapshot(ctx context.Context, generation int64) (*Snapshot, error) {
	defer l.files.UseContext(ctx)()
	r := report.NewReport()
	r.Add(l.permanentFindings...)
	for _, o := range l.Ignored {
		trust.ReportIgnored(r, o)
	}
	scopes := l.scopes()
	l.readDecisions(r, scopes)
	settings := l.readSettings(r, scopes, false)
	env := l.newEnvironment(r, scopes)

	scan := &discover.Scanner{Report: r, Env: env, Hashes: settings.Hooks.Trust.Hashes, HashBudget: bundle.UnallowedHashLimit}
	// The hash of the whole project covers the instructions.
	scan.Instructions, scan.Cwd = l.opts.Instructions || len(scan.Hashes) > 0, files.RealPath(l.opts.Cwd)
	var candidates []*candidate.Hook
	var resources []*candidate.Resource
	for _, s := range scopes {
		candidates = append(candidates, scan.Hooks(s)...)
		resources = append(resources, scan.Resources(s)...)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}

	decide := &trust.Decider{
		Report: r, Env: env, Settings: &settings, Store: l.store,
		WholeHash: sync.OnceValue(func() string { return trust.ProjectHash(env.Inner, candidates, resources) }),
		Answer:    func(f *candidate.Hook, hash string) *schema.Described { return l.describer.Known(f, hash, r.Now) },
	}
	decided, decidedResources := decide.Hooks(candidates), decide.Resources(resources)
	l.runOnce(env.Inner, decided)
	importOnce(decided)
	var may []trust.Allowed
	for _, f := range decided {
		if a, ok := f.MayRun(); ok {
			may = append(may, a)
		}
	}
	answers := l.describer.Describe(ctx, l.opts.Runtime, env, may)
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}

	p := &assembly{Report: r, opts: &l.opts, env: env, scopes: scopes, settings: settings, resources: decidedResources, unallowed: decide.Unallowed, unallowedResources: decide.UnallowedResources}
	p.take(decided, answers)
	s := p.build(generation)
	s.changedDuringLoad = s.inputs.Changed()
	return s, nil
}

// readSettings decides which settings of the scopes are in force, and returns them
// merged. asAllowed has the project's count as if a person had allowed them.
func (l *loader) readSettings(r *report.Report, scopes []*candidate.Scope, asAllowed bool) schema.Settings {
	ownership.CheckManaged(r, l.opts.managedDir(), l.opts.Managed)
	t := &trust.Settings{
		Report: r, Scopes: scopes, Home: l.opts.Home, Exempt: l.exempt, Good: l.good, AsAllowed: asAllowed, ProjectHash: l.hashIfAllowed,
	}
	return t.Merge()
}

// readDecisions reads what a person decided about each project and about the
// user layer. Without the records nobody can tell a new hook from a changed guard.
func (l *loader) readDecisions(r *report.Report, scopes []*candidate.Scope) {
	if l.stateErr != nil {
		if l.Project != "" {
			r.Add(report.New(report.StateFolder, l.opts.StateDir, 0, "", l.stateErr.Error(), "set XDG_STATE_HOME to a folder of yours outside of the project"))
			r.RefuseAll("trust records cannot be read: "+l.stateErr.Error(), "set XDG_STATE_HOME to a folder of yours outside of the project")
		}
		return
	}
	for _, s := range scopes {
		if s.Layer == protocol.Managed {
			continue
		}
		if d := l.decisionsAbout(r, s.Project); d != nil {
			s.Decided.Here = d
		}
		if s.Layer != protocol.Project {
			continue
		}
		main := l.TrustedIn
		if s.Outer > 0 {
			main = workspace.MainCheckout(s.Project)
		}
		if main != "" {
			s.Decided.InMain = l.decisionsAbout(r, main)
			s.Decided.MainRules = slices.Contains(l.Outer, main)
		}
	}
}

// decisionsAbout reads the decisions about one project, nil if they cannot be
// read.
func (l *loader) decisionsAbout(r *report.Report, project string) *records.Decisions {
	file := l.records.File(project)
	r.Inputs.See(file)
	d, err := l.records.Load(project)
	if err != nil {
		r.Add(report.New(report.BadRecords, file, 0, "", err.Error(), "restore the file, or remove it and allow the hooks again"))
		r.RefuseAll(err.Error(), "look at "+file)
		return nil
	}
	return d
}

// runOnce disables the hooks of a main checkout that its worktree, in which the work is
// done, has as well: they run in the worktree.
func (l *loader) runOnce(inner *candidate.Scope, hooks []*trust.DecidedHook) {
	if l.TrustedIn == "" {
		return
	}
	for _, f := range hooks {
		if f.Scope.Outer == 0 || f.Scope.Project != l.TrustedIn || f.Bundle == nil || f.Run == "" {
			continue
		}
		same := func(other *trust.DecidedHook) bool {
			return other.Scope == inner && other.Run != "" && other.Base == f.Base && other.Bundle != nil && other.Bundle.Hash == f.Bundle.Hash
		}
		if slices.ContainsFunc(hooks, same) {
			f.Disable(executor.Disabled, "it runs in the worktree "+inner.Project)
		}
	}
}

// importOnce disables the hooks of a project that stand in the user's settings of the same
// agent as well, where that agent runs such a hook once: the user's runs.
func importOnce(hooks []*trust.DecidedHook) {
	for _, f := range hooks {
		if f.Import == nil || f.Scope.Layer != protocol.Project || f.Run == "" || !imports.Find(f.Import.Agent).RunsOnce() {
			continue
		}
		same := func(other *trust.DecidedHook) bool {
			return other.Import != nil && other.Import.Agent == f.Import.Agent && other.Scope.Layer == protocol.User && other.Run != "" &&
				reflect.DeepEqual(asWritten(f), asWritten(other))
		}
		if slices.ContainsFunc(hooks, same) {
			f.Disable(executor.Disabled, "the same hook of the user's settings runs")
		}
	}
}

// asWritten is the entry of an imported hook as its agent's settings have it.
func asWritten(f *trust.DecidedHook) schema.Entry {
	e := f.Described[0].Entry
	e.Name, e.Dir, e.InPlace, e.Description = nil, nil, nil, nil
	return e
}

func (l *loader) newEnvironment(r *report.Report, scopes []*candidate.Scope) *environment.Environment {
	e := environment.Environment{
		Report: r, Workspace: l.Workspace, Home: l.opts.Home, State: l.state, Starter: environment.Starter{Hookd: l.opts.Program, Environ: l.opts.Environ}, ManagedLayer: l.opts.Managed, Exempt: l.exempt, Hashes: l.files,
	}
	if scopes[0].Layer == protocol.Project {
		e.Inner = scopes[0]
	}
	return environment.New(e)
}

// survey finds and describes every hook of the project without running any.
func (l *loader) survey(ctx context.Context) (*trust.Survey, error) {
	defer l.files.UseContext(ctx)()
	r := report.NewReport()
	scopes := l.scopes()
	l.readDecisions(r, scopes)
	if r.Refuse != nil {
		return nil, r.Refuse
	}
	l.readSettings(r, scopes, true)
	env := l.newEnvironment(r, scopes)
	p := &trust.Survey{Report: r, Env: env, Store: l.store, TrustedIn: l.TrustedIn, Inner: env.Inner}
	if p.Inner != nil {
		scan := &discover.Scanner{Report: r, Env: env, HashAll: true, Instructions: true, Cwd: files.RealPath(l.opts.Cwd)}
		p.Hooks, p.Resources = scan.Hooks(p.Inner), scan.Resources(p.Inner)
	}
	return p, ctx.Err()
}

// hashIfAllowed is the hash of the whole project as it would be once it is allowed
// with these settings, which is what hookd trust --print shows. Settings that were
// swapped meanwhile have none.
func (l *loader) hashIfAllowed(b *bundle.Bundle) string {
	p, err := l.survey(context.Background())
	if err != nil || p.Inner == nil || p.Inner.File.Bundle == nil || p.Inner.File.Bundle.Hash != b.Hash {
		return ""
	}
	return trust.ProjectHash(p.Inner, p.Hooks, p.Resources)
}

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
	scan := &discover.Scanner{Report: r, Env: env, HashAll: true, Instructions: true, Cwd: files.RealPath(l.opts.Cwd)}
	g := scan.Begin(s, env.HooksFolder)
	g.Folder = discover.OpenHooks(g.Dir, g.Checks)
	names, err := discover.ListHooks(g.Dir)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", g.Dir, err)
	}
	g.Sides = names.Sides
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
