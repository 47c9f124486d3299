package builtin

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// word adds the words that a word of the text stands for.
func (s *shellSplitter) word(c *shellCommand, word *syntax.Word) {
	written := s.slice(word.Pos(), word.End())
	copied := *word
	words := []*syntax.Word{&copied}
	if syntax.SplitBraces(&copied) {
		if tooManyBraces(&copied) {
			c.add(written, false)
			return
		}
		words = expand.Braces(&copied)
	}
	for _, w := range words {
		known := true
		for _, part := range w.Parts {
			known = known && knownPart(part)
		}
		switch {
		case !known:
			c.add(written, false)
		case len(c.words) == 0 && hasGlob(w): // /bin/r? is a program only known when it runs
			c.add(written, false)
		default:
			c.add(s.literal(w), true)
		}
	}
}

func (c *shellCommand) add(word string, known bool) {
	c.words, c.known = append(c.words, word), append(c.known, known)
}

// tooManyBraces reports whether a word stands for more words than are looked
// at, or for a sequence, {1..9}, of which only its ends are written.
func tooManyBraces(word *syntax.Word) bool {
	return braceWords(word) > mostBraceWords
}

func braceWords(word *syntax.Word) int {
	count := 1
	for _, part := range word.Parts {
		braces, is := part.(*syntax.BraceExp)
		if !is {
			continue
		}
		sum := 0
		for _, elem := range braces.Elems {
			sum += braceWords(elem)
		}
		if count *= max(1, sum); braces.Sequence || count > mostBraceWords {
			return mostBraceWords + 1
		}
	}
	return count
}

// knownPart reports whether a part of a word is the same whenever it runs.
func knownPart(part syntax.WordPart) bool {
	switch p := part.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
		return true
	case *syntax.DblQuoted:
		return !slices.ContainsFunc(p.Parts, func(inner syntax.WordPart) bool { return !knownPart(inner) })
	}
	return false
}

func hasGlob(word *syntax.Word) bool {
	return slices.ContainsFunc(word.Parts, func(part syntax.WordPart) bool {
		lit, is := part.(*syntax.Lit)
		return is && strings.ContainsAny(lit.Value, "*?[") && lit.Value != "["
	})
}

// literal is a word without its quotes. Parts that are not known stay as
// written.
func (s *shellSplitter) literal(word *syntax.Word) string {
	var b strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, ""))
		case *syntax.SglQuoted:
			if p.Dollar {
				b.WriteString(ansi(p.Value))
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if lit, is := inner.(*syntax.Lit); is {
					b.WriteString(unescape(lit.Value, "$`\"\\\n"))
				} else {
					b.WriteString(s.slice(inner.Pos(), inner.End()))
				}
			}
		default:
			b.WriteString(s.slice(part.Pos(), part.End()))
		}
	}
	return b.String()
}

// unescape takes backslashes away: all of them, or those before one of only.
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

// ansi is a text between $' and ' with its escapes carried out.
func ansi(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		digits, base, from := 0, 16, i+1
		switch c := text[i]; c {
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			digits, base, from = 3, 8, i
		default:
			if at := strings.IndexByte("abeEfnrtv", c); at >= 0 {
				c = "\a\b\x1b\x1b\f\n\r\t\v"[at]
			}
			b.WriteByte(c)
			continue
		}
		to := from
		for to < len(text) && to-from < digits {
			if _, err := strconv.ParseUint(text[to:to+1], base, 8); err != nil {
				break
			}
			to++
		}
		value, err := strconv.ParseUint(text[from:to], base, 32)
		switch {
		case err != nil:
			b.WriteString(text[i-1 : i+1])
		case digits > 3:
			b.WriteRune(rune(value))
		default:
			b.WriteByte(byte(value))
		}
		i = max(i, to-1)
	}
	return b.String()
}
