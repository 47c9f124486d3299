package loader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/executor"
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

	// Unasked are the names of the project's hooks that are absent because
	// nobody allowed them: the person is told once per project and process.
	Unasked []string
	// UnaskedMaterials are such skills, recipes and servers, as folder and name.
	UnaskedMaterials []string

	unsettled bool      // something looked half-written
	torn      bool      // something changed since it was looked at: parts may be from before the change, others from behind it
	recheck   time.Time // when to look again although nothing happens; zero = never
	inputs    inputs
}

// Info is what is known of a hook beyond what the executor needs.
type Info struct {
	*executor.Hook
	DescribedBy schema.Source // which source named the events, "" if none did
	Runs        string        // path of what is executed, "" if nothing is
	InPlace     bool          // Runs is the original, not a private copy
}

// loader keeps between loads what saves work: contents by stat, answers by hash.
type loader struct {
	opts    Options
	project string        // once found it stays: a session keeps the project it began with
	root    string        // working directory of hooks
	files   *contentCache // with what earlier processes read: see filesOf
	sure    *contentCache // what this process read itself
	answers *answers
	managed *answers // of the managed layer: see answersOf
	records records
	store   store
	good    lastGood

	aboutProject, aboutUser knownDecisions
	looks                   int // at how many inputs the last load looked

	mu       sync.Mutex
	inMemory map[protocol.Layer]goodSettings

	standing []schema.Finding // said with every load: how files are watched

	state   string
	stateBy error // why there is no state folder
}

func newLoader(opts Options) (*loader, error) {
	var err error
	if opts.Cwd == "" {
		if opts.Cwd, err = os.Getwd(); err != nil {
			return nil, fmt.Errorf("working directory missing: %w", err)
		}
	}
	if opts.Home == "" {
		opts.Home = homeFolder()
	}
	if opts.Pool == nil && opts.Runtime != nil {
		opts.Pool = executor.NewPool(opts.Runtime) // keeps nothing, since no set rules in it
	}
	l := &loader{opts: opts, files: newContentCache(), sure: newContentCache(), state: opts.StateDir}
	if l.state == "" {
		l.state, l.stateBy = executor.StateDir()
	}
	if l.state != "" {
		l.records = records{filepath.Join(l.state, "trust")}
	}
	if _, err := stat(opts.Cwd); missing(err) && opts.Project == "" {
		return nil, fmt.Errorf("working directory missing: %s", opts.Cwd)
	}
	l.project, err = FindProject(opts.Project, opts.Cwd, opts.Home, l.recorded)
	if err != nil {
		return nil, err
	}
	l.root = l.project
	if l.root == "" {
		l.root = opts.Cwd
	}
	if l.stateBy == nil && l.project != "" {
		l.stateBy = outside(l.project, l.state)
	}
	if l.stateBy != nil {
		l.state = ""
	}
	l.answers, l.managed = newAnswers("", nil), newAnswers("", nil)
	if l.state != "" {
		l.files.before = newReadings(l.state, l.project)
		l.answers = newAnswers(filepath.Join(l.state, "describe"), l.files.before)
		l.store = store{filepath.Join(l.state, "store"), l.sure, newCopies()}
		l.good = lastGood{filepath.Join(l.state, "lastgood")}
	}
	return l, nil
}

func (l *loader) recorded(project string) bool {
	return l.records.dir != "" && outside(project, l.state) == nil && l.records.recorded(project)
}

// outside makes sure that the state folder does not lie inside the project: a
// project must not bring along its own trust.
func outside(project, state string) error {
	real := state
	for {
		resolved, err := filepath.EvalSymlinks(real)
		if err == nil {
			real = resolved
			break
		}
		if parent := filepath.Dir(real); parent != real {
			real = parent
			continue
		}
		break
	}
	if within(project, real) || within(project, filepath.Clean(state)) {
		return fmt.Errorf("the state folder %s lies inside the project", state)
	}
	return nil
}

// load is one pass over everything.
type load struct {
	*loader
	now       time.Time
	settings  schema.Settings
	layers    map[protocol.Layer]*schema.LayerSettings
	own       map[protocol.Layer]*schema.Settings // effective for a layer's own hooks
	always    bool                                // hooks.trust.always names the project: its hooks run in place, unasked
	decisions *decisions
	global    *decisions // about the user layer
	hooks     []*found
	materials []*found
	findings  []schema.Finding
	refuse    *protocol.Failure
	managed   string         // hash of the managed layer
	saidValue jsontext.Value // what the project says of all its hooks
	saidMade  bool
	places    map[placeKey]*place
	whole     string // hash of all hooks of the project, "" before it is wanted
	single    string // folder of the one hook that is tried, "" for all hooks
	unsettled bool
	recheck   time.Time
	inputs    inputs
	unasked   []string

	unaskedMaterials []string
	paths            map[protocol.Layer]string
	envs             map[string][]string
	starters         map[starterKey]starter // programs found, by the words that name them
	startsIn         string                 // where the user's programs start, "" before it is wanted
	checkouts        map[string]bool        // folders, whether they hold a project or a checkout
}

// Load builds one snapshot. It fails only where the project cannot be told;
// everything else that is wrong is in the snapshot: as findings, as failures of
// single hooks, or as a set that refuses every gate.
func Load(ctx context.Context, opts Options) (*Snapshot, error) {
	l, err := newLoader(opts)
	if err != nil {
		return nil, err
	}
	s, err := l.settledSnapshot(ctx)
	l.files.save()
	return s, err
}

// filesOf is what may be said of a file without reading it. Of what an earlier
// process read nothing counts where a hash lets the file itself run, and nothing
// for the managed layer, which the user could say something about otherwise.
func (p *load) filesOf(layer protocol.Layer, runsInPlace bool) *contentCache {
	byHash := slices.Contains(p.settings.Hooks.Allow, "hashes")
	if layer == protocol.Managed || runsInPlace && (layer == protocol.Project || byHash) {
		return p.sure
	}
	return p.files
}

// patience is how long a load waits for half-written files (section 6.1), and
// for files to rest while it looks at them.
const patience = 500 * time.Millisecond

// settledSnapshot loads again while something looks half-written, or changed
// meanwhile, for as long as patience lasts.
func (l *loader) settledSnapshot(ctx context.Context) (*Snapshot, error) {
	for deadline := time.Now().Add(patience); ; {
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
	return &load{
		loader: l, now: time.Now(), inputs: make(inputs, l.looks),
		layers: map[protocol.Layer]*schema.LayerSettings{}, own: map[protocol.Layer]*schema.Settings{},
		paths: map[protocol.Layer]string{}, envs: map[string][]string{}, starters: map[starterKey]starter{}, places: map[placeKey]*place{},
	}
}

func (l *loader) snapshot(ctx context.Context, generation int64) (*Snapshot, error) {
	p := l.newLoad()
	p.add(l.standing...)
	p.readDecisions()
	p.readSettings()
	p.always = p.trustedAlways()
	look := p.lookAtCopies()
	for _, layer := range rising {
		p.gather(layer)
		p.gatherMaterials(layer)
	}
	for _, f := range p.hooks {
		p.describeForTrust(f)
	}
	p.noteCopies(look)
	for _, f := range p.hooks {
		p.decide(f)
	}
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
	s.torn = s.inputs.changed()
	l.looks = len(s.inputs)
	return s, nil
}

func (p *load) add(findings ...schema.Finding) { p.findings = append(p.findings, findings...) }

// refuseAll refuses every gate: something that could hold a guard cannot be
// read. The first reason stands.
func (p *load) refuseAll(detail, remedy string) {
	if p.refuse == nil {
		p.refuse = &protocol.Failure{Kind: protocol.FailSettings, Detail: detail, Remedy: remedy}
	}
}

// readDecisions reads what a person decided about this project. Without the
// records nobody can tell a new hook from a changed guard.
func (p *load) readDecisions() {
	p.decisions, p.global = &decisions{V: 1, Project: p.project}, &decisions{V: 1}
	if p.stateBy != nil {
		if p.project != "" {
			p.add(newFinding(CodeStateFolder, p.opts.StateDir, 0, "", p.stateBy.Error(), "set XDG_STATE_HOME to a folder of yours outside of the project"))
			p.refuseAll("trust records cannot be read: "+p.stateBy.Error(), "set XDG_STATE_HOME to a folder of yours outside of the project")
		}
		return
	}
	for _, about := range []struct {
		project string
		known   *knownDecisions
		into    **decisions
	}{{p.project, &p.aboutProject, &p.decisions}, {"", &p.aboutUser, &p.global}} {
		file := p.records.file(about.project)
		p.inputs.see(file)
		d, err := p.records.again(about.project, about.known)
		if err != nil {
			p.add(newFinding(CodeBadRecords, file, 0, "", err.Error(), "restore the file, or remove it and allow the hooks again"))
			p.refuseAll(err.Error(), "look at "+file)
			continue
		}
		*about.into = d
	}
}

// trustedAlways reports whether the user's settings name a folder above the
// project as one where nothing is asked.
func (p *load) trustedAlways() bool {
	for _, prefix := range p.settings.Hooks.TrustAlways {
		real, err := filepath.EvalSymlinks(p.expand(prefix))
		if err == nil && p.project != "" && within(real, p.project) {
			return true
		}
	}
	return false
}

// expand turns ~/x and ./x into absolute paths.
func (p *load) expand(path string) string {
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		return filepath.Join(p.opts.Home, strings.TrimPrefix(path, "~"))
	case !filepath.IsAbs(path):
		return filepath.Join(p.root, path)
	}
	return filepath.Clean(path)
}

// layerDir is where a layer's hooks folder and settings lie; "" if the layer
// does not exist.
func (p *load) layerDir(layer protocol.Layer) string {
	switch {
	case layer == protocol.Project && p.project != "":
		return filepath.Join(p.project, folderName)
	case layer == protocol.User && p.opts.Home != "":
		return filepath.Join(p.opts.Home, folderName)
	case layer == protocol.Managed:
		return p.managedDir()
	}
	return ""
}
