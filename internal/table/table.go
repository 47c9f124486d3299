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

// Rows are names and what they stand for. Of rows with the same name the first one counts.
type Rows[V any] []Row[V]

// Row is a name and what it stands for.
type Row[V any] struct {
	Name string
	Is   V
}

// Get returns what a name stands for, and whether there is a row for it.
func (r Rows[V]) Get(name string) (is V, known bool) {
	for i := range r {
		if r[i].Name == name {
			return r[i].Is, true
		}
	}
	return is, false
}

// Of returns what a name stands for, the zero value without a row.
func (r Rows[V]) Of(name string) V {
	is, _ := r.Get(name)
	return is
}
