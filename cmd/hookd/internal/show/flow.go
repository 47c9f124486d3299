package show

import (
	"strings"
	"unicode/utf8"
)

// Flow wraps a text that comes in pieces between words. What it returns is to be
// printed after what it returned before; a word is kept back until it is whole.
type Flow struct {
	Width  int    // columns; 0: lines are not broken. It may change at any time
	Indent string // before each line but the first
	Paint  func(string) string

	column  int  // where the next word begins
	gap     int  // blanks before it
	fresh   bool // the line has its indent, and no word yet
	pending string
}

// NewFlow begins at a column, after what stands in the line already.
func NewFlow(width, column int, indent string, paint func(string) string) *Flow {
	return &Flow{Width: width, column: column, Indent: indent, Paint: paint, fresh: true}
}

// Write takes the next piece, made visible already.
func (f *Flow) Write(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		end := strings.IndexAny(text, " \n")
		if end < 0 {
			f.pending += text
			break
		}
		f.pending += text[:end]
		f.word(&b)
		if text[end] == '\n' {
			f.newLine(&b)
		} else {
			f.gap++
		}
		text = text[end+1:]
	}
	return b.String()
}

// End returns what was kept back.
func (f *Flow) End() string {
	var b strings.Builder
	f.word(&b)
	return b.String()
}

// Pending returns the word that is not whole yet, with the blanks before it.
func (f *Flow) Pending() string {
	if f.pending == "" {
		return ""
	}
	return strings.Repeat(" ", f.gap) + f.pending
}

func (f *Flow) newLine(b *strings.Builder) {
	b.WriteString("\n" + f.Indent)
	f.column, f.gap, f.fresh = Width(f.Indent), 0, true
}

// word writes the pending word. One that is wider than a line is broken where
// the line ends: scripts without blanks are.
func (f *Flow) word(b *strings.Builder) {
	word := f.pending
	f.pending = ""
	if word == "" {
		return
	}
	size := Width(word)
	if f.Width > 0 && !f.fresh && f.column+f.gap+size > f.Width {
		f.newLine(b)
	}
	blanks := strings.Repeat(" ", f.gap)
	f.column += f.gap
	f.gap = 0
	for f.Width > 0 && f.column+size > f.Width {
		cut := f.fit(word)
		if cut == 0 || cut == len(word) {
			break
		}
		f.paint(b, blanks+word[:cut])
		f.newLine(b)
		blanks, word = "", word[cut:]
		size = Width(word)
	}
	f.paint(b, blanks+word)
	f.column += size
	f.fresh = false
}

// fit returns how many bytes of a word go into the rest of the line, at least one
// character.
func (f *Flow) fit(word string) int {
	column := f.column
	for i, r := range word {
		column += Width(string(r))
		if column > f.Width && i > 0 {
			return i
		}
	}
	_, first := utf8.DecodeRuneInString(word)
	if column > f.Width {
		return first
	}
	return len(word)
}

func (f *Flow) paint(b *strings.Builder, text string) {
	if f.Paint != nil {
		text = f.Paint(text)
	}
	b.WriteString(text)
}

// Paragraphs prints a text that people wrote or read: made visible, broken
// between words, each line after an indent.
func (p *Printer) Paragraphs(indent string, tone Tone, text string) {
	flow := NewFlow(p.Width, len(indent), indent, func(s string) string { return p.In(tone, s) })
	p.Raw(indent + flow.Write(Visible(strings.TrimSpace(text))) + flow.End() + "\n")
}
