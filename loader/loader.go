package loader

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/schema"
)

// loader keeps between loads what saves work: contents by stat, answers by hash.
type loader struct {
	opts    Options
	places  // once found they stay: a session keeps the project it began with
	lifted  []ownership.Exemption
	files   *files.HashCache
	answers *answers
	managed *answers // of the managed layer: see answersOf
	records records
	store   store
	good    *settings.LastGood

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
	var badHome *passedOver
	if opts.Home == "" {
		opts.Home, badHome = userHome()
	}
	if opts.Pool == nil && opts.Runtime != nil {
		opts.Pool = exechook.NewPool(opts.Runtime) // keeps nothing, since no set is active in it
	}
	l := &loader{opts: opts, files: files.NewHashCache(), state: opts.StateDir}
	if l.state == "" {
		l.state, l.stateBy = executor.StateDir()
	}
	if l.state != "" {
		l.records = records{filepath.Join(l.state, "trust")}
	}
	if _, err := files.Stat(opts.Cwd); files.Missing(err) && opts.Project == "" {
		return nil, fmt.Errorf("working directory missing: %s", opts.Cwd)
	}
	l.liftChecks()
	if l.places, err = l.findPlaces(); err != nil {
		return nil, err
	}
	if badHome != nil {
		l.passed = append(l.passed, *badHome)
	}
	if l.stateBy == nil {
		l.stateBy = l.stateOutside()
	}
	if l.stateBy != nil {
		l.state = ""
	}
	l.answers, l.managed = newAnswers(""), newAnswers("")
	l.good = settings.NewLastGood("", nil)
	if l.state != "" {
		l.answers = newAnswers(filepath.Join(l.state, "describe"))
		l.store = store{filepath.Join(l.state, "store"), l.files}
		l.good = settings.NewLastGood(filepath.Join(l.state, "lastgood"), writeInPrivateFolder)
	}
	return l, nil
}

// findPlaces finds the projects that rule.
func (l *loader) findPlaces() (p places, err error) {
	s := &search{home: files.RealPath(l.opts.Home), recorded: l.recorded, checks: l.walk()}
	if l.opts.Project != "" {
		p, err = s.explicit(l.opts.Project, l.opts.Cwd)
	} else {
		p, err = s.from(l.opts.Cwd)
	}
	if p.root == "" {
		p.root = l.opts.Cwd
	}
	return p, err
}

// walk looks at whose files are, with what the settings of user and machine lift.
func (l *loader) walk() *ownership.Walk { return ownership.User(l.lifted...) }

// liftChecks reads what the settings of machine and user lift, each file under
// the checks that the one before it left.
func (l *loader) liftChecks() {
	p := l.newLoad()
	var folders []schema.TrustedFolder
	if p.checkManaged(); p.refuse == nil {
		folders = p.trustedFolders(p.machine)
		l.lifted, _ = ownership.Exemptions(folders, l.opts.Home)
	}
	folders = append(folders, p.trustedFolders(p.user)...)
	l.lifted, l.standing = ownership.Exemptions(folders, l.opts.Home)
}

// trustedFolders are those that a layer's settings name, as far as they can be
// read now.
func (p *load) trustedFolders(s *scope) []schema.TrustedFolder {
	if s.dir == "" {
		return nil
	}
	folders, _ := p.readLayer(s).Settings.Values["hooks.trust.folders"].V.([]schema.TrustedFolder)
	return folders
}

func (l *loader) recorded(project string) bool {
	return l.records.dir != "" && outside(project, l.state) == nil && l.records.recorded(project)
}

// stateOutside makes sure that the state folder lies in no project or checkout, that
// of the working directory or another: it could bring trust along, of any project.
func (l *loader) stateOutside() error {
	grounds := append([]string{l.project, l.root}, l.outer...)
	home := files.RealPath(l.opts.Home)
	for _, from := range []string{files.RealPath(l.root), files.RealPath(l.state)} {
		for dir := from; dir != home && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
			if _, err := files.Lstat(filepath.Join(dir, folderName)); err == nil || isCheckout(dir) {
				grounds = append(grounds, dir)
			}
		}
	}
	for _, ground := range grounds {
		if ground == "" || ground == l.root && l.project == "" && !isCheckout(ground) {
			continue
		}
		if err := outside(ground, l.state); err != nil {
			return err
		}
	}
	return nil
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
	if files.Within(project, real) || files.Within(project, filepath.Clean(state)) {
		return fmt.Errorf("the state folder %s lies inside the project %s", state, project)
	}
	return nil
}
