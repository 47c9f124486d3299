package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns text as it is safe to show: control characters, bidirectional
// and other invisible marks and bytes that are not UTF-8 are written as
// escapes, so that a hook, a tool or a model cannot repaint the terminal or
// show other text than what runs. Line ends and tabs stay.
func Visible(text string) string { return visible(text, true) }

// Line returns text as [Visible] does, on one line: line ends and tabs are escapes, too.
func Line(text string) string { return visible(text, false) }

func visible(text string, lines bool) string {
	if plain(text, lines) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x80 && unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case Hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// IsVisible reports whether [Visible] returns text as it is.
func IsVisible(text string) bool { return plain(text, true) }

func plain(text string, lines bool) bool {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return false
			}
		}
		if lines && (r == '\n' || r == '\t') {
			continue
		}
		if Hidden(r) {
			return false
		}
	}
	return true
}

// Hidden reports whether a rune shows as nothing, moves what is around it or
// commands the terminal: control (Cc), format (Cf: bidi marks, zero-width, tags,
// soft hyphen, BOM), line and paragraph separators, variation selectors used to
// smuggle bytes, and the letters that look like a blank.
func Hidden(r rune) bool {
	switch {
	case r < 0x20 || r == 0x7f:
		return true
	case r < 0x80:
		return false
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs, unicode.Co):
		return true
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0:
		return true
	case r >= 0xfe00 && r <= 0xfe0e, r >= 0xe0100 && r <= 0xe01ef:
		return true
	}
	return false
}
