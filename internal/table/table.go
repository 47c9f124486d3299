package table

import "strings"

// Words are words with one blank between them, none before the first or after the last.
type Words string

// Has reports whether a word is among them. A text with a blank never is.
func (w Words) Has(word string) bool {
	if word == "" || strings.Contains(word, " ") {
		return false
	}
	for rest := string(w); ; {
		at := strings.Index(rest, word)
		if at < 0 {
			return false
		}
		end := at + len(word)
		if (at == 0 || rest[at-1] == ' ') && (end == len(rest) || rest[end] == ' ') {
			return true
		}
		rest = rest[at+1:]
		if next := strings.IndexByte(rest, ' '); next < 0 {
			return false
		} else {
			rest = rest[next+1:]
		}
	}
}
