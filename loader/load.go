package loader

import (
	"context"
	"path/filepath"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Snapshot is what one load found: the set of hooks that rules from now on, and
// everything a person should know about it.
type Snapshot struct {
	Set      *executor.Set
	Project  string // real path of the project, "" without one
	Hooks    []Info // in running order, as in Set
	Findings []schema.Finding

	// Materials are the skills, recipes and MCP servers of all layers. The
	// settings of Set hold the servers that may be started, and no other.
	Materials []Material

	// Settings are the settings files of all layers, the lowest first.
	Settings []SettingsInfo

	// Unasked are the names of the project's hooks that are absent because
	// nobody allowed them: the person is told once per project and process.
	Unasked []string
	// UnaskedMaterials are such skills, recipes and servers, as folder and name.
	UnaskedMaterials []string

	unsettled bool      // something looked half-written
	torn      bool      // something changed since it was looked at: parts may be from before the change, others from behind it
	recheck   time.Time // when to look again although nothing happens; zero = never
	inputs    files.Inputs
}

// Info is what is known of a hook beyond what the executor needs.
type Info struct {
	*executor.Hook
	DescribedBy schema.Source // which source named the events, "" if none did
	Runs        string        // path of what is executed, "" if nothing is
	InPlace     bool          // Runs is the original, not a private copy

	project string // whose decisions are about it, "" for the user layer
	base    string // its name there
}

// SettingsInfo is what is known of one settings file.
type SettingsInfo struct {
	Layer protocol.Layer
	File  string
	State SettingsState
	Hash  string // of the file as it is: what a person would allow; "" if nothing needs that
}

// SettingsState says whether a settings file counts.
type SettingsState string

const (
	SettingsInForce    SettingsState = "in-force"
	SettingsUntrusted  SettingsState = "untrusted"  // nothing of it has an effect
	SettingsChanged    SettingsState = "changed"    // the copy that was allowed is in force
	SettingsGone       SettingsState = "gone"       // so it is
	SettingsDenied     SettingsState = "denied"     // nothing of it has an effect
	SettingsUnreadable SettingsState = "unreadable" // the last good ones are in force, or every gate is refused
)

// load is one pass over everything.
type load struct {
	*loader
	*report.Report
	settings  schema.Settings
	scopes    []*scope // the lowest first
	inner     *scope   // the innermost project, nil without one
	user      *scope
	machine   *scope
	asAllowed bool // the project's settings count as if they were allowed: to show what a person decides about
	hooks     []*found
	materials []*found
	managed   string // hash of the managed layer
	bases     map[placeKey]*bundle.Builder
	whole     string // hash of all hooks of the project, "" before it is wanted
	spare     int64  // bytes that may still be hashed without need
	hashAll   bool   // every hash is needed: a person looks
	single    string // folder of the one hook that is tried, "" for all hooks
	unasked   []string

	unaskedMaterials []string
	paths            map[*scope]string
	envs             map[envKey][]string
	starters         map[interpreter.StarterKey]interpreter.Starter // interpreters found, by the line that names them
	startsIn         string                                         // where the user's programs start, "" before it is wanted
	checkouts        map[string]bool                                // folders, whether they hold a project or a checkout
}

// Load builds one snapshot. It fails only where the project cannot be told;
// everything else that is wrong is in the snapshot: as findings, as failures of
// single hooks, or as a set that refuses every gate.
func Load(ctx context.Context, opts Options) (*Snapshot, error) {
	l, err := newLoader(opts)
	if err != nil {
		return nil, err
	}
	return l.settledSnapshot(ctx)
}

// settledSnapshot loads again while something looks half-written, or changed
// meanwhile, for as long as report.SettleTimeout lasts.
func (l *loader) settledSnapshot(ctx context.Context) (*Snapshot, error) {
	for deadline := time.Now().Add(report.SettleTimeout); ; {
		s, err := l.snapshot(ctx, 1)
		if err != nil || !s.unsettled && !s.torn || !time.Now().Before(deadline) {
			return s, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(25 * time.Millisecond):
		}
	}
}

func (l *loader) newLoad() *load {
	p := &load{
		loader: l, Report: report.NewReport(), spare: bundle.Unasked,
		paths: map[*scope]string{}, envs: map[envKey][]string{}, starters: map[interpreter.StarterKey]interpreter.Starter{}, bases: map[placeKey]*bundle.Builder{},
	}
	p.makeScopes()
	return p
}

func (l *loader) snapshot(ctx context.Context, generation int64) (*Snapshot, error) {
	p := l.newLoad()
	defer l.files.Until(ctx)()
	p.Add(l.standing...)
	for _, o := range p.Passed {
		p.passOver(o)
	}
	p.readDecisions()
	p.readSettings()
	for _, s := range p.scopes {
		p.gather(s)
		p.gatherMaterials(s)
		p.guardWaiting(s)
	}
	for _, f := range p.hooks {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p.describeForTrust(f)
	}
	for _, f := range p.hooks {
		p.decide(f)
	}
	p.runOnce()
	for _, f := range p.materials {
		p.decideMaterial(f)
	}
	p.settleServers()
	p.askPrograms(ctx)
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	for _, f := range p.hooks {
		p.settle(f)
	}
	p.requireNames()
	p.bound()
	s := p.build(generation)
	s.torn = s.inputs.Changed()
	return s, nil
}

// readDecisions reads what a person decided about each project and about the
// user layer. Without the records nobody can tell a new hook from a changed guard.
func (p *load) readDecisions() {
	if p.stateBy != nil {
		if p.Project != "" {
			p.Add(report.New(report.StateFolder, p.opts.StateDir, 0, "", p.stateBy.Error(), "set XDG_STATE_HOME to a folder of yours outside of the project"))
			p.RefuseAll("trust records cannot be read: "+p.stateBy.Error(), "set XDG_STATE_HOME to a folder of yours outside of the project")
		}
		return
	}
	for _, s := range p.scopes {
		if s.layer == protocol.Managed {
			continue
		}
		if d := p.decisionsAbout(s.project); d != nil {
			s.decisions = d
		}
		if s.layer != protocol.Project {
			continue
		}
		main := p.TrustedIn
		if s.outer > 0 {
			main = workspace.MainCheckout(s.project)
		}
		if main != "" {
			s.elsewhere = p.decisionsAbout(main)
		}
	}
}

// decisionsAbout reads the decisions about one project, nil if they cannot be
// read.
func (p *load) decisionsAbout(project string) *records.Decisions {
	file := p.records.File(project)
	p.Inputs.See(file)
	d, err := p.records.Load(project)
	if err != nil {
		p.Add(report.New(report.BadRecords, file, 0, "", err.Error(), "restore the file, or remove it and allow the hooks again"))
		p.RefuseAll(err.Error(), "look at "+file)
		return nil
	}
	return d
}

// trustedAlways reports whether the user's settings name a folder above a
// project as one where nothing is asked.
func (p *load) trustedAlways(project string) bool {
	prefixes, _ := p.user.settings.Values["hooks.trust.always"].V.([]string)
	for _, prefix := range prefixes {
		real, err := filepath.EvalSymlinks(files.ExpandHome(prefix, p.opts.Home))
		if err == nil && project != "" && files.Within(real, project) {
			return true
		}
	}
	return false
}

// expand turns ~/x and ./x into absolute paths.
func (p *load) expand(path string, s *scope) string {
	if path = files.ExpandHome(path, p.opts.Home); !filepath.IsAbs(path) {
		return filepath.Join(s.root, path)
	}
	return path
}
