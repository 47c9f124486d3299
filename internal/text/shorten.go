package text

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Shorten returns the text, or its first longest bytes up to the edge of a character
// with … in the place of the rest.
func Shorten(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// Valid returns the text with U+FFFD in place of bytes that are not UTF-8.
func Valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// Count returns a number with its noun: "1 hook", "2 hooks". The plural of a noun is
// made with an s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
