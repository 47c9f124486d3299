package selfprotect

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/protect"
	"github.com/hookd-dev/hookd/internal/shellwords"
)

// gitWrites are git's subcommands that write, remove or put back the files that their
// words name.
var gitWrites = set("rm mv checkout restore stash reset clean checkout-index apply am update-index")

// git judges a command of git by the paths in its words. What git writes in its own folder
// is its own matter.
func (j *shellLine) git(c *shellwords.Command) {
	args := operandsAfterOptions(c.Words[1:], "-C -c --git-dir --work-tree --namespace --exec-path")
	if len(args) == 0 || !args[0].Literal || !gitWrites[args[0].Text] {
		return
	}
	for _, word := range args[1:] {
		if word.Literal && strings.HasPrefix(word.Text, "-") {
			if _, value, is := strings.Cut(word.Text, "="); is {
				word = shellwords.Word{Text: value, Literal: true}
			} else {
				continue
			}
		}
		if place, _ := j.target(word, mentions); place != nil && !place.Git {
			j.refuse("%s would change %s, %s", quoted(c.Text), quoted(word.Text), describe(place))
		} else if place := j.folder(word); place != nil {
			j.refuse("%s would change %s, in which are %s", quoted(c.Text), quoted(word.Text), place.What)
		}
	}
	if args[0].Text == "clean" && hasOption(args, "-f --force") && len(operandsOf(args[1:], "-e --exclude")) == 0 {
		for _, place := range j.scope.Places() {
			if !place.Git && j.scope.Project != "" && protect.IsInside(place.Path, j.scope.Project) {
				j.doubt("%s removes what git does not know, %s may be among it", quoted(c.Text), quoted(place.Path))
				return
			}
		}
	}
}

// folder returns the place in a folder that a word names, if the folder is part of the
// place's own path and holds not much else: .claude. The project as a whole is none.
func (j *shellLine) folder(word shellwords.Word) *protect.Place {
	for _, text := range j.expander.word(word) {
		if strings.Contains(text, unknown) || isPattern(text) {
			continue
		}
		for _, dir := range j.dirs {
			if full := unescape(joined(dir, text), ""); !strings.Contains(full, unknown) && j.scope.Becomes(full) != nil {
				return j.scope.Tree(full)
			}
		}
	}
	return nil
}

// operandsAfterOptions are the words from the first one on that is no option.
func operandsAfterOptions(args []shellwords.Word, takeValue string) []shellwords.Word {
	for i := 0; i < len(args); i++ {
		switch text := args[i].Text; {
		case !strings.HasPrefix(text, "-"):
			return args[i:]
		case slices.Contains(strings.Fields(takeValue), text):
			i++
		}
	}
	return nil
}

// find judges find and fd, where they remove what they find or run a program that writes:
// by the folders where they look, and by the names that they look for.
func (j *shellLine) find(c *shellwords.Command) {
	args := c.Words[1:]
	deletes := hasOption(args, "-delete") || runsWriter(args)
	for _, word := range valuesOf(args, []string{"-fprint", "-fprintf", "-fls", "-fprint0"}) {
		j.operand(c, word, writes)
	}
	if !deletes {
		return
	}
	var roots, names []shellwords.Word
	for i, word := range args {
		if word.Literal && (strings.HasPrefix(word.Text, "-") || word.Text == "(" || word.Text == "!") {
			break
		}
		roots = args[:i+1]
	}
	for _, option := range []string{"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"} {
		names = append(names, valuesOf(args, []string{option})...)
	}
	if len(roots) == 0 {
		roots = []shellwords.Word{{Text: ".", Literal: true}}
	}
	for _, root := range roots {
		if place, _ := j.target(root, removes); place != nil && fitsNames(place, names, j.scope.Places()) {
			j.refuse("%s would change what is in %s, %s", quoted(c.Text), quoted(root.Text), describe(place))
			return
		}
	}
}

// runsWriter reports whether find runs a program that writes on what it finds: sed only
// with -i.
func runsWriter(args []shellwords.Word) bool {
	for i, word := range args {
		if !findRuns[word.Text] || i+1 >= len(args) || !args[i+1].Literal {
			continue
		}
		p, is := programs[programName(args[i+1].Text)]
		if is && (p.all != mentions || p.last != mentions) && (p.only == "" || hasOption(args[i+2:], p.only)) {
			return true
		}
	}
	return false
}

// findRuns are the options of find and fd after which a program stands.
var findRuns = set("-exec -execdir -ok -okdir -x --exec -X --exec-batch")

// maxFound is how many files of a place are compared with the names that find looks for.
const maxFound = 2000

// fitsNames reports whether one of the names that find looks for is that of a place, or of
// something in it. Without names all are.
func fitsNames(found *protect.Place, names []shellwords.Word, places []protect.Place) bool {
	if len(names) == 0 {
		return true
	}
	left := maxFound
	for _, place := range append(slices.Clone(places), *found) {
		if place.Git && place.Path != found.Path {
			continue
		}
		fits := false
		_ = filepath.WalkDir(place.Path, func(file string, _ fs.DirEntry, _ error) error {
			if left--; left < 0 || fitsName(filepath.ToSlash(file), names) {
				fits = left >= 0
				return fs.SkipAll
			}
			return nil
		})
		if fits {
			return true
		}
	}
	return false
}

// fitsName reports whether find would find a path by one of some names: -name compares
// the last part, -path all of it, in which * also stands for a slash.
func fitsName(file string, names []shellwords.Word) bool {
	file = strings.ToLower(file)
	return slices.ContainsFunc(names, func(name shellwords.Word) bool {
		pattern := strings.ToLower(name.Text)
		if strings.Contains(pattern, "/") {
			flat := strings.NewReplacer("/", "\x01")
			match, _ := path.Match("*"+strings.TrimPrefix(flat.Replace(strings.TrimPrefix(pattern, ".")), "*"), flat.Replace(file))
			return match
		}
		match, _ := path.Match(strings.Trim(pattern, `'"`), path.Base(file))
		return match
	})
}
