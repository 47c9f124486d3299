package protect

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/protocol/realpath"
)

// Scope are the places that another agent's tools must not write: the hook settings of
// all agents by name, wherever they are, those of the machine, git's folders, and what
// the caller names. Unlike [Find] it does not look through the project, so that it can be
// asked for every call. A Scope is for one call, so that a link made a moment ago counts.
type Scope struct {
	Project string   // absolute path, "" without one
	Cwd     string   // absolute path
	Home    string   // absolute path, "" if it is not known
	Own     []string // absolute paths of hookd's own files and folders, protected with all below

	look sync.Once
	real string // real path of the project
	here []Place
}

// Place is a protected file or folder that exists.
type Place struct {
	Path string // absolute
	Real string // links followed
	What string // what it holds, in words
	Git  bool   // it may be read, and git itself writes there
}

// What is said of a place that is no agent's.
const (
	ownFiles = "hookd's own files"
	gitFiles = "what git runs"
)

func settingsOf(title string) string { return "hooks or hook settings of " + title }

// Places returns the places that exist where an agent looks for them: in the project, in
// the folders from it down to the working directory, and in the home folder; those of
// the machine and hookd's own besides.
func (s *Scope) Places() []Place {
	s.look.Do(func() {
		s.real = s.Project
		if real, err := realpath.Of(s.Project); err == nil && s.Project != "" {
			s.real = real
		}
		for _, root := range s.roots() {
			s.lookIn(root)
		}
		for _, machine := range machinePlaces {
			for path := range strings.SplitSeq(machine.paths, "|") {
				if _, err := os.Lstat(path); err == nil {
					s.add(path, settingsOf(machine.title), false)
				}
			}
		}
		for _, path := range s.Own {
			if _, err := os.Lstat(path); err == nil {
				s.add(path, ownFiles, false)
			}
		}
	})
	return s.here
}

// lookIn adds the places that begin in a folder. The folder is read once, by whatever
// case its names are in.
func (s *Scope) lookIn(root string) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return
	}
	names := make(map[string][]string, len(entries))
	for _, entry := range entries {
		folded := Fold(entry.Name())
		names[folded] = append(names[folded], entry.Name())
	}
	for _, place := range hookPlaces() { // none begins with a pattern
		for _, name := range names[place.parts[0]] {
			for _, path := range existing(filepath.Join(root, name), place.parts[1:]) {
				s.add(path, settingsOf(place.title), false)
			}
		}
	}
	for _, name := range names[gitFolder[0][0]] {
		for _, part := range gitPlaces(filepath.Join(root, name)) {
			s.add(part, gitFiles, true)
		}
	}
}

func (s *Scope) add(path, what string, git bool) {
	path = filepath.Clean(path)
	if slices.ContainsFunc(s.here, func(p Place) bool { return p.Path == path }) {
		return
	}
	real, err := realpath.Of(path)
	if err != nil {
		real = path
	}
	s.here = append(s.here, Place{path, real, what, git})
}

func (s *Scope) roots() (roots []string) {
	add := func(dir string) {
		if dir != "" && !slices.Contains(roots, dir) {
			roots = append(roots, dir)
		}
	}
	add(s.Project)
	for dir := s.Cwd; dir != ""; dir = filepath.Dir(dir) {
		add(dir)
		if s.Project == "" || dir == s.Project || !IsInside(dir, s.Project) {
			break
		}
	}
	add(s.Home)
	return roots
}

// existing returns the paths below a folder that match the parts of a place.
func existing(folder string, parts []string) []string {
	if len(parts) == 0 {
		return []string{folder}
	}
	if !strings.ContainsAny(parts[0], "*?[") {
		path := filepath.Join(folder, parts[0])
		if _, err := os.Lstat(path); err == nil {
			return existing(path, parts[1:])
		}
		if len(parts[0]) == 0 || parts[0][0] == '.' {
			return nil // in another case it is found by its name alone
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > maxInFolder {
		return nil
	}
	var found []string
	for _, entry := range entries {
		if begins([]string{Fold(entry.Name())}, parts[:1]) {
			found = append(found, existing(filepath.Join(folder, entry.Name()), parts[1:])...)
		}
	}
	return found
}

// maxInFolder bounds the entries of a folder that are looked at.
const maxInFolder = 5000

// Write returns what a file holds that is to be written at an absolute path, nil if that
// is not protected. The path counts as written and with its links followed; a file with
// more than one name counts by all of them.
func (s *Scope) Write(path string) *Place {
	path = filepath.Clean(path)
	real, err := realpath.Of(path)
	if err != nil {
		real = path
	}
	for _, at := range []string{path, real} {
		if p := s.named(at); p != nil {
			return p
		}
	}
	for i := range s.Places() {
		if p := &s.here[i]; IsInside(path, p.Path) || IsInside(real, p.Real) {
			return p
		}
	}
	return s.sameFile(real)
}

// Named returns the place that an absolute path is by its names alone, without a look at
// the disk.
func (s *Scope) Named(path string) *Place { return s.named(filepath.Clean(path)) }

// named returns the place that a path is by its names alone.
func (s *Scope) named(path string) *Place {
	for _, machine := range machinePlaces {
		for folder := range strings.SplitSeq(machine.paths, "|") {
			if IsInside(path, folder) {
				return &Place{path, path, settingsOf(machine.title), false}
			}
		}
	}
	for _, own := range s.Own {
		if IsInside(path, own) {
			return &Place{path, path, ownFiles, false}
		}
	}
	parts := splitFolded(filepath.ToSlash(s.relative(path)))
	for at := range parts {
		for _, place := range hookPlaces() {
			if begins(parts[at:], place.parts) {
				return &Place{path, path, settingsOf(place.title), false}
			}
		}
		if begins(parts[at:], gitFolder[0]) {
			return &Place{path, path, gitFiles, true}
		}
	}
	return nil
}

// relative returns a path inside the project relative to it: a project may lie in a
// folder that has the name of a place.
func (s *Scope) relative(path string) string {
	for _, root := range []string{s.Project, s.real} {
		if root != "" && IsInside(path, root) {
			relative, _ := filepath.Rel(root, path)
			return relative
		}
	}
	return path
}

// sameFile returns the place that holds another name (hard link) of a file.
func (s *Scope) sameFile(path string) *Place {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	id, names, known := realpath.Identify(info)
	if !known || names < 2 {
		return nil
	}
	left := maxInFolder
	for i := range s.Places() {
		found := false
		_ = filepath.WalkDir(s.here[i].Real, func(_ string, entry fs.DirEntry, err error) error {
			if left--; left < 0 {
				return fs.SkipAll
			}
			if err != nil || !entry.Type().IsRegular() {
				return nil
			}
			if info, err := entry.Info(); err == nil {
				if other, _, known := realpath.Identify(info); known && other == id {
					found = true
					return fs.SkipAll
				}
			}
			return nil
		})
		if found {
			return &s.here[i]
		}
	}
	return nil
}

// Tree returns what is protected at a path or below it, nil if nothing is: what goes when
// the folder is removed or renamed.
func (s *Scope) Tree(path string) *Place {
	if p := s.Write(path); p != nil {
		return p
	}
	path = filepath.Clean(path)
	real, err := realpath.Of(path)
	if err != nil {
		real = path
	}
	for i := range s.Places() {
		if p := &s.here[i]; IsInside(p.Path, path) || IsInside(p.Path, real) || IsInside(p.Real, real) {
			return p
		}
	}
	return nil
}

// Becomes returns what would be protected below a path if a folder took its place: .claude,
// of which settings.json would be a part. Folders that hold much else do not count.
func (s *Scope) Becomes(path string) *Place {
	parts := splitFolded(filepath.ToSlash(s.relative(filepath.Clean(path))))
	last := parts[len(parts)-1]
	if len(last) < 2 || last[0] != '.' || slices.Contains(sharedFolders, last) {
		return nil
	}
	for _, place := range hookPlaces() {
		if len(place.parts) > 1 && place.parts[0] == last {
			return &Place{path, path, settingsOf(place.title), false}
		}
	}
	return nil
}

// sharedFolders begin the path of a place and belong to no agent.
var sharedFolders = []string{".config", ".local", ".github", ".agents", ".vscode"}

// Mentions returns what a text speaks of: the name of a folder or file of the table, ""
// if there is none. It is for texts that cannot be read any better.
func Mentions(text string) string {
	folded := strings.ToLower(text)
	for _, place := range hookPlaces() {
		first := place.parts[0]
		if slices.Contains(sharedFolders, first) || first == "documents" {
			first = strings.Join(place.parts, "/")
		}
		if strings.Contains(folded, first) {
			return first
		}
	}
	return ""
}

// May reports whether a path of which parts are not known, or are patterns, can turn out to
// be a place. sure says that it is one whatever they turn out to be. At least one part must
// be a plain name: what a pattern alone stands for shows on the disk only.
func May(parts []string, plain, unknown func(part string) bool, matches func(part, pattern string) bool) (sure, may bool) {
	for at := range parts {
		for _, place := range hookPlaces() {
			all, some, known := true, true, false
			for i, pattern := range place.parts {
				switch {
				case at+i >= len(parts):
					all, some = false, false
				case unknown(parts[at+i]):
					all = false
				case matches(parts[at+i], pattern):
					known = known || plain(parts[at+i])
				default:
					all, some = false, false
				}
				if !some {
					break
				}
			}
			sure, may = sure || all && known, may || some && known
		}
	}
	return sure, may
}
