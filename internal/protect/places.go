package protect

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/protocol/realpath"
)

// Places are the files and folders that the file tools keep out of, as they are at
// one moment. One place has many names: the path as written, the path that links lead
// to, hard links, folders mounted elsewhere. So each is known by its path, its real
// path, and the identity of all it holds, and what a tool has opened is compared with
// all three.
type Places struct {
	Project string // real path

	writing bool
	places  []place
	inside  map[realpath.Identity]string // of files and folders in the places: why they are refused
	partial bool                         // not all that the places hold was looked at
}

// Options say what is protected.
type Options struct {
	Refused   []string // absolute paths, refused with all below, and so is what links in them lead to
	State     string   // hookd's own folder, absolute: refused with all below, but its links lead to any file of a project
	Unwritten []string // absolute paths that may be read, with all below
	Writing   bool     // the path is to be written
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

// Bounds of looking: entries of one place, and of the project when the places of
// nested projects are looked for.
const (
	maxInPlace   = 50_000
	maxInProject = 50_000
)

// Find returns the places as they are now, so that a link made a moment ago counts.
// path is the real path of what is to be opened: the folders above it are looked at,
// and for writing the whole project.
func Find(o Options, project, path string) *Places {
	p := &Places{Project: project, writing: o.Writing, inside: map[realpath.Identity]string{}}
	for _, place := range o.Refused {
		p.add(place, whyHooks)
	}
	p.addOwn(o.State)
	if o.Writing {
		for _, place := range o.Unwritten {
			p.add(place, whyGit)
		}
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		p.look(dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if o.Writing {
		p.lookBelow(project)
	}
	return p
}

// add adds a place by its path, by where links lead, and by what it holds.
func (p *Places) add(path, why string) {
	p.addPlace(path, why, p.addLinked)
}

// addOwn adds hookd's own folder. Private copies of hooks lie there among links to all
// files that stand beside the originals: none of those is a hook by that.
func (p *Places) addOwn(state string) {
	p.addPlace(state, whyHooks, func(string, string) {})
}

func (p *Places) addPlace(path, why string, addLinked func(link, why string)) {
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
		if count++; count > maxInPlace {
			p.partial = true
			return fs.SkipAll
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			addLinked(name, why)
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

// addLinked adds what a link in a place leads to: a hook that lies elsewhere in the
// project. A link to the project itself, or out of it, protects nothing there.
func (p *Places) addLinked(link, why string) {
	real, err := realpath.Of(link)
	if err == nil && IsInside(real, p.Project) && real != p.Project {
		p.add(real, why)
	}
}

// look adds the places directly in a folder.
func (p *Places) look(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		p.lookAt(dir, entry.Name())
	}
}

// lookAt adds an entry of a folder if it is the beginning of a place.
func (p *Places) lookAt(dir, name string) {
	short := Fold(name)
	for _, place := range hookSettings() {
		if !begins([]string{short}, place[:1]) {
			continue
		}
		if len(place) == 1 {
			p.add(filepath.Join(dir, name), whyHooks)
			continue
		}
		inner, _ := os.ReadDir(filepath.Join(dir, name))
		for _, entry := range inner {
			if begins([]string{short, Fold(entry.Name())}, place) {
				p.add(filepath.Join(dir, name, entry.Name()), whyHooks)
			}
		}
	}
	if p.writing && short == gitFolder[0][0] {
		for _, path := range gitPlaces(filepath.Join(dir, name)) {
			p.add(path, whyGit)
		}
	}
}

// lookBelow adds the places of every project nested in this one.
func (p *Places) lookBelow(project string) {
	count := 0
	_ = filepath.WalkDir(project, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if count++; count > maxInProject {
			p.partial = true
			return fs.SkipAll
		}
		if path == project {
			return nil
		}
		p.lookAt(filepath.Dir(path), entry.Name())
		if relative, _ := filepath.Rel(project, path); entry.IsDir() && contains(filepath.ToSlash(relative), slices.Concat(hookSettings(), gitFolder)) {
			return fs.SkipDir
		}
		return nil
	})
}

// Check returns a [RefusedError] if a path cannot be opened. The path is absolute, real
// or as written; opened, if there is one, is what was found there.
func (p *Places) Check(path string, opened fs.FileInfo) error {
	if why := p.refuses(path, opened); why != "" {
		return &RefusedError{why}
	}
	return nil
}

func (p *Places) refuses(path string, opened fs.FileInfo) (why string) {
	if relative, err := filepath.Rel(p.Project, path); err == nil && filepath.IsLocal(relative) {
		slashed := filepath.ToSlash(relative)
		switch {
		case contains(slashed, hookSettings()):
			return whyHooks
		case p.writing && (contains(slashed, gitFolder) || becomesGit(p.Project, slashed)):
			return whyGit
		}
	}
	for _, place := range p.places {
		if IsInside(path, place.path) {
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

// Mentioned returns the protected place that one of some words names, "" if none does.
// A word is taken as a path, relative to the project. What the command does there is
// not known, so what git keeps in its folders counts, and the folders do not.
func (p *Places) Mentioned(words []string) string {
	for _, word := range words {
		if word == "" || len(word) > 4096 || strings.ContainsAny(word, "\x00\n") {
			continue
		}
		path := word
		if !filepath.IsAbs(path) {
			path = p.Project + string(filepath.Separator) + path
		}
		clean := filepath.Clean(path)
		if real := p.mentioned(clean); real != "" {
			return real
		}
		if followed := fsutil.Followed(path); followed != clean { // as the command goes there
			if real := p.mentioned(followed); real != "" {
				return real
			}
		}
	}
	return ""
}

func (p *Places) mentioned(path string) string {
	real, err := realpath.Of(path)
	if err != nil {
		return ""
	}
	info, _ := os.Stat(real)
	for _, at := range []string{path, real} {
		if why := p.refuses(at, info); why == whyHooks || why == whyGit && Fold(filepath.Base(at)) != ".git" {
			return real
		}
	}
	return ""
}

// IsInside reports whether a path is a folder or below it.
func IsInside(path, folder string) bool {
	if folder == "" {
		return false
	}
	if path == folder {
		return true
	}
	if filepath.Separator == '/' && filepath.IsAbs(path) && filepath.IsAbs(folder) && !strings.Contains(path, "/.") && !strings.Contains(path, "//") && filepath.Clean(folder) == folder {
		return strings.HasPrefix(path, folder) && (len(folder) == 1 || path[len(folder)] == '/') // as Rel would have it
	}
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}
