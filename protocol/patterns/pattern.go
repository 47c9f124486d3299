package patterns

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"
)

// Pattern matches a line of text as a whole, case counting: a command, the name
// of a model. It is one of three:
//
//   - a text without * and ? is itself and nothing else,
//   - a glob: * is any run of characters, spaces and slashes too, ? is one; a
//     backslash takes the meaning from either,
//   - a regular expression (RE2) between slashes: /git (push|pull) .*/, whose dot
//     also stands for a line break.
type Pattern struct {
	Text string
	// Literal is what the pattern matches if it is an exact one, else what every
	// match begins with, as far as that is known.
	Literal string
	Exact   bool
	expr    *regexp.Regexp      // nil if Exact
	program func() *syntax.Prog // see MayMatch
	heads   func() []head       // see MayStart; nil: not known
}

// longestPattern bounds a pattern, in bytes.
const longestPattern = 4096

// Parse compiles a pattern. A text that begins with a slash and does not
// end with one is a path; if it looks like a regular expression all the same,
// that is an error, since it would match nothing.
func Parse(text string) (Pattern, error) {
	p := Pattern{Text: text}
	switch {
	case strings.TrimSpace(text) == "":
		return p, fmt.Errorf("an empty pattern matches nothing")
	case !utf8.ValidString(text):
		return p, fmt.Errorf("%q is not valid UTF-8", text)
	case len(text) > longestPattern:
		return p, fmt.Errorf("the pattern has %d bytes; at most %d", len(text), longestPattern)
	case len(text) > 2 && text[0] == '/' && strings.HasSuffix(text, "/"):
		return p.regular(text[1 : len(text)-1])
	case text[0] == '/' && strings.ContainsAny(text, `^$()[]|+`):
		return p, fmt.Errorf("%q looks like a regular expression without its last slash", text)
	}
	return p.glob(), nil
}

func (p Pattern) regular(inner string) (Pattern, error) {
	if own, err := Compile(inner); err != nil {
		return p, fmt.Errorf("%q is no regular expression: %s", p.Text, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	} else {
		p.Literal, _ = own.LiteralPrefix()
	}
	compiled, err := Compile(`(?s)\A(?:` + inner + `)\z`)
	if err != nil {
		return p, fmt.Errorf("%q is no regular expression: %w", p.Text, err)
	}
	return p.compiled(compiled), nil
}

func (p Pattern) compiled(expr *regexp.Regexp) Pattern {
	p.expr, p.program = expr, programOf(expr.String())
	p.heads = headsOf(p.program)
	return p
}

// programOf returns the steps of an expression once they are asked for.
func programOf(expr string) func() *syntax.Prog {
	return sync.OnceValue(func() *syntax.Prog {
		parsed, err := syntax.Parse(expr, syntax.Perl)
		if err != nil { // it was compiled before
			return nil
		}
		program, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			return nil
		}
		return program
	})
}

func (p Pattern) glob() Pattern {
	var expr, literal strings.Builder
	p.Exact = true
	for i := 0; i < len(p.Text); i++ {
		c := p.Text[i]
		switch {
		case c == '\\' && i+1 < len(p.Text) && (p.Text[i+1] == '*' || p.Text[i+1] == '?'):
			i++
			c = p.Text[i]
		case c == '*', c == '?':
			p.Exact = false
			expr.WriteString(map[byte]string{'*': `.*`, '?': `.`}[c])
			continue
		}
		expr.WriteString(regexp.QuoteMeta(string([]byte{c})))
		if p.Exact {
			literal.WriteByte(c)
		}
	}
	p.Literal = literal.String()
	if !p.Exact {
		return p.compiled(regexp.MustCompile(`(?s)\A` + expr.String() + `\z`))
	}
	p.program = programOf(`(?s)\A` + regexp.QuoteMeta(strings.Join(strings.Fields(p.Literal), " ")) + `(?: .*)?\z`)
	first, _, more := strings.Cut(strings.TrimSpace(p.Literal), " ")
	if more || !strings.ContainsAny(first, "\t\n") {
		list := []head{{word: first}}
		p.heads = func() []head { return list }
	}
	return p
}

// Match reports whether the pattern matches all of a text.
func (p Pattern) Match(text string) bool {
	if p.Exact {
		return p.Literal == text
	}
	return p.expr.MatchString(text)
}
