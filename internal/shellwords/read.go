package shellwords

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Line is a shell line, split.
type Line struct {
	Text     string
	Commands []Command

	// Values are what assignments and loops of the line give variables, by name. A
	// variable may have others, from where the line does not show.
	Values map[string][]Word

	// Err says why the line could not be read. Commands are then guesses.
	Err error

	heads []string // the first words of what is compared
	whole []string // how a pattern for the line as a whole is compared with it
}

// Command is one simple command of a line, or a place where bash evaluates a text.
type Command struct {
	Text   string  // as written
	Words  []Word  // the program first; none where only something is set or written
	Sets   []Word  // assignments before the words: NAME=value
	Writes []Write // files that its redirections write

	// Input is the text of its here-documents and here-strings, as written.
	Input string

	// From is the text of the commands whose output it reads: through a pipe, from <(…),
	// or as a word $(…).
	From string

	// Given is true if not the shell of the line runs it, but another command of
	// the line: sudo, xargs, sh -c.
	Given bool

	// Unclear says why the text does not tell what runs, "" if it does.
	Unclear string

	granted bool // who grants the program grants what it runs, known or not
	later   bool // it has bash run a text at another time: nobody grants that

	shape
}

// shape is what patterns are compared with.
type shape struct {
	in        *input   // what it reads, nil if the line does not say that
	readsFrom []Word   // files that its redirections read
	forms     [][]Word // what its words come to, where that is more than they show as they are
	elsewhere []string // other folders than that of the caller in which it may run
	spellings []string // what a pattern is compared with
	heads     []uint8  // which of the line's first words each begins with
	unknown   []sketch // what is known of it, where not all is
}

// Write is a redirection that writes a file. Those to /dev/null and to another
// descriptor are none.
type Write struct {
	Operator string // such as > or >>
	Target   Word
}

// Bounds of a line; one beyond them counts as not readable.
const (
	maxText     = 16 << 10
	maxDepth    = 5       // shells in shells
	maxCommands = 2000    // in a line
	maxBytes    = 1 << 20 // of the commands' texts together, since one that is given holds others again
)

// Split reads a line as bash does.
func Split(text string) *Line { return SplitIn(text, "", "") }

// SplitIn is [Split] for a line that begins in a folder. A file that it names as seen from
// another folder is compared by its path from there, too, if that folder is outside of the
// project. Both are absolute paths, or "" where they are not known.
func SplitIn(text, project, folder string) *Line {
	line := &Line{Text: strings.TrimSpace(text)}
	r := reader{found: newFound()}
	r.found.project, r.found.here = project, []string{folder}
	if r.text(line.Text); r.found.err != nil {
		line.Err, line.Commands = r.found.err, guess(line.Text)
	} else {
		line.Commands = r.found.commands
	}
	line.Values = r.found.values
	line.whole = []string{line.Text}
	if len(line.Text) <= maxText {
		line.whole = append(line.whole, strings.Join(strings.Fields(line.Text), " "))
	}
	for i := range line.Commands {
		line.Commands[i].spell()
	}
	line.count()
	return line
}

// found is what the readers of a line and of the texts in it have found together.
type found struct {
	commands  []Command
	values    map[string][]Word
	files     map[string]written // that the line makes
	moreFiles bool               // than are kept
	functions map[string]bool    // that it defines
	renames   bool               // it gives commands other meanings
	sets      map[string]bool    // variables that it gives values to; "" stands for any
	bytes     int
	err       error

	project string
	here    []string // folders in which what is found now may run
}

func newFound() *found {
	return &found{values: map[string][]Word{}, functions: map[string]bool{}, sets: map[string]bool{}, here: []string{""}}
}

func (f *found) add(c Command) {
	c.elsewhere = f.elsewhere()
	if f.bytes += len(c.Text); len(f.commands) >= maxCommands || f.bytes > maxBytes {
		f.fail(fmt.Errorf("it has more than %d commands, or long ones in one another", maxCommands))
		return
	}
	f.commands = append(f.commands, c)
}

func (f *found) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// reader reads one text: the line, or one that a command in it gives to a shell.
type reader struct {
	found   *found
	source  string
	given   bool
	depth   int
	hides   bool // see hidesCommands
	settled *settled
	in      *input // what the command that is looked at reads
	fed     string // the commands at the other end of its pipe
	codes   int
	later   bool // see Command
	loops   bool // a variable gets a value other than by an assignment

	statements
}

// statements is what is known of the statements of a text.
type statements struct {
	feeds map[*syntax.Stmt]string  // the commands at the other end of their pipes
	at    map[*syntax.Stmt][]place // where they run, nil if all do where the text begins
}

// text reads a text that r's shell runs itself.
func (r *reader) text(text string) {
	switch {
	case len(text) > maxText:
		r.found.fail(fmt.Errorf("it is longer than %d bytes", maxText))
		return
	case r.depth > maxDepth:
		r.found.fail(fmt.Errorf("it holds shells in shells, more than %d deep", maxDepth))
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		r.found.fail(fmt.Errorf("it cannot be read as bash (%w)", err))
		return
	}
	r.source, r.hides, r.loops = text, hidesCommands(file), setsInLoops(file)
	r.found.note(file)
	r.settled = settle(r, file)
	starts := r.found.here
	r.at = r.follow(file)
	defer func() { r.found.here = starts }()
	walk(file, func(node syntax.Node) bool {
		if stmt, is := node.(*syntax.Stmt); is {
			if r.at != nil {
				r.found.here = nil
				for _, p := range r.at[stmt] {
					r.found.here = union(r.found.here, []string{p.now})
				}
			}
			r.statement(stmt)
		} else if node != nil {
			inputs{r}.pipe(node)
			doubts{r}.bomb(node)
			r.value(node)
			doubts{r}.evaluation(node)
		}
		return r.found.err == nil
	})
}

// givenText reads a text that a command gives to a shell. With more, words that are
// not known stand after it when it runs.
func (r *reader) givenText(text string, more bool) {
	before := len(r.found.commands)
	inner := reader{found: r.found, given: true, depth: r.depth + 1}
	inner.text(text)
	for i := before; more && i < len(r.found.commands); i++ {
		c := &r.found.commands[i]
		c.Words = withUnknown(c.Words, false)
	}
}

// statement adds the simple command of a statement, if it is one, or what its
// redirections write. The statements inside of it are left to the caller.
func (r *reader) statement(stmt *syntax.Stmt) {
	c := Command{Text: r.slice(stmt), Given: r.given}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		for _, assign := range cmd.Assigns {
			c.Sets = append(c.Sets, r.assignment(assign))
		}
		for _, word := range cmd.Args {
			c.Words = append(c.Words, r.word(word))
		}
		if len(cmd.Args) > 0 {
			c.Words[0] = r.program(cmd.Args[0])
			c.forms = filler{r}.worked(cmd.Args, c.Words)
		}
	case *syntax.DeclClause:
		c.Words = append(c.Words, Word{Text: cmd.Variant.Value, Literal: true})
		for _, arg := range cmd.Args {
			c.Words = append(c.Words, r.assignment(arg))
		}
	}
	c.Writes, c.Input = r.writes(stmt.Redirs), r.hereTexts(stmt.Redirs)
	if len(c.Words)+len(c.Sets)+len(c.Writes) == 0 {
		return
	}
	c.Unclear, c.From = doubts{r}.unclear(&c, stmt), inputs{r}.from(stmt)
	c.in = inputs{r}.reads(stmt, c.From)
	for _, redirect := range stmt.Redirs {
		if (redirect.Op == syntax.RdrIn || redirect.Op == syntax.RdrInOut) && redirect.Word != nil {
			c.readsFrom = append(c.readsFrom, r.word(redirect.Word))
		}
	}
	c.later = r.later
	r.later = false
	r.found.add(c)
	givenReader{r}.givenBySets(c.Sets)
	defer r.found.writesFiles(r, &c, stmt, c.in)
	if len(c.Words) > 0 {
		before := len(r.found.commands)
		r.in, r.fed = c.in, c.From
		for _, words := range c.all() {
			wrapping{r}.wrapped(words, stmt.Redirs)
		}
		r.in, r.fed = nil, ""
		for i := before; i < len(r.found.commands); i++ {
			if given := &r.found.commands[i]; given.From == "" {
				given.From = c.From
			}
		}
	}
}

// value keeps what an assignment or a loop gives a variable.
func (r *reader) value(node syntax.Node) {
	name, words := "", []*syntax.Word(nil)
	switch n := node.(type) {
	case *syntax.Assign:
		if n.Name == nil {
			return
		}
		name = n.Name.Value
		if n.Value != nil {
			words = []*syntax.Word{n.Value}
		}
		if n.Array != nil {
			for _, element := range n.Array.Elems {
				words = append(words, element.Value)
			}
		}
	case *syntax.WordIter:
		name, words = n.Name.Value, n.Items
	}
	for _, word := range words {
		if word != nil && len(r.found.values[name]) < maxValues {
			r.found.values[name] = append(r.found.values[name], r.word(word))
		}
	}
}

// maxValues of one variable are kept.
const maxValues = 50

// hereTexts returns what here-documents and here-strings hold.
func (r *reader) hereTexts(redirects []*syntax.Redirect) string {
	var texts []string
	for _, redirect := range redirects {
		switch {
		case redirect.Hdoc != nil:
			// Where something is put in, the parser's end is after the closing word.
			texts = append(texts, strings.TrimSuffix(r.slice(redirect.Hdoc), "\n"+redirect.Word.Lit()))
		case redirect.Op == syntax.WordHdoc:
			texts = append(texts, r.slice(redirect.Word))
		}
	}
	return strings.Join(texts, "\n")
}

func (r *reader) writes(redirects []*syntax.Redirect) (writes []Write) {
	for _, redirect := range redirects {
		switch redirect.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.ClbOut, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut, syntax.DplOut:
			target := r.word(redirect.Word)
			copies := redirect.Op == syntax.DplOut && strings.Trim(target.Text, "0123456789-") == ""
			if target.Text != "/dev/null" && !copies {
				writes = append(writes, Write{redirect.Op.String(), target})
			}
		}
	}
	return writes
}

func (r *reader) slice(node syntax.Node) string {
	begin, end := min(int(node.Pos().Offset()), len(r.source)), min(int(node.End().Offset()), len(r.source))
	return strings.TrimSpace(r.source[begin:max(begin, end)])
}

// walk is [syntax.Walk] with what that leaves out: the numbers in ${a:x:y}.
func walk(node syntax.Node, visit func(syntax.Node) bool) {
	syntax.Walk(node, func(node syntax.Node) bool {
		if !visit(node) {
			return false
		}
		if p, is := node.(*syntax.ParamExp); is && p.Slice != nil {
			for _, number := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
				if number != nil {
					walk(number, visit)
				}
			}
		}
		return true
	})
}

// guess splits a text that is no readable bash wherever a command could begin.
func guess(text string) (commands []Command) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";&|\n(){}`$\"'<>", r) }) {
		const front, most = 4 << 10, 50 // a program and its options stand in front
		fields := strings.Fields(part[:min(front, len(part))])
		for i := range fields { // the words before may be of the shell: then, do, !
			c := Command{Text: strings.Join(fields[i:min(i+most, len(fields))], " ")}
			for _, field := range fields[i:min(i+most, len(fields))] {
				c.Words = append(c.Words, Word{Text: field, Literal: true})
			}
			commands = append(commands, c)
		}
		if len(commands) > maxCommands {
			break
		}
	}
	return commands
}
