package selfprotect

import (
	"path"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/protect"
	"github.com/hookd-dev/hookd/internal/shellwords"
)

// shellLine is the judge of one shell line.
type shellLine struct {
	*judge
	expander *expander
}

// line judges a shell line: what its redirections write, and each command in it.
func (j *judge) line(text string) {
	line := shellwords.Split(text)
	l := &shellLine{j, &expander{
		values: line.Values, lookup: j.options.Lookup, home: j.options.Home, top: j.scope.Project,
		pwd: func() []string { return j.dirs },
	}}
	input := ""
	for i := range line.Commands {
		c := &line.Commands[i]
		if !c.Given {
			input = c.Input
		}
		l.redirections(c)
		if len(c.Words) > 0 {
			l.command(line, c, input)
		}
		l.variables(line, c)
	}
	l.unreadable(line)
}

// redirections judges the files that > writes.
func (j *shellLine) redirections(c *shellwords.Command) {
	for _, write := range c.Writes {
		switch place, doubt := j.target(write.Target, writes); {
		case place != nil:
			j.refuse("%s writes %s, %s", quoted(c.Text), quoted(write.Target.Text), describe(place))
		case doubt:
			j.doubt("%s may write hook settings (%s)", quoted(c.Text), write.Target.Text)
		}
	}
}

// command judges one command of a line.
func (j *shellLine) command(line *shellwords.Line, c *shellwords.Command, input string) {
	j.chdir(c.Words)
	if !c.Words[0].Literal {
		j.unknownProgram(c)
		return
	}
	name := programName(c.Words[0].Text)
	switch {
	case name == "kill" || name == "pkill" || name == "killall" || name == "killall5" || name == "fuser":
		j.ending(line, c, name)
	case name == "git":
		j.git(c)
	case name == "find" || name == "fd" || name == "fdfind":
		j.find(c)
	case interpreters[name].is:
		j.interpreter(c, name, input)
	case packageRunners[name]:
		j.fetched(c)
	case name == "apply_patch" || name == "applypatch":
		j.patch(input + "\n" + joinedWords(c.Words[1:]))
	case name == "patch":
		j.patch(input)
		j.writing(c, programs[name])
	default:
		j.other(c, name)
	}
	j.switches(c, name)
}

// fetched judges the program that npx or the like fetches and runs.
func (j *shellLine) fetched(c *shellwords.Command) {
	args := c.Words[1:]
	for len(args) > 0 && (strings.HasPrefix(args[0].Text, "-") || fetches[args[0].Text]) {
		args = args[1:]
	}
	if len(args) == 0 || !args[0].Literal {
		return
	}
	inner := shellwords.Command{Text: c.Text, Words: args}
	name := programName(args[0].Text)
	if packageRunners[name] { // npx npx …: once is enough
		return
	}
	j.other(&inner, name)
}

// fetches are the subcommands by which package managers run a program.
var fetches = set("exec x dlx run")

// other judges a command by the tables of programs that write and that read.
func (j *shellLine) other(c *shellwords.Command, name string) {
	if p, writes := programs[name]; writes {
		j.writing(c, p)
		return
	}
	if readers[name] || c.Given && len(c.Words) == 1 {
		return
	}
	for _, word := range c.Words[1:] {
		if _, value, is := strings.Cut(word.Text, "="); is && strings.HasPrefix(word.Text, "-") && word.Literal {
			word = shellwords.Word{Text: value, Literal: true}
		}
		if place, _ := j.target(word, mentions); place != nil {
			j.doubt("%s names %s, %s", quoted(c.Text), quoted(word.Text), describe(place))
			return
		}
	}
}

// chdir follows cd, and the option -C of programs that have it.
func (j *shellLine) chdir(words []shellwords.Word) {
	name := programName(words[0].Text)
	goesTo := func(w shellwords.Word) {
		for _, text := range j.expander.word(w) {
			if text != unknown && text != "-" {
				j.enter(text)
			}
		}
	}
	if name == "cd" || name == "pushd" || name == "chdir" || name == "set-location" {
		operands := operandsOf(words[1:], "")
		if len(operands) == 0 && name == "cd" {
			j.enter(plainPattern(j.options.Home))
		}
		for _, word := range operands[:min(1, len(operands))] {
			goesTo(word)
		}
		return
	}
	for i, word := range words[1:] {
		value, long := strings.CutPrefix(word.Text, "--chdir=")
		switch {
		case !word.Literal:
		case long:
			goesTo(shellwords.Word{Text: value, Literal: true})
		case slices.Contains(changesDir[name], word.Text) && i+2 < len(words):
			goesTo(words[i+2])
		}
	}
}

// changesDir are the options whose value is the working directory.
var changesDir = map[string][]string{
	"env": {"-C", "--chdir"}, "sudo": {"-D", "--chdir"}, "git": {"-C"}, "make": {"-C", "--directory"}, "tar": {"-C", "--directory"},
	"npm": {"--prefix", "-C"}, "pnpm": {"-C", "--dir"}, "patch": {"-d", "--directory"}, "unzip": {"-d"}, "systemd-run": {"--working-directory"},
}

// unreadable looks at a line that is no readable bash, and at commands of which the text
// does not tell what they run: if they speak of hook settings, they may change them.
func (j *shellLine) unreadable(line *shellwords.Line) {
	if line.Err != nil {
		if name := protect.Mentions(line.Text); name != "" {
			j.doubt("the command speaks of %s and cannot be read: %v", name, line.Err)
		}
		return
	}
	for i := range line.Commands {
		c := &line.Commands[i]
		given := ""
		switch {
		case c.Unclear != "":
			given = c.Unclear
		case c.Given && len(c.Words) > 1 && isWriter(c.Words[0].Text) && !c.Words[len(c.Words)-1].Literal && programName(c.Words[0].Text) != "find":
			given = "it takes its paths from elsewhere"
		case len(c.Words) > 1 && isWriter(c.Words[0].Text) && slices.ContainsFunc(c.Words[1:], j.isUnknown):
			given = "a path of it only shows when it runs"
		default:
			continue
		}
		if name := protect.Mentions(line.Text); name != "" {
			j.doubt("%s: %s, and the line speaks of %s", quoted(c.Text), given, name)
			return
		}
	}
}

// isUnknown reports whether nothing is known of a word.
func (j *shellLine) isUnknown(w shellwords.Word) bool {
	return !w.Literal && slices.ContainsFunc(j.expander.word(w), func(text string) bool { return strings.HasPrefix(text, unknown) })
}

// unknownProgram judges a command whose program only shows when it runs.
func (j *shellLine) unknownProgram(c *shellwords.Command) {
	for _, text := range j.expander.word(c.Words[0]) {
		if text == "" || strings.Contains(text, unknown) || isPattern(text) {
			continue
		}
		known := *c
		known.Words = slices.Clone(c.Words)
		known.Words[0] = shellwords.Word{Text: unescape(text, ""), Literal: true}
		j.other(&known, programName(known.Words[0].Text))
		j.switches(&known, programName(known.Words[0].Text))
		return
	}
	for _, word := range c.Words[1:] {
		if place, _ := j.target(word, removes); place != nil {
			j.doubt("%s names %s, %s, and what it runs does not show", quoted(c.Text), quoted(word.Text), describe(place))
			return
		}
	}
	if strings.Contains(strings.ToLower(c.Words[0].Text), "hookd") {
		j.switches(c, "hookd")
	}
}

// programName is the name by which the tables know a program: /usr/bin/rm is rm,
// python3.12 is python.
func programName(word string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
	name = strings.TrimSuffix(name, ".exe")
	if trimmed := strings.TrimRight(name, "0123456789."); interpreters[trimmed].is {
		return trimmed
	}
	return name
}

func joinedWords(words []shellwords.Word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	return strings.Join(texts, " ")
}
