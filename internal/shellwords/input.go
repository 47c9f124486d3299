package shellwords

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// input is what a command reads.
type input struct {
	text  string
	known bool // text is all of it
	piped bool // it comes from another command
}

// reads returns what a statement reads, nil if that is not said.
func (r *reader) reads(stmt *syntax.Stmt, from string) *input {
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
func (r *reader) printed(text string) (string, bool) {
	const most = 2 << 10
	if len(text) > most || !strings.HasPrefix(text, "echo ") && !strings.HasPrefix(text, "printf ") && !strings.HasPrefix(text, "cat <<") && !strings.HasPrefix(text, "tee ") {
		return "", false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 {
		return "", false
	}
	inner := reader{found: r.found, source: text}
	return inner.prints(file.Stmts[0])
}

// prints returns what a statement prints, if that shows.
func (r *reader) prints(stmt *syntax.Stmt) (string, bool) {
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
	case "which", "command", "type": // the program in whatever folder
		if name := words[len(words)-1]; len(words) == 2 && words[0] == "which" || len(words) == 3 && (words[1] == "-v" || words[1] == "-P" || words[1] == "-p") {
			return name, true
		}
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
