package shellwords

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
