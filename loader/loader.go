package loader

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/discover"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// loader keeps between loads what saves work: contents by stat, answers by hash.
type loader struct {
	workspace.Workspace // once found it stays: a session keeps the project it began with

	opts      Options
	exempt    []ownership.Exemption
	files     *files.HashCache
	describer *discover.Describer
	records   records.Folder
	store     trust.Store
	good      *settings.LastGood

	permanentFindings []schema.Finding // said with every load: how files are watched

	state    string
	stateErr error // why there is no state folder
}

func newLoader(opts Options) (*loader, error) {
	var err error
	if opts.Cwd == "" {
		if opts.Cwd, err = os.Getwd(); err != nil {
			return nil, fmt.Errorf("working directory missing: %w", err)
		}
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	var badHome *workspace.IgnoredFolder
	if opts.Home == "" {
		opts.Home, badHome = workspace.UserHome()
	}
	if opts.Pool == nil && opts.Runtime != nil {
		opts.Pool = exechook.NewPool(opts.Runtime) // keeps nothing, since no set is active in it
	}
	l := &loader{opts: opts, files: files.NewHashCache(), state: opts.StateDir}
	if l.state == "" {
		l.state, l.stateErr = executor.StateDir()
	}
	if l.state != "" {
		l.records = records.Folder{Dir: filepath.Join(l.state, "trust")}
	}
	if _, err := files.Stat(opts.Cwd); files.Missing(err) && opts.Project == "" {
		return nil, fmt.Errorf("working directory missing: %s", opts.Cwd)
	}
	l.readExemptions()
	if l.Workspace, err = l.findPlaces(); err != nil {
		return nil, err
	}
	if badHome != nil {
		l.Ignored = append(l.Ignored, *badHome)
	}
	if l.stateErr == nil {
		l.stateErr = l.Workspace.CheckStateFolder(l.state, l.opts.Home)
	}
	if l.stateErr != nil {
		l.state = ""
	}
	l.describer = &discover.Describer{Answers: discover.NewDescribeCache(""), Managed: discover.NewDescribeCache("")}
	l.good = settings.NewLastGood("", nil)
	if l.state != "" {
		l.describer.Answers = discover.NewDescribeCache(filepath.Join(l.state, "describe"))
		l.store = trust.Store{Dir: filepath.Join(l.state, "store"), Files: l.files}
		l.good = settings.NewLastGood(filepath.Join(l.state, "lastgood"), trust.WriteInPrivateFolder)
	}
	return l, nil
}

// findPlaces finds the projects that rule.
func (l *loader) findPlaces() (p workspace.Workspace, err error) {
	s := l.search()
	if p, err = s.Find(l.opts.Project, l.opts.Cwd); err != nil {
		return p, err
	}
	for _, folder := range l.opts.Also {
		if err := s.Also(&p, folder); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (l *loader) search() *workspace.Search {
	return &workspace.Search{Home: files.RealPath(l.opts.Home), Recorded: l.recorded, Checks: l.walk()}
}

// walk looks at whose files are, with what the settings of user and machine lift.
func (l *loader) walk() *ownership.Walk { return ownership.User(l.exempt...) }

// readExemptions reads what the settings of machine and user lift, each file under
// the checks that the one before it left.
func (l *loader) readExemptions() {
	scopes := l.scopes() // no project is known yet
	user, machine := scopes[0], scopes[1]
	r := report.NewReport()
	folders := func(s *candidate.Scope) []schema.TrustedFolder {
		if s.Dir == "" {
			return nil
		}
		t := &trust.Settings{Report: r, Exempt: l.exempt}
		folders, _ := t.ReadLayer(s).Settings.Values["hooks.trust.folders"].V.([]schema.TrustedFolder)
		return folders
	}
	var lifted []schema.TrustedFolder
	if ownership.CheckManaged(r, machine.Dir, l.opts.Managed); r.Refuse == nil {
		lifted = folders(machine)
		l.exempt, _ = ownership.Exemptions(lifted, l.opts.Home)
	}
	lifted = append(lifted, folders(user)...)
	l.exempt, l.permanentFindings = ownership.Exemptions(lifted, l.opts.Home)
}

func (l *loader) recorded(project string) bool {
	return l.records.Dir != "" && workspace.StateOutside(project, l.state) == nil && l.records.Recorded(project)
}

// scopes lists the scopes of a load, the lowest first.
func (l *loader) scopes() (scopes []*candidate.Scope) {
	add := func(s *candidate.Scope) {
		if s.Decided.Here == nil {
			s.Decided.Here = &records.Decisions{V: 1, Project: s.Project}
		}
		scopes = append(scopes, s)
	}
	if l.Project != "" {
		add(&candidate.Scope{Layer: protocol.Project, Project: l.Project, Dir: filepath.Join(l.Project, workspace.FolderName), Root: l.HooksRoot})
		for i, outer := range l.Outer {
			add(&candidate.Scope{
				Layer: protocol.Project, Project: outer, Dir: filepath.Join(outer, workspace.FolderName), Root: outer,
				Outer: i + 1, Prefix: candidate.PrefixOf(l.Project, outer),
			})
		}
	}
	user := &candidate.Scope{Layer: protocol.User, Root: l.Root}
	if l.opts.Home != "" {
		user.Dir = filepath.Join(l.opts.Home, workspace.FolderName)
	}
	add(user)
	add(&candidate.Scope{Layer: protocol.Managed, Root: l.Root, Dir: l.opts.managedDir()})
	return scopes
}
