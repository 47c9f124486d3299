package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
)

// folderName is the folder that makes a project, and the user layer's in home.
const folderName = ".acai"

// places are the projects that rule a working directory.
type places struct {
	// project is the real path of the folder whose .acai is the nearest, "" if
	// there is none: what `hookd trust` is about.
	project string

	// hooksRoot is where the project's hooks start. It is the project, or a
	// worktree of its repository that has no .acai of its own.
	hooksRoot string

	// root is where the agent's tools work: the nearest checkout or project.
	root string

	// trustedIn is the main checkout that project is a worktree of, "" if it is
	// none: what was allowed there is allowed here if it is the same.
	trustedIn string

	// outer are the projects further up that a person allowed something of, the
	// nearest first. Their hooks hold here, too.
	outer []string

	passed []passedOver
}

// passedOver is a folder with an .acai or a trust record that does not rule,
// although somebody may rely on it.
type passedOver struct {
	folder, why, remedy string
	recorded            bool // something of it was allowed: gates are refused
	outer               bool // a project above the one that rules, of which nobody allowed anything
	homeless            bool // it may be the user's layer, and nothing else says where that is: gates are refused
}

// A search finds the projects that rule a folder.
type search struct {
	home     string                    // real path; never a project, and the search ends there
	recorded func(project string) bool // whether anything of a folder was allowed
	checks   *ownership.Walk
}

// explicit are the places of a project that was named.
func (s *search) explicit(named, cwd string) (places, error) {
	dir := named
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cwd, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return places{}, fmt.Errorf("project %s: no such folder", named)
		}
		return places{}, fmt.Errorf("project %s: %w", named, err)
	}
	st, err := files.Stat(real)
	switch {
	case err != nil:
		return places{}, fmt.Errorf("project %s: %w", named, err)
	case !st.Mode.IsDir():
		return places{}, fmt.Errorf("project %s: not a folder", named)
	case real == s.home:
		return places{}, fmt.Errorf("project %s: the home folder is no project, its %s is the user layer", named, folderName)
	case !s.checks.MayOwn(real, st.UID):
		return places{}, fmt.Errorf("project %s: the folder belongs to another user (%d); the setting hooks.trust.folders of ~/%s names folders where that is all right", named, st.UID, folderName)
	}
	found, err := s.look(real, &places{})
	if err != nil {
		return places{}, fmt.Errorf("project %s: %w", named, err)
	}
	p, checkout := places{project: real}, ""
	if err := s.above(real, &p); err != nil {
		return places{}, fmt.Errorf("project %s: %w", named, err)
	}
	if _, err := files.Lstat(filepath.Join(real, folderName)); files.Missing(err) && !found && s.inMain(real) {
		p.project, checkout = mainCheckout(real), real
		if err := s.above(p.project, &p); err != nil {
			return places{}, fmt.Errorf("project %s: %w", named, err)
		}
	}
	p.complete(checkout)
	return p, nil
}

// from are the places of a working directory: the nearest folder with .acai, or
// with a record of one that vanished, so that deleting the folder does not switch
// its guards off; and the projects above it that have a record.
func (s *search) from(cwd string) (places, error) {
	dir, err := filepath.EvalSymlinks(cwd)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return places{}, fmt.Errorf("find the project of %s: %w", cwd, err)
	}
	var p places
	checkout := ""
	for ; !s.ends(dir); dir = filepath.Dir(dir) {
		stop, err := s.stops(dir, &p)
		if err != nil {
			return places{}, fmt.Errorf("find the project of %s: %w", cwd, err)
		}
		if stop {
			p.complete(checkout)
			return p, nil
		}
		if checkout == "" && isCheckout(dir) {
			checkout = dir
		}
		found, err := s.look(dir, &p)
		if err != nil {
			return places{}, fmt.Errorf("find the project of %s: %w", cwd, err)
		}
		if found {
			p.project = dir
			break
		}
		if s.inMain(dir) {
			p.project = mainCheckout(dir)
			if err := s.above(dir, &p); err != nil {
				return places{}, fmt.Errorf("find the project of %s: %w", cwd, err)
			}
			break
		}
	}
	if p.project != "" {
		if err := s.above(p.project, &p); err != nil {
			return places{}, fmt.Errorf("find the project of %s: %w", cwd, err)
		}
	}
	p.complete(checkout)
	return p, nil
}

// ends reports whether the search is over at a folder: at home and at the root.
func (s *search) ends(dir string) bool { return dir == s.home || filepath.Dir(dir) == dir }

// above finds the projects further up that a person allowed something of.
func (s *search) above(project string, p *places) error {
	for dir := filepath.Dir(project); !s.ends(dir); dir = filepath.Dir(dir) {
		if stop, err := s.stops(dir, p); err != nil || stop {
			return err
		}
		recorded := s.recorded(dir) || s.inMain(dir)
		there, err := s.look(dir, p)
		switch {
		case err != nil:
			return err
		case slices.Contains(p.outer, dir) || dir == p.project:
		case recorded && (there || s.recorded(dir)):
			p.outer = append(p.outer, dir)
		case there:
			p.passed = append(p.passed, passedOver{folder: dir, outer: true, why: "it lies above the project " + project + ", and nothing of it was ever allowed", remedy: "allow it there if it is to hold here too: hookd trust --project " + dir})
		}
	}
	return nil
}

// look reports whether a folder is a project: it has an .acai that only the user
// or root can have made, or a record.
func (s *search) look(dir string, p *places) (bool, error) {
	acai := filepath.Join(dir, folderName)
	recorded := s.recorded(dir) || s.inMain(dir)
	st, err := files.Stat(acai)
	switch {
	case files.Missing(err) || err == nil && !st.Mode.IsDir():
		return s.recorded(dir), nil
	case err != nil && !recorded:
		return false, err // taken for none, it would switch guards off
	case err != nil:
		return true, nil
	}
	if recorded {
		return true, nil // each load looks whose it is
	}
	if _, unsafe, err := s.checks.Follow(acai); err != nil || unsafe != "" {
		if err != nil {
			unsafe = err.Error()
		}
		p.passed = append(p.passed, passedOver{folder: dir, why: unsafe, remedy: ownRemedy})
		return false, nil
	}
	return true, nil
}

// stops reports whether the search must not go past a folder, because others
// could have put an .acai there: it is sticky, as /tmp is, or somebody else's.
// Above it nothing is looked for, but what was allowed there is not forgotten.
func (s *search) stops(dir string, p *places) (bool, error) {
	st, err := files.Stat(dir)
	if err != nil {
		return false, err
	}
	why, remedy := "", ownRemedy
	switch {
	case !s.checks.MayOwn(dir, st.UID):
		why = fmt.Sprintf("%s belongs to another user (%d)", dir, st.UID)
	case st.Mode&fs.ModeSticky != 0:
		why, remedy = dir+" is a shared folder (sticky)", "move the project to a folder of your own"
	default:
		return false, nil
	}
	for at := dir; !s.ends(at); at = filepath.Dir(at) {
		recorded := s.recorded(at)
		if _, err := files.Lstat(filepath.Join(at, folderName)); err == nil || recorded {
			p.passed = append(p.passed, passedOver{folder: at, why: why, remedy: remedy, recorded: recorded})
		}
	}
	return true, nil
}

const ownRemedy = "make it yours and writable by you only (chown, chmod go-w); if another owner or a group is all right there, name the folder in hooks.trust.folders of your own settings"

// complete settles where hooks and tools work. checkout is the nearest one to the
// working directory, "" if none was passed on the way to the project.
func (p *places) complete(checkout string) {
	if p.project == "" {
		return
	}
	p.root, p.hooksRoot = p.project, p.project
	p.trustedIn = mainCheckout(p.project)
	if checkout == "" || checkout == p.project {
		return
	}
	isWorktree := mainCheckout(checkout) == p.project
	if isWorktree || files.Within(p.project, checkout) {
		p.root = checkout
	}
	if isWorktree {
		p.hooksRoot = checkout
	}
}

// userHome is the folder of the user layer: $HOME, unless that may be somebody
// else's doing, else what the user database says; "" if neither is there. A HOME
// that lies in a checkout or a project would make its .acai the user's.
func userHome() (home string, refused *passedOver) {
	named := os.Getenv("HOME")
	if !filepath.IsAbs(named) {
		return databaseHome(), nil
	}
	why := suspiciousHome(named)
	if why == "" {
		return named, nil
	}
	listed := databaseHome()
	if listed != "" && sameFolder(listed, named) {
		return named, nil
	}
	passed := &passedOver{folder: named, why: "HOME is not obeyed: " + why, remedy: "set HOME to your own home folder"}
	if _, err := files.Lstat(filepath.Join(named, folderName)); listed == "" && !files.Missing(err) {
		passed.why += ", and the user database names no other home"
		passed.homeless = true
	}
	return listed, passed
}

func suspiciousHome(named string) string {
	real, err := filepath.EvalSymlinks(named)
	if err != nil {
		return withinOthers(filepath.Clean(named)) // what is not there yet may be there later
	}
	if st, err := files.Stat(real); err != nil || !ownership.User().MayOwn(real, st.UID) {
		return "it belongs to another user"
	}
	if isCheckout(real) {
		return "it is a checkout"
	}
	return withinOthers(real)
}

// withinOthers says in which checkout or project a folder lies, "" in none.
func withinOthers(folder string) string {
	for dir := files.RealPath(filepath.Dir(folder)); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if isCheckout(dir) {
			return "it lies in the checkout " + dir
		}
		if st, err := files.Stat(filepath.Join(dir, folderName)); err == nil && st.Mode.IsDir() {
			return "it lies in the project " + dir
		}
	}
	return ""
}

func sameFolder(a, b string) bool {
	one, errA := os.Stat(a)
	other, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(one, other)
}

// databaseHome is the user's home as the user database has it, "" if it does not.
func databaseHome() string {
	if u, err := hookenv.Account(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}
