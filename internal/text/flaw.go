package text

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Flaw returns why bytes are no text that a model can be given, with the line, "" if they
// are: a NUL byte, or bytes that are not UTF-8.
func Flaw(text []byte) string {
	line := func(at int) int { return bytes.Count(text[:at], []byte("\n")) + 1 }
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return fmt.Sprintf("line %d: it is no text, there is a NUL byte", line(at))
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Sprintf("line %d: it is not UTF-8", line(at))
		}
		at += size
	}
	return ""
}
