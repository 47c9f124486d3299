package shellwords

import (
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
