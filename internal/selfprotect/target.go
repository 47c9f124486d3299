package selfprotect

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/protect"
	"github.com/hookd-dev/hookd/internal/shellwords"
)

// use is what a command does with a path.
type use int

const (
	mentions use = iota // it is not known what
	writes              // makes, changes or removes the file
	removes             // removes, renames or changes the file or folder and all below it
	replaces            // a file or folder takes the place of what is there
)

// maxDirs are folders in which a relative path may begin.
const maxDirs = 8

// enter adds a folder that the command line goes to: each relative path after it may
// begin there.
func (j *judge) enter(dir string) {
	for _, from := range slices.Clone(j.dirs) {
		if to := joined(from, dir); len(j.dirs) < maxDirs && !slices.Contains(j.dirs, to) {
			j.dirs = append(j.dirs, to)
		}
	}
}

func joined(dir, name string) string {
	if path.IsAbs(name) || filepath.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

// absolute returns the path that a tool's arg names.
func (j *judge) absolute(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(filepath.FromSlash(unescape(j.dirs[0], "")), filepath.FromSlash(name))
}

// describe returns what a place holds, for a message.
func describe(p *protect.Place) string { return "which holds " + p.What }

// target judges a word of a command that it uses as a path. It returns the place that the
// word names, nil if there is none or it does not show; in doubt it says why.
func (j *shellLine) target(word shellwords.Word, u use) (place *protect.Place, doubt bool) {
	if word.Text == "" || len(word.Text) > 4096 {
		return nil, false
	}
	for _, text := range j.expander.word(word) {
		p, may := j.pattern(strings.TrimPrefix(text, "file://"), u)
		if p != nil {
			return p, false
		}
		doubt = doubt || may
	}
	return nil, doubt
}

// pattern judges one text that a word stands for.
func (j *judge) pattern(text string, u use) (place *protect.Place, doubt bool) {
	if text == "" || text == unknown || strings.Contains(text, "\n") {
		return nil, false
	}
	if strings.Contains(text, unknown) || isPattern(text) {
		sure, may := protect.May(strings.Split(path.Clean(text), "/"), isPlain, hasUnknown, partMatches)
		if sure {
			return &protect.Place{Path: text, What: "hooks or hook settings"}, false
		}
		if may {
			return nil, true
		}
	}
	for _, dir := range j.dirs {
		full := joined(dir, text)
		switch {
		case strings.Contains(full, unknown):
			if sure, may := protect.May(strings.Split(full, "/"), isPlain, hasUnknown, partMatches); sure || may {
				doubt = true
			}
			continue
		case isPattern(full):
			if p := j.matching(full, u); p != nil {
				return p, false
			}
			continue
		}
		if p := j.used(filepath.FromSlash(unescape(full, "")), u); p != nil {
			return p, false
		}
	}
	return nil, doubt
}

// used returns the place that a use of a path would change.
func (j *judge) used(path string, u use) *protect.Place {
	p := j.scope.Write(path)
	switch {
	case p != nil:
		return p
	case u == removes:
		return j.scope.Tree(path)
	case u == replaces:
		return j.scope.Becomes(path)
	}
	return nil
}

func isPlain(part string) bool { return !hasUnknown(part) && !isPattern(part) }

func hasUnknown(part string) bool { return strings.Contains(part, unknown) }

// partMatches reports whether a part of a path, perhaps a pattern itself, stands for a
// name that a pattern of the table has.
func partMatches(part, pattern string) bool {
	folded := protect.Fold(part)
	if !isPattern(part) {
		match, _ := path.Match(pattern, unescape(folded, ""))
		return match
	}
	if hidden(pattern) && !hidden(folded) {
		return false
	}
	for _, filled := range []string{"", ".local"} {
		if match, _ := path.Match(folded, strings.ReplaceAll(pattern, "*", filled)); match {
			return true
		}
	}
	return false
}

// hidden reports whether a name begins with a dot: a pattern must say so to match it.
func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// matching returns the place that exists and that an absolute pattern stands for, or what
// lies in it; if all below is concerned, also one below what the pattern stands for.
func (j *judge) matching(pattern string, u use) *protect.Place {
	parts := strings.Split(pattern, "/")
	for _, place := range j.scope.Places() {
		names := strings.Split(filepath.ToSlash(place.Path), "/")
		if len(parts) < len(names) && u != removes {
			continue
		}
		fits := true
		for i := range min(len(parts), len(names)) {
			match, _ := path.Match(parts[i], names[i])
			if !match || hidden(names[i]) && !hidden(parts[i]) {
				fits = false
				break
			}
		}
		if fits {
			return &place
		}
	}
	return nil
}
