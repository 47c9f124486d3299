package shellwords

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// inputs finds what commands read.
type inputs struct{ *reader }

// input is what a command reads.
type input struct {
	text  string
	known bool // text is all of it
	piped bool // it comes from another command
}

// reads returns what a statement reads, nil if that is not said.
func (r inputs) reads(stmt *syntax.Stmt, from string) *input {
	if text, known := r.input(stmt.Redirs); known {
		return &input{text: text, known: true}
	}
	for _, redirect := range stmt.Redirs {
		if redirect.Op == syntax.RdrIn && redirect.Word != nil && len(redirect.Word.Parts) == 1 {
			if _, is := redirect.Word.Parts[0].(*syntax.ProcSubst); is {
				return &input{piped: true}
			}
		}
		if redirect.Hdoc != nil || redirect.Op == syntax.WordHdoc {
			return &input{text: r.hereTexts(stmt.Redirs), piped: true}
		}
	}
	if r.feeds[stmt] == "" {
		return nil
	}
	if text, known := r.printed(r.feeds[stmt]); known {
		return &input{text: text, known: true, piped: true}
	}
	return &input{piped: true}
}

// printed returns what a command prints, if that is known from its text: echo and printf
// of what is literal, cat of a here-document.
func (r inputs) printed(text string) (string, bool) {
	const most = 2 << 10
	if len(text) > most || !strings.HasPrefix(text, "echo ") && !strings.HasPrefix(text, "printf ") && !strings.HasPrefix(text, "cat <<") && !strings.HasPrefix(text, "tee ") {
		return "", false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 {
		return "", false
	}
	inner := reader{found: r.found, source: text}
	return inputs{&inner}.prints(file.Stmts[0])
}

// prints returns what a statement prints, if that shows.
func (r inputs) prints(stmt *syntax.Stmt) (string, bool) {
	call, is := stmt.Cmd.(*syntax.CallExpr)
	if !is || len(call.Args) == 0 {
		return "", false
	}
	var words []string
	for _, arg := range call.Args {
		text, literal := unquoted(arg.Parts, false)
		if !literal || hasBraces(arg) || hasTilde(arg) {
			return "", false
		}
		words = append(words, text)
	}
	if r.found.renames || r.found.functions[words[0]] {
		return "", false
	}
	switch args := words[1:]; words[0] {
	case "echo":
		escaped := false
		for len(args) > 0 && strings.HasPrefix(args[0], "-") && strings.Trim(args[0], "-neE") == "" {
			escaped = escaped || strings.Contains(args[0], "e")
			args = args[1:]
		}
		text := strings.Join(args, " ")
		if escaped {
			return escapes(text), true
		}
		return text, !strings.Contains(text, `\`) // which sh takes away and bash does not
	case "printf":
		if len(args) == 1 {
			return escapes(args[0]), !strings.Contains(args[0], "%")
		}
		if len(args) > 1 && (args[0] == "%s" || args[0] == `%s\n`) {
			return strings.Join(args[1:], "\n"), true
		}
	case "cat", "tee":
		if len(args) == 0 || words[0] == "tee" {
			return r.input(stmt.Redirs)
		}
	}
	return "", false
}

// pipe notes what the statements at the end of a pipe read.
func (r inputs) pipe(node syntax.Node) {
	binary, is := node.(*syntax.BinaryCmd)
	if !is || binary.Op != syntax.Pipe && binary.Op != syntax.PipeAll {
		return
	}
	if r.feeds == nil {
		r.feeds = map[*syntax.Stmt]string{}
	}
	text := r.slice(binary.X)
	syntax.Walk(binary.Y, func(node syntax.Node) bool {
		if stmt, is := node.(*syntax.Stmt); is {
			r.feeds[stmt] = text // a pipe in here is visited later and takes its place
		}
		return true
	})
}

// from returns the commands whose output a statement reads.
func (r inputs) from(stmt *syntax.Stmt) string {
	var parts []string
	if text := r.feeds[stmt]; text != "" {
		parts = append(parts, text)
	}
	read := func(node syntax.Node) bool {
		var inner []*syntax.Stmt
		switch n := node.(type) {
		case *syntax.Stmt:
			return false
		case *syntax.CmdSubst:
			inner = n.Stmts
		case *syntax.ProcSubst:
			inner = n.Stmts
		}
		for _, s := range inner {
			parts = append(parts, r.slice(s))
		}
		return true
	}
	if call, is := stmt.Cmd.(*syntax.CallExpr); is {
		for _, word := range call.Args {
			syntax.Walk(word, read)
		}
	}
	for _, redirect := range stmt.Redirs {
		if redirect.Word != nil && redirect.Op == syntax.RdrIn {
			syntax.Walk(redirect.Word, read)
		}
	}
	return strings.Join(parts, "\n")
}

// input returns the text that a command reads, and whether it is known: it has one
// source of input, which is a literal here-document.
func (r inputs) input(redirects []*syntax.Redirect) (text string, literal bool) {
	var from []*syntax.Redirect
	for _, redirect := range redirects {
		reads := slices.Contains([]syntax.RedirOperator{syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrIn, syntax.DplIn, syntax.RdrInOut}, redirect.Op)
		if redirect.N == nil && reads || redirect.N != nil && strings.Trim(redirect.N.Value, "0") == "" {
			from = append(from, redirect)
		}
	}
	switch {
	case len(from) != 1:
		return "", false
	case from[0].Op == syntax.WordHdoc:
		return unquoted(from[0].Word.Parts, false)
	case from[0].Hdoc == nil:
		return "", false
	case slices.ContainsFunc(from[0].Word.Parts, func(part syntax.WordPart) bool {
		lit, is := part.(*syntax.Lit)
		return !is || strings.Contains(lit.Value, `\`)
	}): // its end is quoted, and so is the text
		return r.slice(from[0].Hdoc), true
	}
	if text = from[0].Hdoc.Lit(); text == "" { // it is empty, or something is put in
		return "", false
	}
	return unescape(text, "$`\\\n"), true
}

// files follows what the line writes and then runs.
type files struct{ *reader }

// written is a file that an earlier command of the line makes.
type written struct {
	text  string
	known bool
	copy  string // of which program it is a copy, or a link to it
}

// writesFiles notes which files a statement makes, so that what they hold is known where
// the line runs them.
func (f *found) writesFiles(r *reader, c *Command, stmt *syntax.Stmt, in *input) {
	note := func(name string, w written) {
		if f.files == nil {
			f.files = map[string]written{}
		}
		name = path.Clean(name)
		before, again := f.files[name]
		switch {
		case again: // it may hold both
			f.files[name] = written{text: before.text + "\n" + w.text, known: before.known && w.known && before.copy == "" && w.copy == ""}
		case len(f.files) < maxFiles:
			f.files[name] = w
		default:
			f.moreFiles = true
		}
	}
	for _, write := range c.Writes {
		if write.Target.Literal {
			text, known := inputs{r}.prints(stmt)
			if !known && in != nil && in.known && len(c.Words) == 1 && c.Words[0].Text == "cat" {
				text, known = in.text, true
			}
			note(write.Target.Text, written{text: text, known: known})
		}
	}
	if len(c.Words) < 2 || !c.Words[0].Literal {
		return
	}
	words := c.all()[0]
	last := words[len(words)-1]
	switch programName(c.Words[0]) {
	case "tee":
		for _, word := range c.Words[1:] {
			if word.Literal && !strings.HasPrefix(word.Text, "-") {
				w := written{}
				if in != nil && in.known {
					w.text, w.known = in.text, true
				}
				note(word.Text, w)
			}
		}
	case "cp", "ln", "mv", "install", "rsync":
		if len(words) < 3 {
			return
		}
		if from := words[len(words)-2]; last.Literal && from.Text != "" {
			program := path.Base(from.Text)
			if m := whichProgram().FindStringSubmatch(from.Text); m != nil {
				program = m[2]
			}
			note(last.Text, written{copy: program})
		}
	case "curl", "wget", "fetch", "aria2c", "scp", "base64", "openssl", "gunzip", "unzip", "git":
		for _, word := range c.Words[1:] {
			if word.Literal && !strings.HasPrefix(word.Text, "-") {
				note(word.Text, written{})
				note(path.Base(word.Text), written{})
			}
		}
	}
}

// maxFiles that a line writes are kept. Where there are more, nothing is known of a file that
// the line runs.
const maxFiles = 100

// runsFile reads what the line wrote into a file that a command runs: as its program, or
// as the script of a shell or an interpreter.
func (r files) runsFile(words []Word) {
	if len(r.found.files) == 0 || len(words) == 0 || !words[0].Literal {
		return
	}
	program := programName(words[0])
	if w, is := r.found.files[path.Clean(words[0].Text)]; is && strings.Contains(words[0].Text, "/") {
		if w.copy != "" {
			copied := append([]Word{{Text: w.copy, Literal: true}}, words[1:]...)
			r.found.add(Command{Text: strings.Join(texts(copied), " "), Words: copied, Given: true})
			return
		}
		r.writtenText(words, w, language{}, false)
		return
	}
	l, interprets := languageOf(program)
	if program == "make" {
		for _, name := range []string{"Makefile", "makefile", "GNUmakefile"} {
			if w, is := r.found.files[name]; is {
				r.writtenText(words, written{text: w.text}, l, false)
			}
		}
	}
	if !interprets && !isShell(program) && program != "source" && program != "." {
		if r.found.moreFiles && strings.Contains(words[0].Text, "/") {
			coder(r).doubt(words, "the line makes too many files")
		}
		return
	}
	if r.found.moreFiles && len(words) > 1 {
		coder(r).doubt(words, "the line makes too many files")
	}
	for _, word := range words[1:] {
		if w, is := r.found.files[path.Clean(word.Text)]; is && word.Literal && !strings.HasPrefix(word.Text, "-") {
			r.writtenText(words, w, l, interprets)
		}
	}
}

func (r files) writtenText(words []Word, w written, l language, interprets bool) {
	switch {
	case !w.known:
		coder(r).doubt(words, "it runs a file that the line makes")
	case interprets:
		r.found.add(Command{Text: words[0].Text + " < " + w.text, Words: []Word{words[0], {Text: "<", Literal: true}, {Text: w.text, Literal: true}}, Given: true})
		coder(r).code(words, w.text, l)
	case strings.HasPrefix(w.text, "#!"):
		first, _, _ := strings.Cut(w.text, "\n")
		for _, field := range strings.FieldsFunc(first, func(r rune) bool { return r == '/' || r == ' ' }) {
			if l, is := languageOf(field); is {
				coder(r).code(words, w.text, l)
				return
			}
		}
		coder(r).guessedText(words, w.text)
	default:
		coder(r).guessedText(words, w.text)
	}
}
