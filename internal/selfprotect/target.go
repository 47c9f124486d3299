package selfprotect

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/fsutil"
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
	becomes             // is a folder of an agent's
)

// maxDirs are folders in which a relative path may begin.
const maxDirs = 16

// maxDir is the length of the path of one.
const maxDir = 512

// enter adds a folder that the command line goes to: each relative path after it may
// begin there. Beyond the limit the folders that were left longest ago go.
func (j *judge) enter(dir string) {
	for _, from := range slices.Clone(j.dirs) {
		switch to := joined(from, dir); {
		case len(to) > maxDir:
			j.lost = true
		case !slices.Contains(j.dirs, to):
			j.dirs = append(j.dirs, to)
		}
	}
	if over := len(j.dirs) - maxDirs; over > 0 {
		j.dirs = slices.Delete(j.dirs, 1, 1+over) // the first is the working directory
		j.lost = true
	}
}

func joined(dir, name string) string {
	if path.IsAbs(name) || filepath.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
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
		texts := []string{text}
		if !word.Literal && strings.ContainsAny(text, " \t") { // the value of a variable may be several words
			texts = append(texts, strings.Fields(text)...)
		}
		for _, text := range texts {
			p, may := j.pattern(strings.TrimPrefix(text, "file://"), u)
			if p != nil {
				return p, false
			}
			doubt = doubt || may
		}
	}
	return nil, doubt
}

// pattern judges one text that a word stands for.
func (j *judge) pattern(text string, u use) (place *protect.Place, doubt bool) {
	if text == "" || text == unknown || strings.Contains(text, "\n") {
		return nil, false
	}
	if strings.Contains(text, "**/") { // which stands for no folder, too
		if place, doubt = j.pattern(strings.ReplaceAll(text, "**/", ""), u); place != nil || doubt {
			return place, doubt
		}
	}
	if strings.Contains(text, unknown) || isPattern(text) {
		sure, may := protect.May(strings.Split(path.Clean(text), "/"), isPlain, hasUnknown, j.partMatches)
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
			if sure, may := protect.May(strings.Split(full, "/"), isPlain, hasUnknown, j.partMatches); sure || may {
				doubt = true
			}
			continue
		case isPattern(full):
			if p := j.matching(full, u); p != nil {
				return p, false
			}
			continue
		}
		if p := j.usedEitherWay(dir, unescape(text, ""), u); p != nil {
			return p, false
		}
	}
	return nil, doubt
}

// usedEitherWay is used for a name in a folder, however the one who uses it reads it: the system
// follows a link that stands in front of .., and many programs take both away before.
func (j *judge) usedEitherWay(dir, name string, u use) *protect.Place {
	for _, path := range eitherWay(dir, name) {
		if place := j.used(path, u); place != nil {
			return place
		}
	}
	return nil
}

// eitherWay are the paths that a name in a folder may stand for.
func eitherWay(dir, name string) []string {
	dir, name = filepath.FromSlash(unescape(dir, "")), filepath.FromSlash(name)
	if !filepath.IsAbs(name) && !path.IsAbs(filepath.ToSlash(name)) {
		name = dir + string(filepath.Separator) + name
	}
	clean := filepath.Clean(name)
	if followed := fsutil.Followed(name); followed != clean {
		return []string{clean, followed}
	}
	return []string{clean}
}

// used returns the place that a use of a path would change.
func (j *judge) used(path string, u use) *protect.Place {
	key := looked{path, u}
	if place, is := j.spent.seen[key]; is {
		return place
	}
	if len(j.spent.seen) >= maxLooked {
		return j.scope.Named(path)
	}
	if j.spent.seen == nil {
		j.spent.seen = map[looked]*protect.Place{}
	}
	var place *protect.Place
	if u != becomes {
		place = j.scope.Write(path)
	}
	switch {
	case place != nil:
	case u == becomes:
		place = j.scope.Becomes(path)
	case u == removes:
		place = j.scope.Tree(path)
	case u == replaces:
		place = j.scope.Becomes(path)
	}
	j.spent.seen[key] = place
	return place
}

func isPlain(part string) bool { return !hasUnknown(part) && !isPattern(part) }

func hasUnknown(part string) bool { return strings.Contains(part, unknown) }

// partMatches reports whether a part of a path, perhaps a pattern itself, stands for a
// name that a pattern of the table has.
func (j *judge) partMatches(part, pattern string) bool {
	folded := protect.Fold(part)
	if !isPattern(part) {
		match, _ := path.Match(pattern, unescape(folded, ""))
		return match
	}
	if j.hidden(pattern) && !hidden(folded) {
		return false
	}
	for _, filled := range []string{"", ".local"} {
		if match, _ := path.Match(folded, strings.ReplaceAll(pattern, "*", filled)); match {
			return true
		}
	}
	return false
}

// hidden reports whether a name begins with a dot.
func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// hidden reports whether a pattern must begin with a dot to match a name.
func (j *judge) hidden(name string) bool { return hidden(name) && !j.dotglob }

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
			if !match || j.hidden(names[i]) && !hidden(parts[i]) {
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
