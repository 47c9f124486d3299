package selfprotect

import (
	"path"
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
	maxNesting      = 4  // variables in the values of variables
	maxBraces       = 12 // commas and ranges in {a,b}
)

// expander works out the words of one shell line that are not literal, as far as that
// is possible without running anything: variables with known values, ~, {a,b}, $(pwd).
type expander struct {
	values map[string][]shellwords.Word // that the line itself gives
	lookup func(name string) string     // values of variables before the line
	home   string
	pwd    func() []string // working directories at this point of the line
	top    string          // root of the project
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

// braces returns the words that one with {a,b} stands for. Ranges are left alone: they
// can be of any size.
func braces(w *syntax.Word) []*syntax.Word {
	for _, part := range w.Parts {
		if lit, is := part.(*syntax.Lit); is && strings.Contains(lit.Value, "..") {
			return []*syntax.Word{w}
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
		return []string{strings.ReplaceAll(p.Value, "\\\n", "")}
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
	}
	return []string{unknown}
}

// parameter returns the values of $NAME, of ${NAME:-default} and of ${NAME%…}.
func (x *expander) parameter(p *syntax.ParamExp, depth int) []string {
	if p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Names != 0 || p.Param == nil {
		return []string{unknown}
	}
	values := x.variable(p.Param.Value, depth)
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
// root of the repository.
func (x *expander) substitution(p *syntax.CmdSubst, depth int) []string {
	if len(p.Stmts) != 1 || depth >= maxNesting {
		return []string{unknown}
	}
	call, is := p.Stmts[0].Cmd.(*syntax.CallExpr)
	if !is || len(call.Args) == 0 {
		return []string{unknown}
	}
	var words []string
	for _, arg := range call.Args {
		texts := x.parts(arg.Parts, false, depth+1)
		words = append(words, texts[0])
	}
	switch strings.Join(words[:min(2, len(words))], " ") {
	case "pwd", "pwd -P", "pwd -L":
		return x.variable("PWD", depth)
	case "git rev-parse":
		if x.top != "" && len(words) == 3 && words[2] == "--show-toplevel" {
			return []string{plainPattern(x.top)}
		}
	}
	switch {
	case words[0] == "echo" && len(words) > 1:
		if words[1] == "-n" {
			words = words[1:]
		}
		return []string{strings.Join(words[1:], " ")}
	case words[0] == "printf" && len(words) == 2:
		return []string{words[1]}
	case words[0] == "printf" && len(words) == 3 && (words[1] == "%s" || words[1] == `%s\n`):
		return []string{words[2]}
	}
	return []string{unknown}
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

const patternCharacters = `*?[]\`

// plainPattern returns a text with a backslash before what a pattern heeds.
func plainPattern(text string) string {
	if !strings.ContainsAny(text, patternCharacters) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(patternCharacters, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// isPattern reports whether a shell takes a text for a pattern.
func isPattern(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// unescape takes backslashes away: all of them, or those before a byte of only.
func unescape(text, only string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (only == "" || strings.IndexByte(only, text[i+1]) >= 0) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
