package shellwords

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/protocol/patterns"
	"mvdan.cc/sh/v3/syntax"
)

// Word is a word of a command: without its quotes if it is literal, else as it was
// written.
type Word struct {
	Text    string
	Literal bool

	known *known // of one that is not literal; nil if nothing of it is known
}

// known is what is known of a word that is not literal.
type known struct {
	pieces []patterns.Piece
	base   string // of a program whose folder only shows when it runs: its name
	splits bool   // it may become no word, or several
}

// base is the name of a program whose folder only shows when it runs.
func (w *Word) base() string {
	if w.known == nil {
		return ""
	}
	return w.known.base
}

// named reports whether it is known which program a word names as the first of a command.
func (w *Word) named() bool { return w.Literal || w.base() != "" }

// word returns a word of the text. One with a glob (*.go), braces ({a,b}) or a tilde
// that stands for a folder (~/x, ~+) is not literal.
func (r *reader) word(word *syntax.Word) Word {
	text, literal := unquoted(word.Parts, false)
	if !literal || hasGlob(word) || hasBraces(word) || hasTilde(word) {
		return r.found.unknown(r.slice(word), word)
	}
	return Word{Text: text, Literal: true}
}

// program returns the first word of a command. Of ~/bin/x and "$X/bin/x" the folder is not
// known, but the name is.
func (r *reader) program(word *syntax.Word) Word {
	text, literal := unquoted(word.Parts, false)
	if literal && hasTilde(word) && strings.Contains(text, "/") && !hasGlob(word) && !hasBraces(word) {
		return Word{Text: text, Literal: true}
	}
	w := r.word(word)
	if m := whichProgram().FindStringSubmatch(w.Text); m != nil && w.known != nil && !r.found.renames && !r.found.functions[m[1]] {
		w.known.base = m[2] // in whatever folder
		return w
	}
	if w.known == nil || w.known.splits {
		return w
	}
	end := w.known.pieces[len(w.known.pieces)-1]
	if last := strings.LastIndexByte(end.Text, '/'); end.Any == patterns.None && last >= 0 {
		w.known.base = end.Text[last+1:]
	}
	return w
}

// whichProgram is a word that stands for the path of a program.
var whichProgram = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^\"?(?:\\$\\(|`)(which|command|type)(?: -[vpP])? ([a-z0-9_.+-]+)(?:\\)|`)\"?$")
})

// assignment returns NAME=value as a word.
func (r *reader) assignment(assign *syntax.Assign) Word {
	if assign.Naked && assign.Name == nil && assign.Value != nil { // an option, or a word that is no name
		return r.word(assign.Value)
	}
	if assign.Array == nil && assign.Index == nil && assign.Value != nil && assign.Name != nil {
		if text, literal := unquoted(assign.Value.Parts, false); literal {
			operator := "="
			if assign.Append {
				operator = "+="
			}
			return Word{Text: assign.Name.Value + operator + text, Literal: true}
		}
	}
	w := Word{Text: r.slice(assign), Literal: assign.Array == nil && assign.Index == nil && assign.Value == nil}
	if assign.Name != nil && assign.Value != nil && assign.Index == nil && !assign.Append {
		p := pieces{found: r.found}
		p.text.WriteString(assign.Name.Value + "=")
		p.parts(assign.Value.Parts, true)
		p.add()
		w.known = &known{pieces: p.list}
	}
	return w
}

// unquoted returns the text of a word without its quotes, and whether all of it is
// literal.
func unquoted(parts []syntax.WordPart, quoted bool) (string, bool) {
	var b strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if quoted {
				b.WriteString(unescape(p.Value, "$`\"\\\n"))
			} else {
				b.WriteString(unescape(p.Value, ""))
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				b.WriteString(escapes(p.Value))
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			inner, literal := unquoted(p.Parts, true)
			if !literal || p.Dollar {
				return "", false
			}
			b.WriteString(inner)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescape takes backslashes away: all of them, or those before a byte of only.
func unescape(text, only string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (only == "" || strings.IndexByte(only, text[i+1]) >= 0) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func hasGlob(word *syntax.Word) bool {
	return slices.ContainsFunc(word.Parts, func(part syntax.WordPart) bool {
		lit, is := part.(*syntax.Lit)
		if !is || lit.Value == "[" && len(word.Parts) == 1 {
			return false
		}
		for i := 0; i < len(lit.Value); i++ {
			switch lit.Value[i] {
			case '\\':
				i++
			case '*', '?', '[':
				return true
			}
		}
		return false
	})
}

func hasTilde(word *syntax.Word) bool {
	lit, is := word.Parts[0].(*syntax.Lit)
	return is && strings.HasPrefix(lit.Value, "~")
}

// hasBraces reports whether a word has {a,b} or {a..b}, also with quoted parts in it.
func hasBraces(word *syntax.Word) bool {
	var b strings.Builder
	for _, part := range word.Parts {
		lit, is := part.(*syntax.Lit)
		if !is {
			b.WriteByte('q')
			continue
		}
		for i := 0; i < len(lit.Value); i++ {
			if lit.Value[i] == '\\' {
				i++
			} else {
				b.WriteByte(lit.Value[i])
			}
		}
	}
	_, inner, _ := strings.Cut(b.String(), "{")
	end := strings.LastIndexByte(inner, '}')
	return end >= 0 && (strings.Contains(inner[:end], ",") || strings.Contains(inner[:end], ".."))
}

// withUnknown returns words with one more that is not known, as xargs adds it. Words
// in which something is replaced are not known either: with all, those after the program.
func withUnknown(words []Word, all bool) []Word {
	words = append(slices.Clone(words), Word{Text: "…"})
	for i := range words {
		if all && (i > 0 || strings.ContainsFunc(words[i].Text, odd)) || strings.Contains(words[i].Text, "{") || strings.HasPrefix(words[i].Text, ":::") {
			words[i].Literal = false
		}
	}
	return words
}

// odd reports whether a character is rare in the name of a program.
func odd(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./+-", r))
}

func texts(words []Word) []string {
	list := make([]string, len(words))
	for i := range words {
		list[i] = words[i].Text
	}
	return list
}

func isNotLiteral(w Word) bool { return !w.Literal }
