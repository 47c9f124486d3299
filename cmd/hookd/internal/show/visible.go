package show

import (
	"unicode/utf8"

	"github.com/hookd-dev/hookd/internal/text"
)

// Visible returns text as it is safe to show: see [text.Visible].
func Visible(s string) string { return text.Visible(s) }

// Line returns text as [Visible] does, on one line.
func Line(s string) string { return text.Line(s) }

// Shorten cuts text to a number of runes and marks the cut.
func Shorten(text string, runes int) string {
	if utf8.RuneCountInString(text) <= runes {
		return text
	}
	n := 0
	for i := range text {
		if n == runes-1 {
			return text[:i] + "…"
		}
		n++
	}
	return text
}
