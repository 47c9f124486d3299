package runview

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// markdown paints the words of an answer as they come: headings, code, what is strong, the
// marks of lists. It only paints. The signs stay, so that what is on the screen is what the
// model wrote, with colour or without.
type markdown struct {
	p       *show.Printer
	fence   string // that the open block of code began with, "" outside of one
	begun   bool   // the line has a word already
	line    show.Tone
	inCode  bool // `so`
	inBolds bool // **so**
}

// newLine begins a line of the text; one that only the width of the terminal breaks is
// none. Nothing but a block of code goes on over lines.
func (m *markdown) newLine() {
	m.begun, m.line, m.inCode, m.inBolds = false, show.Plain, false, false
}

// paint paints the next word, which may have blanks before it.
func (m *markdown) paint(word string) string {
	bare := strings.TrimLeft(word, " ")
	first := !m.begun && bare != ""
	m.begun = m.begun || first
	if first {
		m.begin(bare)
	}
	switch {
	case m.line != show.Plain:
		return m.p.In(m.line, word)
	case m.fence != "":
		return m.p.In(show.Name, word)
	case first && isBullet(bare):
		return m.p.In(show.Name, word)
	}
	return m.inline(word)
}

// begin takes the first word of a line.
func (m *markdown) begin(word string) {
	if m.fence != "" {
		if strings.HasPrefix(word, m.fence) && strings.Trim(word, m.fence[:1]) == "" {
			m.fence, m.line = "", show.Quiet
		}
		return
	}
	switch n := len(word) - len(strings.TrimLeft(word, word[:1])); {
	case n >= 3 && (word[0] == '`' || word[0] == '~') && !strings.Contains(word[n:], "`"):
		m.fence, m.line = word[:n], show.Quiet
	case n == len(word) && n <= 6 && word[0] == '#':
		m.line = show.Strong
	case word[0] == '>':
		m.line = show.Quiet
	}
}

// isBullet reports whether a word that begins a line is the mark of a list.
func isBullet(word string) bool {
	digits := strings.TrimLeft(word, "0123456789")
	return word == "-" || word == "*" || word == "+" || digits != word && (digits == "." || digits == ")")
}

// inline paints a word between the signs that it holds. A sign is painted as what it encloses.
func (m *markdown) inline(word string) string {
	var b strings.Builder
	begin := 0 // of what is not painted yet
	flush := func(end int) {
		b.WriteString(m.p.In(m.tone(), word[begin:end]))
		begin = end
	}
	for at := 0; at < len(word); {
		sign, flag := m.signAt(word, at)
		if sign == "" {
			at++
			continue
		}
		if *flag {
			flush(at + len(sign))
		} else {
			flush(at)
		}
		*flag = !*flag
		at += len(sign)
	}
	flush(len(word))
	return b.String()
}

// signAt returns the sign at a place that means something there, and what it turns on or
// off. In code only its end does; ** in 2**8 does not begin anything.
func (m *markdown) signAt(word string, at int) (sign string, flag *bool) {
	switch rest := word[at:]; {
	case rest[0] == '`':
		return "`", &m.inCode
	case m.inCode || !strings.HasPrefix(rest, "**"):
		return "", nil
	case m.inBolds:
		return "**", &m.inBolds
	}
	before, _ := utf8.DecodeLastRuneInString(word[:at])
	if unicode.IsLetter(before) || unicode.IsDigit(before) || at+2 == len(word) {
		return "", nil
	}
	return "**", &m.inBolds
}

func (m *markdown) tone() show.Tone {
	switch {
	case m.inCode:
		return show.Name
	case m.inBolds:
		return show.Strong
	}
	return show.Plain
}
