package selfprotect

import (
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

// shellLine is the judge of one shell line.
type shellLine struct {
	*judge
	expander *expander
}

// maxNested are lines in lines.
const maxNested = 4

// line judges a shell line: what its redirections write, and each command in it.
func (j *judge) line(text string) {
	if j.spent.lines++; j.depth >= maxNested || j.spent.lines > maxLines {
		if name := protect.Mentions(text); name != "" {
			j.doubt("the call has too many commands in one another, and speaks of %s", name)
		}
		return
	}
	j.depth++
	outer := j.before
	j.before = nil
	defer func() {
		j.depth--
		j.before = outer
	}()
	line := shellwords.Split(text)
	l := j.shell(line)
	j.dotglob = j.dotglob || setsDotglob(line.Text)
	keepArguments(l, line)
	input := ""
	for i := range line.Commands {
		c := &line.Commands[i]
		if !c.Given {
			input = l.inputText(c.Input)
			if j.before != nil { // an option changed the folder for the last command only
				j.dirs, j.before = j.before, nil
			}
		}
		l.redirections(c)
		if len(c.Words) > 0 {
			l.command(line, c, input)
		}
		l.variables(line, c)
		judgeTexts(l, c, input)
	}
	judgeUnreadable(l, line)
}

func (j *judge) shell(line *shellwords.Line) *shellLine {
	return &shellLine{j, &expander{
		values: line.Values, lookup: j.options.Lookup, home: j.options.Home, top: j.scope.Project, own: j.options.Own, steps: &j.spent.steps,
		pwd: func() []string { return j.dirs },
	}}
}

// setsDotglob reports whether a text has * stand for names that begin with a dot. It looks
// for the word first: nearly no line has it, and the expression tries each letter of the line.
func setsDotglob(text string) bool {
	return strings.Contains(strings.ToLower(text), "glob") && dotglobs().MatchString(text)
}

var dotglobs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bdot_?glob|\bglob_?dots|\bGLOBIGNORE=`) })

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
		j.unknownProgram(line, c, input)
		return
	}
	name := j.program(c.Words[0].Text)
	switch {
	case ends.Has(name):
		judgeEnding(j, line, c, name)
	case name == "git":
		judgeGit(j, c)
		j.patched(c, input)
	case name == "find" || name == "fd" || name == "fdfind":
		judgeFind(j, c, deletes(c.Words[1:]))
	case interpreters.of(name).is:
		judgeInterpreter(j, c, name, input)
	case packageRunners.Has(name):
		judgeFetched(j, c)
	case name == "apply_patch" || name == "applypatch":
		j.patch(input + "\n" + joinedWords(c.Words[1:]))
	case name == "patch":
		j.patched(c, input)
		j.writing(c, programs.of(name))
	case special(name) != nil:
		special(name)(j, c, input)
	default:
		j.other(c, name)
	}
	judgeFed(j, c, name, input)
	j.switches(c, name)
}

// patched judges a patch that a program reads.
func (j *shellLine) patched(_ *shellwords.Command, input string) {
	if strings.Contains(input, "--- ") || strings.Contains(input, "*** ") || strings.Contains(input, "rename ") {
		j.patch(input)
	}
}

// judgeFetched judges the program that npx or the like fetches and runs.
func judgeFetched(j *shellLine, c *shellwords.Command) {
	args := c.Words[1:]
	for _, word := range valuesOf(args, []string{"-c", "--call", "--shell-mode"}) {
		j.nested(word)
	}
	j.inDoubt(func() { // npm pkg set scripts.x='rm …'
		for _, word := range args {
			if _, value, is := strings.Cut(word.Text, "="); is && word.Literal && strings.Contains(value, " ") {
				j.nestedText(value)
			}
		}
	})
	for len(args) > 0 && (strings.HasPrefix(args[0].Text, "-") || fetches.Has(args[0].Text)) {
		args = args[1:]
	}
	if len(args) == 0 || !args[0].Literal {
		return
	}
	inner := shellwords.Command{Text: c.Text, Words: args}
	if packageRunners.Has(programName(args[0].Text)) { // npx npx …: once is enough
		return
	}
	j.other(&inner, programName(args[0].Text))
}

// fetches are the subcommands by which package managers run a program.
const fetches table.Words = "exec x dlx run"

// other judges a command by the tables of programs that write and that read.
func (j *shellLine) other(c *shellwords.Command, name string) {
	if p, writes := programs.get(name); writes {
		j.writing(c, p)
		return
	}
	if readers.Has(name) || c.Given && len(c.Words) == 1 {
		return
	}
	for _, word := range valuesOf(c.Words[1:], outputs) {
		if place, _ := j.target(word, replaces); place != nil {
			j.refuse("%s would change %s, %s", quoted(c.Text), quoted(word.Text), describe(place))
			return
		}
	}
	if isAgent(name) { // its words are a prompt, which its own hooks see to
		return
	}
	judgeWithin(j, c, name)
	for _, word := range c.Words[1:] {
		if place, _ := j.target(valueOf(word), mentions); place != nil {
			j.doubt("%s names %s, %s", quoted(c.Text), quoted(word.Text), describe(place))
			return
		}
	}
}

// valueOf returns the value of NAME=VALUE, else the word.
func valueOf(word shellwords.Word) shellwords.Word {
	if _, value, is := strings.Cut(word.Text, "="); is && word.Literal {
		return shellwords.Word{Text: value, Literal: true}
	}
	return word
}

// outputs are options by which most programs are told which file to write.
var outputs = []string{"-o", "--output", "--out", "--outfile", "--output-file", "--out-dir", "--outdir", "--output-dir"}

// chdir follows cd, and the option -C of programs that have it.
func (j *shellLine) chdir(words []shellwords.Word) {
	name := programName(words[0].Text)
	if (name == "builtin" || name == "command") && len(words) > 1 {
		words = words[1:]
		name = programName(words[0].Text)
	}
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
	before := slices.Clone(j.dirs)
	defer func() {
		if j.before == nil && len(j.dirs) != len(before) {
			j.before = before
		}
	}()
	for i, word := range words[1:] {
		value, long := strings.CutPrefix(word.Text, "--chdir=")
		switch {
		case !word.Literal:
		case long:
			goesTo(shellwords.Word{Text: value, Literal: true})
		case slices.Contains(changesDir.of(name), word.Text) && i+2 < len(words):
			goesTo(words[i+2])
		}
	}
}

// changesDir are the options whose value is the working directory.
var changesDir = rows[[]string]{
	{"env", []string{"-C", "--chdir"}}, {"sudo", []string{"-D", "--chdir"}}, {"git", []string{"-C"}}, {"make", []string{"-C", "--directory"}}, {"tar", []string{"-C", "--directory"}},
	{"bsdtar", []string{"-C", "--directory"}}, {"gtar", []string{"-C", "--directory"}}, {"npm", []string{"--prefix", "-C"}}, {"pnpm", []string{"-C", "--dir"}}, {"patch", []string{"-d", "--directory"}}, {"unzip", []string{"-d"}}, {"systemd-run", []string{"--working-directory"}},
}

// unreadable looks at a line that is no readable bash, and at commands of which the text
// does not tell what they run: if they speak of hook settings, they may change them.
func judgeUnreadable(j *shellLine, line *shellwords.Line) {
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
		case j.lost && len(c.Words) > 1 && isWriter(c.Words[0].Text):
			given = "the line goes to too many folders"
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
func (j *shellLine) unknownProgram(line *shellwords.Line, c *shellwords.Command, input string) {
	known := false
	for _, text := range j.expander.word(c.Words[0]) {
		fields := strings.Fields(text)
		if len(fields) == 0 || strings.Contains(fields[0], unknown) || isPattern(fields[0]) {
			continue
		}
		known = true
		inner := *c
		inner.Words = nil
		for _, field := range fields { // the value of a variable may be several words
			inner.Words = append(inner.Words, shellwords.Word{Text: unescape(field, ""), Literal: true})
		}
		inner.Words = append(inner.Words, c.Words[1:]...)
		j.command(line, &inner, input)
	}
	if known {
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

// program is programName of a program that a line starts by a path, or by a name that the
// line gave to hookd's own.
func (j *shellLine) program(word string) string {
	name := programName(word)
	if strings.Contains(word, "/") && name != "hookd" {
		for _, dir := range j.dirs {
			full := unescape(joined(dir, word), "")
			if real, err := filepath.EvalSymlinks(full); err == nil && j.isHookd(real) {
				return "hookd"
			}
		}
	}
	if slices.Contains(j.copies, name) {
		return "hookd"
	}
	return name
}

// isHookd reports whether a path is that of hookd's program.
func (j *judge) isHookd(path string) bool {
	return slices.ContainsFunc(j.options.Own, func(own string) bool {
		return filepath.Base(own) == "hookd" && protect.IsInside(path, own)
	})
}

// programName is the name by which the tables know a program: /usr/bin/rm is rm,
// python3.12 is python.
func programName(word string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
	name, _, _ = strings.Cut(strings.TrimSuffix(name, ".exe"), "@") // go run …/hookd@latest
	if trimmed := strings.TrimRight(name, "0123456789."); interpreters.of(trimmed).is || trimmed == "sqlite" {
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
