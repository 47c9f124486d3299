package selfprotect

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/hookd-dev/hookd/internal/shellwords"
)

// unknown stands in a text for a part that only shows when the line runs.
const unknown = "\x00"

// Bounds of what one word is worked out to.
const (
	maxAlternatives = 64
	maxNesting      = 4     // variables in the values of variables
	maxBraces       = 12    // commas in {a,b}
	maxSteps        = 20000 // words that are worked out for one call, those in variables included
)

// expander works out the words of one shell line that are not literal, as far as that
// is possible without running anything: variables with known values, ~, {a,b}, $(pwd).
type expander struct {
	values map[string][]shellwords.Word // that the line itself gives
	lookup func(name string) string     // values of variables before the line
	home   string
	pwd    func() []string // working directories at this point of the line
	top    string          // root of the project
	own    []string        // hookd's files
	steps  *int            // of the call
}

// word returns the texts that a word may stand for. In each a part that is not known is
// [unknown], and characters that a shell takes for a pattern have a backslash before
// them where they are plain.
func (x *expander) word(w shellwords.Word) []string {
	if w.Literal {
		return []string{plainPattern(w.Text)}
	}
	return x.raw(w.Text, 0)
}

func (x *expander) raw(text string, depth int) []string {
	if *x.steps++; *x.steps > maxSteps {
		return []string{unknown}
	}
	var words []*syntax.Word
	err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Words(strings.NewReader(text), func(w *syntax.Word) bool {
		words = append(words, w)
		return len(words) < 2
	})
	if err != nil || len(words) != 1 || depth > maxNesting {
		return []string{unknown}
	}
	if strings.Count(text, ",")+strings.Count(text, "..") <= maxBraces {
		words = braces(words[0])
	}
	var all []string
	for _, w := range words {
		for _, text := range x.parts(w.Parts, false, depth) {
			if len(all) < maxAlternatives {
				all = append(all, x.tilde(text))
			}
		}
	}
	return all
}

// braces returns the words that one with {a,b} stands for. A range, which can be of any
// size, becomes a pattern.
func braces(w *syntax.Word) []*syntax.Word {
	for _, part := range w.Parts {
		if lit, is := part.(*syntax.Lit); is {
			lit.Value = ranges().ReplaceAllString(lit.Value, "*")
		}
	}
	syntax.SplitBraces(w)
	return expand.Braces(w)
}

// parts returns the texts of parts one after the other.
func (x *expander) parts(parts []syntax.WordPart, quoted bool, depth int) []string {
	texts := []string{""}
	for _, part := range parts {
		var next []string
		for _, end := range x.part(part, quoted, depth) {
			for _, begin := range texts {
				if len(next) < maxAlternatives {
					next = append(next, begin+end)
				}
			}
		}
		texts = next
	}
	return texts
}

func (x *expander) part(part syntax.WordPart, quoted bool, depth int) []string {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			return []string{plainPattern(unescape(p.Value, "$`\"\\\n"))}
		}
		return []string{shellPattern(strings.ReplaceAll(p.Value, "\\\n", ""))}
	case *syntax.SglQuoted:
		if text, err := expand.Literal(nil, &syntax.Word{Parts: []syntax.WordPart{p}}); err == nil {
			return []string{plainPattern(text)}
		}
	case *syntax.DblQuoted:
		return x.parts(p.Parts, true, depth)
	case *syntax.ParamExp:
		return x.parameter(p, depth)
	case *syntax.CmdSubst:
		return x.substitution(p, depth)
	case *syntax.ExtGlob:
		return extended(p)
	}
	return []string{unknown}
}

// parameter returns the values of $NAME, of ${NAME:-default} and of ${NAME%…}.
func (x *expander) parameter(p *syntax.ParamExp, depth int) []string {
	if p.Excl || p.Length || p.Width || p.Slice != nil || p.Names != 0 || p.Param == nil {
		return []string{unknown}
	}
	values := x.variable(p.Param.Value, depth) // of an array all that it may hold
	if p.Exp == nil && p.Repl == nil {
		return values
	}
	if p.Exp != nil && p.Exp.Word != nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			return append(values, x.parts(p.Exp.Word.Parts, true, depth)...)
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			return append(x.parts(p.Exp.Word.Parts, true, depth), "")
		}
	}
	return x.changed(p, values)
}

// changed returns values as ${NAME%…}, ${NAME#…} and ${NAME/…} change them.
func (x *expander) changed(p *syntax.ParamExp, values []string) (changed []string) {
	for _, value := range values {
		if strings.Contains(value, unknown) {
			changed = append(changed, unknown)
			continue
		}
		env := expand.ListEnviron(p.Param.Value + "=" + unescape(value, ""))
		text, err := expand.Literal(&expand.Config{Env: env}, &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{p}}}})
		if err != nil {
			text = unknown
		}
		changed = append(changed, plainPattern(text))
	}
	return changed
}

// variable returns the values that a variable may have.
func (x *expander) variable(name string, depth int) (values []string) {
	for _, w := range x.values[name] {
		if w.Literal {
			values = append(values, plainPattern(w.Text))
		} else {
			values = append(values, x.raw(w.Text, depth+1)...)
		}
	}
	switch {
	case len(values) > 0:
		return values[:min(len(values), maxAlternatives)]
	case name == "HOME":
		return []string{plainPattern(x.home)}
	case name == "IFS":
		return []string{" "}
	case name == "PWD":
		for _, dir := range x.pwd() {
			values = append(values, plainPattern(dir))
		}
		return values
	}
	if x.lookup != nil && name != "" {
		if value := x.lookup(name); value != "" {
			return []string{plainPattern(value)}
		}
	}
	return []string{unknown}
}

// substitution returns what $(…) prints where that is plain: pwd, echo with words, the
// root of the repository, where a program is, a path that is made absolute.
func (x *expander) substitution(p *syntax.CmdSubst, depth int) []string {
	if len(p.Stmts) == 0 || depth >= maxNesting {
		return []string{unknown}
	}
	stmt := p.Stmts[len(p.Stmts)-1]
	if chain, is := stmt.Cmd.(*syntax.BinaryCmd); is && chain.Op == syntax.AndStmt { // cd x && pwd
		stmt = chain.Y
	}
	call, is := stmt.Cmd.(*syntax.CallExpr)
	if !is || len(call.Args) == 0 {
		return []string{unknown}
	}
	var words []string
	for _, arg := range call.Args {
		texts := x.parts(arg.Parts, false, depth+1)
		words = append(words, x.tilde(texts[0]))
	}
	return x.printed(words, depth)
}

// printed returns what a command with these words prints.
func (x *expander) printed(words []string, depth int) []string {
	name, args := words[0], words[1:]
	operands := slices.DeleteFunc(slices.Clone(args), func(word string) bool { return strings.HasPrefix(word, "-") })
	switch {
	case name == "pwd":
		return x.variable("PWD", depth)
	case name == "git" && len(args) == 2 && args[0] == "rev-parse" && args[1] == "--show-toplevel" && x.top != "":
		return []string{plainPattern(x.top)}
	case len(operands) == 0:
	case name == "echo":
		return []string{strings.Join(operands, " ")}
	case name == "printf" && len(args) == 1:
		return []string{strings.TrimSuffix(args[0], `\n`)}
	case name == "printf" && strings.Count(args[0], "%s") == len(args)-1:
		text := strings.TrimSuffix(args[0], `\n`)
		for _, value := range args[1:] {
			text = strings.Replace(text, "%s", value, 1)
		}
		return []string{text}
	case name == "which" || name == "type" || name == "command":
		return x.programs(path.Base(operands[len(operands)-1]))
	case name == "dirname":
		return []string{path.Dir(operands[0])}
	case name == "basename":
		return []string{path.Base(operands[0])}
	case name == "realpath" || name == "readlink":
		return operands[:1]
	}
	return []string{unknown}
}

// programs returns where hookd's own program of a name is.
func (x *expander) programs(name string) (paths []string) {
	for _, own := range x.own {
		if filepath.Base(own) == name {
			paths = append(paths, plainPattern(filepath.ToSlash(own)))
		}
	}
	if len(paths) == 0 {
		return []string{unknown}
	}
	return paths
}

// tilde returns a text with the home folder in the place of ~.
func (x *expander) tilde(text string) string {
	switch rest, is := strings.CutPrefix(text, "~"); {
	case !is:
		return text
	case rest == "" || rest[0] == '/':
		return plainPattern(x.home) + rest
	case rest == "+" || strings.HasPrefix(rest, "+/"):
		return x.variable("PWD", 0)[0] + rest[1:]
	default: // ~user
		_, below, _ := strings.Cut(rest, "/")
		return path.Join("/"+unknown, below)
	}
}
