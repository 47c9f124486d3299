package tool

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/protocol/realpath"
)

// Protected is the places that the file tools keep out of, as they are at one
// moment. One place has many names: the path as written, the path that links lead
// to, hard links, folders mounted elsewhere. So each is known by its path, its real
// path, and the identity of all it holds, and what a tool has opened is held against
// all three.
type Protected struct {
	project string // real path
	writing bool
	places  []place
	inside  map[realpath.Identity]string // of files and folders in the places: why they are refused
	partial bool                         // not all that the places hold was looked at
}

// place is a file or folder, refused with all below it.
type place struct {
	path string // real, or as far as it exists
	why  string
}

// Why a path is not opened although it is in the project.
const (
	whyHooks = "it belongs to the hooks and their settings"
	whyGit   = "git runs what is written there; only reading is allowed"
	whyLinks = "the file has more than one name, and there is too much here to tell whether one is protected"
)

// RefusedError is why a path is not opened.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return "refused: " + e.Why }

// refusedFor is the error of a reason, nil without one.
func refusedFor(why string) error {
	if why == "" {
		return nil
	}
	return &RefusedError{why}
}

// Bounds of looking: entries of one place, and of the project when a nested
// project's places are looked for.
const (
	mostInPlace   = 50_000
	mostInProject = 50_000
)

// protected looks at the places now, so that a link made a moment ago counts. path
// is the real path of what is to be opened: what lies in the folders above it is
// looked at, and for writing what lies anywhere in the project.
func (f Folder) protected(project, path string, writing bool) *Protected {
	p := &Protected{project: project, writing: writing, inside: map[realpath.Identity]string{}}
	for _, place := range f.Refused {
		p.add(place, whyHooks)
	}
	if writing {
		for _, place := range f.Unwritten {
			p.add(place, whyGit)
		}
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		p.look(dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if writing {
		p.lookBelow(project)
	}
	return p
}

// add takes a place in by its path, where links lead, and what it holds.
func (p *Protected) add(path, why string) {
	if path == "" {
		return
	}
	path = filepath.Clean(path)
	real, err := realpath.Of(path)
	if err != nil {
		real = path
	}
	for _, known := range p.places {
		if known.path == real {
			return
		}
	}
	p.places = append(p.places, place{real, why})
	if path != real {
		p.places = append(p.places, place{path, why})
	}
	count := 0
	_ = filepath.WalkDir(real, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if count++; count > mostInPlace {
			p.partial = true
			return fs.SkipAll
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			p.addLinked(name, why)
		} else if info, err := entry.Info(); err == nil {
			if id, _, known := realpath.Identify(info); known {
				p.inside[id] = why
			}
		}
		if why == whyGit && entry.IsDir() && entry.Name() == "objects" {
			return fs.SkipDir // what git keeps there it does not run
		}
		return nil
	})
}

// addLinked takes in what a link in a place leads to: a hook that lies elsewhere in
// the project. A link to the project itself, or out of it, protects nothing there.
func (p *Protected) addLinked(link, why string) {
	real, err := realpath.Of(link)
	if err == nil && inside(real, p.project) && real != p.project {
		p.add(real, why)
	}
}

// look takes in the places right in a folder.
func (p *Protected) look(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		p.lookAt(dir, entry.Name())
	}
}

// lookAt takes in a folder's entry if it is the beginning of a place.
func (p *Protected) lookAt(dir, name string) {
	short := folded(name)
	for _, place := range governing {
		if !begins([]string{short}, place[:1]) {
			continue
		}
		if len(place) == 1 {
			p.add(filepath.Join(dir, name), whyHooks)
			continue
		}
		inner, _ := os.ReadDir(filepath.Join(dir, name))
		for _, entry := range inner {
			if begins([]string{short, folded(entry.Name())}, place) {
				p.add(filepath.Join(dir, name, entry.Name()), whyHooks)
			}
		}
	}
	if p.writing && short == gitFolder[0][0] {
		p.addGit(dir, name)
	}
}

// lookBelow takes in the places of every project nested in this one.
func (p *Protected) lookBelow(project string) {
	count := 0
	_ = filepath.WalkDir(project, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if count++; count > mostInProject {
			p.partial = true
			return fs.SkipAll
		}
		if path == project {
			return nil
		}
		p.lookAt(filepath.Dir(path), entry.Name())
		if relative, _ := filepath.Rel(project, path); entry.IsDir() && named(filepath.ToSlash(relative), slices.Concat(governing, gitFolder)) {
			return fs.SkipDir
		}
		return nil
	})
}

// Refuses says why a path cannot be opened, "" if it can. The path is absolute, real
// or as written; opened, if there is one, is what was found there.
func (p *Protected) Refuses(path string, opened fs.FileInfo) (why string) {
	if relative, err := filepath.Rel(p.project, path); err == nil && filepath.IsLocal(relative) {
		slashed := filepath.ToSlash(relative)
		switch {
		case named(slashed, governing):
			return whyHooks
		case p.writing && (named(slashed, gitFolder) || becomesGit(p.project, slashed)):
			return whyGit
		}
	}
	for _, place := range p.places {
		if inside(path, place.path) {
			return place.why
		}
	}
	if opened == nil {
		return ""
	}
	id, names, known := realpath.Identify(opened)
	if !known {
		return ""
	}
	if why := p.inside[id]; why != "" {
		return why
	}
	if p.partial && p.writing && !opened.IsDir() && names > 1 {
		return whyLinks
	}
	return ""
}

// Mentions says which protected place the words of a command name, "" if none does.
// A word is taken as a path, relative to the project. What the command does there is
// not known, so what git keeps in its folders counts, and the folders do not.
func (f Folder) Mentions(words []string) string {
	project, err := filepath.EvalSymlinks(f.Project)
	if err != nil || len(words) == 0 {
		return ""
	}
	p := f.protected(project, project, true)
	for _, word := range words {
		if word == "" || len(word) > 4096 || strings.ContainsAny(word, "\x00\n") {
			continue
		}
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(project, path)
		}
		path = filepath.Clean(path)
		real, err := realpath.Of(path)
		if err != nil {
			continue
		}
		info, _ := os.Stat(real)
		for _, at := range []string{path, real} {
			if why := p.Refuses(at, info); why == whyHooks || why == whyGit && folded(filepath.Base(at)) != ".git" {
				return real
			}
		}
	}
	return ""
}
