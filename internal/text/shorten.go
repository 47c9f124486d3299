package text

import (
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
