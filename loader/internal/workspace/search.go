package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
)

// FolderName is the folder that makes a project, and the user layer's in home.
const FolderName = ".acai"

// A Workspace holds the projects that rule a working directory.
type Workspace struct {
	// Project is the real path of the folder whose .acai is the nearest, "" if
	// there is none: what `hookd trust` is about.
	Project string

	// HooksRoot is where the project's hooks start. It is the project, or a
	// worktree of its repository that has no .acai of its own.
	HooksRoot string

	// Root is where the agent's tools work: the nearest checkout or project.
	Root string

	// TrustedIn is the main checkout that project is a worktree of, "" if it is
	// none: what was allowed there is allowed here if it is the same.
	TrustedIn string

	// Outer are the projects further up that a person allowed something of, the
	// nearest first. Their hooks hold here, too.
	Outer []string

	Ignored []IgnoredFolder
}

// An IgnoredFolder has an .acai or a trust record and does not count, although somebody
// may rely on it.
type IgnoredFolder struct {
	Folder, Why, Remedy string
	Recorded            bool // something of it was allowed: gates are refused
	Outer               bool // a project above the one that rules, of which nobody allowed anything
	Homeless            bool // it may be the user's layer, and nothing else says where that is: gates are refused
}

// Inside returns the next project within one of the projects that rule, "" for the innermost.
func (p *Workspace) Inside(project string) string {
	inner := ""
	for _, at := range append([]string{p.Project}, p.Outer...) {
		if at == project {
			return inner
		}
		inner = at
	}
	return ""
}

// A Search finds the projects that rule a folder.
type Search struct {
	Home     string                    // real path; never a project, and the search ends there
	Recorded func(project string) bool // whether anything of a folder was allowed
	Checks   *ownership.Walk
}

// Find returns the workspace of a project that was named, or with "" that of a working
// directory.
func (s *Search) Find(named, cwd string) (p Workspace, err error) {
	if named != "" {
		p, err = s.Explicit(named, cwd)
	} else {
		p, err = s.From(cwd)
	}
	if p.Root == "" {
		p.Root = cwd
	}
	return p, err
}

// Explicit returns the workspace of a project that was named.
func (s *Search) Explicit(named, cwd string) (Workspace, error) {
	dir := named
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cwd, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Workspace{}, fmt.Errorf("project %s: no such folder", named)
		}
		return Workspace{}, fmt.Errorf("project %s: %w", named, err)
	}
	st, err := files.Stat(real)
	switch {
	case err != nil:
		return Workspace{}, fmt.Errorf("project %s: %w", named, err)
	case !st.Mode.IsDir():
		return Workspace{}, fmt.Errorf("project %s: not a folder", named)
	case real == s.Home:
		return Workspace{}, fmt.Errorf("project %s: the home folder is no project, its %s is the user layer", named, FolderName)
	case !s.Checks.MayOwn(real, st.UID):
		return Workspace{}, fmt.Errorf("project %s: the folder belongs to another user (%d); the setting hooks.trust.folders of ~/%s names folders where that is all right", named, st.UID, FolderName)
	}
	found, err := s.look(real, &Workspace{})
	if err != nil {
		return Workspace{}, fmt.Errorf("project %s: %w", named, err)
	}
	p, checkout := Workspace{Project: real}, ""
	if err := s.above(real, &p); err != nil {
		return Workspace{}, fmt.Errorf("project %s: %w", named, err)
	}
	if _, err := files.Lstat(filepath.Join(real, FolderName)); files.Missing(err) && !found && s.inMain(real) {
		p.Project, checkout = MainCheckout(real), real
		if err := s.above(p.Project, &p); err != nil {
			return Workspace{}, fmt.Errorf("project %s: %w", named, err)
		}
	}
	p.complete(checkout)
	return p, nil
}

// From returns the workspace of a working directory: the nearest folder with .acai, or
// with a record of one that vanished, so that deleting the folder does not switch
// its guards off; and the projects above it that have a record.
func (s *Search) From(cwd string) (Workspace, error) {
	dir, err := filepath.EvalSymlinks(cwd)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return Workspace{}, fmt.Errorf("find the project of %s: %w", cwd, err)
	}
	var p Workspace
	checkout := ""
	for ; !s.ends(dir); dir = filepath.Dir(dir) {
		stop, err := s.stops(dir, &p)
		if err != nil {
			return Workspace{}, fmt.Errorf("find the project of %s: %w", cwd, err)
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
			return Workspace{}, fmt.Errorf("find the project of %s: %w", cwd, err)
		}
		if found {
			p.Project = dir
			break
		}
		if s.inMain(dir) {
			p.Project = MainCheckout(dir)
			if err := s.above(dir, &p); err != nil {
				return Workspace{}, fmt.Errorf("find the project of %s: %w", cwd, err)
			}
			break
		}
	}
	if p.Project != "" {
		if err := s.above(p.Project, &p); err != nil {
			return Workspace{}, fmt.Errorf("find the project of %s: %w", cwd, err)
		}
	}
	p.complete(checkout)
	return p, nil
}

// Checkout returns the nearest checkout that a folder is in, "" if it is in none. It does not
// go past where the search for a project ends.
func (s *Search) Checkout(cwd string) string {
	for dir := cwd; !s.ends(dir); dir = filepath.Dir(dir) {
		if stop, err := s.stops(dir, &Workspace{}); err != nil || stop {
			return ""
		}
		if isCheckout(dir) {
			return dir
		}
	}
	return ""
}

// ends reports whether the search is over at a folder: at home and at the root.
func (s *Search) ends(dir string) bool { return dir == s.Home || filepath.Dir(dir) == dir }

// above finds the projects further up that a person allowed something of.
func (s *Search) above(project string, p *Workspace) error {
	for dir := filepath.Dir(project); !s.ends(dir); dir = filepath.Dir(dir) {
		if stop, err := s.stops(dir, p); err != nil || stop {
			return err
		}
		recorded := s.Recorded(dir) || s.inMain(dir)
		there, err := s.look(dir, p)
		switch {
		case err != nil:
			return err
		case slices.Contains(p.Outer, dir) || dir == p.Project:
		case recorded && (there || s.Recorded(dir)):
			p.Outer = append(p.Outer, dir)
		case there:
			p.Ignored = append(p.Ignored, IgnoredFolder{Folder: dir, Outer: true, Why: "it lies above the project " + project + ", and nothing of it was ever allowed", Remedy: "allow it there if it is to hold here too: hookd trust --project " + dir})
		}
	}
	return nil
}

// look reports whether a folder is a project: it has an .acai that only the user
// or root can have made, or a record.
func (s *Search) look(dir string, p *Workspace) (bool, error) {
	acai := filepath.Join(dir, FolderName)
	recorded := s.Recorded(dir) || s.inMain(dir)
	st, err := files.Stat(acai)
	switch {
	case files.Missing(err) || err == nil && !st.Mode.IsDir():
		return s.Recorded(dir), nil
	case err != nil && !recorded:
		return false, err // taken for none, it would switch guards off
	case err != nil:
		return true, nil
	}
	if recorded {
		return true, nil // each load looks whose it is
	}
	if _, unsafe, err := s.Checks.Follow(acai); err != nil || unsafe != "" {
		if err != nil {
			unsafe = err.Error()
		}
		p.Ignored = append(p.Ignored, IgnoredFolder{Folder: dir, Why: unsafe, Remedy: OwnRemedy})
		return false, nil
	}
	return true, nil
}

// stops reports whether the search must not go past a folder, because others
// could have put an .acai there: it is sticky, as /tmp is, or somebody else's.
// Above it nothing is looked for, but what was allowed there is not forgotten.
func (s *Search) stops(dir string, p *Workspace) (bool, error) {
	st, err := files.Stat(dir)
	if err != nil {
		return false, err
	}
	why, remedy := "", OwnRemedy
	switch {
	case !s.Checks.MayOwn(dir, st.UID):
		why = fmt.Sprintf("%s belongs to another user (%d)", dir, st.UID)
	case st.Mode&fs.ModeSticky != 0:
		why, remedy = dir+" is a shared folder (sticky)", "move the project to a folder of your own"
	default:
		return false, nil
	}
	for at := dir; !s.ends(at); at = filepath.Dir(at) {
		recorded := s.Recorded(at)
		if _, err := files.Lstat(filepath.Join(at, FolderName)); err == nil || recorded {
			p.Ignored = append(p.Ignored, IgnoredFolder{Folder: at, Why: why, Remedy: remedy, Recorded: recorded})
		}
	}
	return true, nil
}

// OwnRemedy says what to do about files that others could have written.
const OwnRemedy = "make it yours and writable by you only (chown, chmod go-w); if another owner or a group is all right there, name the folder in hooks.trust.folders of your own settings"

// complete fills in where hooks and tools work. checkout is the nearest one to the
// working directory, "" if none was passed on the way to the project.
func (p *Workspace) complete(checkout string) {
	if p.Project == "" {
		return
	}
	p.Root, p.HooksRoot = p.Project, p.Project
	p.TrustedIn = MainCheckout(p.Project)
	if checkout == "" || checkout == p.Project {
		return
	}
	isWorktree := MainCheckout(checkout) == p.Project
	if isWorktree || files.Within(p.Project, checkout) {
		p.Root = checkout
	}
	if isWorktree {
		p.HooksRoot = checkout
	}
}
