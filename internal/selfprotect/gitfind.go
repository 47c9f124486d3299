package selfprotect

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/internal/protect"
	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/internal/table"
)

// gitWrites are git's subcommands that write, remove or put back the files that their
// words name.
const gitWrites table.Words = "rm mv checkout restore stash reset clean checkout-index apply am update-index"

// gitPuts are git's subcommands whose last words are folders that it makes.
const gitPuts table.Words = "clone init submodule worktree"

// judgeGit judges a command of git by the paths in its words. What git writes in its own folder
// is its own matter.
func judgeGit(j *shellLine, c *shellwords.Command) {
	all := c.Words[1:]
	args := operandsAfterOptions(all, "-C -c --git-dir --work-tree --namespace --exec-path --config-env")
	if len(args) == 0 || !args[0].Literal {
		return
	}
	tree := valuesOf(all[:len(all)-len(args)], []string{"--work-tree"})
	for _, word := range tree {
		for _, text := range j.expander.word(word) {
			j.enter(text)
		}
	}
	subcommand := args[0].Text
	for _, word := range valuesOf(args[1:], []string{"-o", "--output", "--output-directory", "--prefix"}) {
		j.operand(c, word, replaces)
	}
	judgeGitSetting(j, c, args)
	switch {
	case gitPuts.Has(subcommand) || subcommand == "bundle":
		for _, word := range operandsOf(args[1:], "-b -B --branch --reference --depth --name --template -o --origin -c --config -u") {
			j.operand(c, word, replaces)
		}
		return
	case !gitWrites.Has(subcommand) || subcommand == "rm" && hasOption(args, "--cached"):
		return
	}
	paths := args[1:]
	if len(tree) > 0 && len(operandsOf(paths, "")) == 0 {
		paths = append(slices.Clone(tree), paths...)
	}
	for _, word := range paths {
		if word.Literal && strings.HasPrefix(word.Text, "-") {
			if _, value, is := strings.Cut(word.Text, "="); is {
				word = shellwords.Word{Text: value, Literal: true}
			} else {
				continue
			}
		}
		word = withoutMagic(word)
		if place, _ := j.target(word, mentions); place != nil && !place.Git {
			j.refuse("%s would change %s, %s", quoted(c.Text), quoted(word.Text), describe(place))
		} else if place := j.folder(word); place != nil {
			j.refuse("%s would change %s, in which are %s", quoted(c.Text), quoted(word.Text), place.What)
		}
	}
	judgeSweeps(j, c, args)
}

// judgeSweeps judges git commands that remove what git does not know, without naming it.
func judgeSweeps(j *shellLine, c *shellwords.Command, args []shellwords.Word) {
	switch {
	case args[0].Text == "clean" && hasOption(args, "-f --force") && !hasOption(args, "-n --dry-run") && len(operandsOf(args[1:], "-e --exclude")) == 0:
	case args[0].Text == "stash" && hasOption(args, "-u -a --include-untracked --all"):
	default:
		return
	}
	for _, dir := range j.dirs[1:] {
		place := j.scope.Write(filepath.FromSlash(unescape(dir, "")))
		if place == nil {
			place = j.folder(shellwords.Word{Text: unescape(dir, ""), Literal: true})
		}
		if place != nil && !place.Git {
			j.refuse("%s removes what git does not know in %s, in which are %s", quoted(c.Text), quoted(dir), place.What)
			return
		}
	}
	for _, place := range j.scope.Places() {
		if !place.Git && j.scope.Project != "" && protect.IsInside(place.Path, j.scope.Project) {
			j.doubt("%s removes what git does not know, %s may be among it", quoted(c.Text), quoted(place.Path))
			return
		}
	}
}

// gitPrograms are settings of git whose value every later git command runs, also that of a
// hook.
var gitPrograms = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(core\.(fsmonitor|hookspath|worktree|attributesfile)|include(if\..*)?\.path|filter\..*\.(clean|smudge|process)|diff\.external|diff\..*\.(textconv|command))$`)
})

// judgeGitSetting judges git config, where it keeps a setting by which git runs programs.
func judgeGitSetting(j *shellLine, c *shellwords.Command, args []shellwords.Word) {
	if args[0].Text != "config" {
		return
	}
	operands := operandsOf(args[1:], "-f --file --blob --type")
	for _, word := range valuesOf(args[1:], []string{"-f", "--file"}) {
		j.operand(c, word, writes)
	}
	if hasOption(args, "--get --get-all --list -l --unset --unset-all --get-regexp") {
		return
	}
	if len(operands) > 0 && (operands[0].Text == "set" || operands[0].Text == "add") {
		operands = operands[1:]
	}
	if len(operands) > 1 && gitPrograms().MatchString(operands[0].Text) {
		j.doubt("%s has every later git command run %s, also those of hooks", quoted(c.Text), quoted(operands[1].Text))
	}
}

// withoutMagic returns a path of git without what stands before it: :/, :(top,glob).
func withoutMagic(word shellwords.Word) shellwords.Word {
	text := strings.Trim(word.Text, `'"`)
	if !strings.HasPrefix(text, ":") {
		return word
	}
	if _, after, is := strings.Cut(text, ")"); is && strings.HasPrefix(text, ":(") {
		text = after
	} else {
		text = strings.TrimLeft(text, ":/!^")
	}
	return shellwords.Word{Text: strings.TrimSuffix(text, "/**"), Literal: !isPattern(text)}
}

// folder returns the place in a folder that a word names, if the folder is part of the
// place's own path and holds not much else: .claude. The project as a whole is none.
func (j *shellLine) folder(word shellwords.Word) *protect.Place {
	for _, text := range j.expander.word(word) {
		if strings.Contains(text, unknown) {
			continue
		}
		for _, dir := range j.dirs {
			if isPattern(text) {
				if place := j.matching(joined(dir, text), removes); place != nil && text != "*" && !place.Git {
					return place
				}
				continue
			}
			if full := unescape(joined(dir, text), ""); !strings.Contains(full, unknown) && j.used(full, becomes) != nil {
				return j.used(full, removes)
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

// judgeFind judges find and fd, where they remove what they find or run a program that writes:
// by the folders where they look, and by the names that they look for.
func judgeFind(j *shellLine, c *shellwords.Command, deletes bool) {
	args := c.Words[1:]
	for _, word := range valuesOf(args, []string{"-fprint", "-fprintf", "-fls", "-fprint0"}) {
		j.operand(c, word, writes)
	}
	if !deletes || hasOption(args, "-empty") {
		return
	}
	var roots, names []shellwords.Word
	for i, word := range args {
		if word.Literal && (strings.HasPrefix(word.Text, "-") || word.Text == "(" || word.Text == "!") {
			break
		}
		roots = args[:i+1]
	}
	for i, word := range args {
		negated := i > 0 && (args[i-1].Text == "!" || args[i-1].Text == "-not" || args[i-1].Text == `\!`)
		if findsByName.Has(word.Text) && i+1 < len(args) && !negated {
			names = append(names, args[i+1])
		}
	}
	if programName(c.Words[0].Text) != "find" {
		if roots, names = fdWords(args); roots == nil && names == nil {
			return
		}
	}
	if len(roots) == 0 {
		roots = []shellwords.Word{{Text: ".", Literal: true}}
	}
	for _, root := range roots {
		if place, _ := j.target(root, removes); place != nil && j.finds(place, names) {
			j.refuse("%s would change what is in %s, %s", quoted(c.Text), quoted(root.Text), describe(place))
			return
		}
	}
}

// findsByName are the options of find before a name.
const findsByName table.Words = "-name -iname -path -ipath -wholename -iwholename"

// deletes reports whether find removes what it finds, or runs a program that writes on it:
// sed only with -i.
func deletes(args []shellwords.Word) bool {
	if hasOption(args, "-delete") {
		return true
	}
	for i, word := range args {
		if findRuns.Has(word.Text) && i+1 < len(args) && args[i+1].Literal && writesOn(args[i+1:]) {
			return true
		}
	}
	return false
}

// writesOn reports whether a command writes the files that stand in its words, or come to
// them.
func writesOn(words []shellwords.Word) bool {
	name, args := programName(words[0].Text), words[1:]
	if p, is := programs.get(name); is {
		return (p.all != mentions || p.last != mentions) && (p.only == "" || hasOption(args, p.only))
	}
	switch {
	case interpreters.of(name).is && interpreters.of(name).inPlace != "":
		return hasOption(args, interpreters.of(name).inPlace) || editsInPlace(args)
	case shells.Has(name):
		return slices.ContainsFunc(args, func(w shellwords.Word) bool {
			return strings.Contains(w.Text, ">") || slices.ContainsFunc(strings.FieldsFunc(w.Text, func(r rune) bool { return strings.ContainsRune(" ;&|\n({", r) }), isWriter)
		})
	case (name == "xargs" || name == "sudo" || name == "env" || name == "nice") && len(args) > 0:
		for i, word := range args {
			if !strings.HasPrefix(word.Text, "-") && writesOn(args[i:]) {
				return true
			}
		}
	}
	return false
}

// fdWords are the folders in which fd looks and the names that it looks for; none if it
// leaves hidden files out.
func fdWords(args []shellwords.Word) (roots, names []shellwords.Word) {
	if !hasOption(args, "-H --hidden -u --unrestricted") {
		return nil, nil
	}
	if at := slices.IndexFunc(args, func(w shellwords.Word) bool { return findRuns.Has(w.Text) }); at >= 0 {
		args = args[:at]
	}
	names = []shellwords.Word{{Text: "*", Literal: true}}
	operands := operandsOf(args, "-e --extension -t --type -d --max-depth -E --exclude")
	if len(operands) > 0 {
		if plain := strings.Trim(operands[0].Text, "^$"); !strings.ContainsAny(plain, `.*?[](){}\|+`) || strings.Count(plain, ".") == 1 {
			names[0].Text = "*" + plain + "*"
		}
		roots = operands[1:]
	}
	return roots, names
}

// lists are the programs that print the paths in their words, or what is in them.
const lists table.Words = "ls git grep egrep rg realpath readlink find fd fdfind echo printf"

// judgeFed judges the paths that a command reads and writes: find … | xargs rm, rm $(ls …).
func judgeFed(j *shellLine, c *shellwords.Command, name, input string) {
	if !writesOn(c.Words) || c.Given {
		return
	}
	for _, text := range strings.Fields(strings.Join(append(j.printed(c.From), input), " ")) {
		if place, _ := j.pattern(plainPattern(text), removes); name == "xargs" && place != nil {
			j.refuse("%s would change %s, %s", quoted(c.Text), quoted(text), describe(place))
		}
	}
	if c.From == "" {
		return
	}
	line := shellwords.Split(c.From)
	for i := range line.Commands {
		inner := &line.Commands[i]
		if len(inner.Words) == 0 || !lists.Has(programName(inner.Words[0].Text)) {
			continue
		}
		if name := programName(inner.Words[0].Text); name == "find" || name == "fd" || name == "fdfind" {
			judgeFind(j, inner, true)
			continue
		}
		for _, word := range inner.Words[1:] {
			if place, _ := j.target(word, replaces); place != nil {
				j.refuse("%s would change %s, %s", quoted(c.Text), quoted(word.Text), describe(place))
			}
		}
	}
}

// findRuns are the options of find and fd after which a program stands.
const findRuns table.Words = "-exec -execdir -ok -okdir -x --exec -X --exec-batch"

// finds is fitsNames, once for the same names. A line that looks for very many names has
// no right to more.
func (j *judge) finds(place *protect.Place, names []shellwords.Word) bool {
	key := place.Path + "\x00" + joinedWords(names)
	fits, known := j.spent.walked[key]
	if known || len(j.spent.walked) >= maxWalked {
		return fits || !known
	}
	if j.spent.walked == nil {
		j.spent.walked = map[string]bool{}
	}
	j.spent.walked[key] = fitsNames(place, names, j.scope.Places())
	return j.spent.walked[key]
}

// maxWalked are searches for names in the protected folders for one call.
const maxWalked = 50

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
		for dir := filepath.Dir(place.Path); len(dir) > 1 && dir != filepath.Dir(dir) && strings.HasPrefix(filepath.Base(dir), "."); dir = filepath.Dir(dir) {
			fits = fits || fitsName(filepath.ToSlash(dir), names) // the folder of it
		}
		if fits {
			return true
		}
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
