package configtext

import (
	"bytes"
	"fmt"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/schema/document"
)

// What is read is bounded: an edit reads the text many times.
const (
	maxDepth  = 2000
	maxValues = 100_000
)

// jsonScanner reads JSON with // and /* */ comments and with commas before a closing
// bracket.
type jsonScanner struct {
	text  []byte
	at    int
	line  int // of the last offset that lineAt was asked for
	asked int

	values int
}

func parseJSON(text []byte) (*Node, error) {
	s := &jsonScanner{text: text, line: 1}
	if bytes.HasPrefix(text, []byte(bom)) {
		s.at = len(bom)
	}
	if err := s.blanks(); err != nil {
		return nil, err
	}
	if s.at == len(text) {
		return nil, nil // comments only
	}
	root, err := s.value(1)
	if err != nil {
		return nil, err
	}
	if err := s.blanks(); err != nil {
		return nil, err
	}
	if s.at < len(text) {
		return nil, s.fault("there is more text after the end of the document")
	}
	return root, nil
}

func (s *jsonScanner) fault(format string, args ...any) error {
	return &Error{document.LineAt(s.text, s.at), fmt.Sprintf(format, args...)}
}

// lineAt returns the line of an offset; the offsets asked for rise.
func (s *jsonScanner) lineAt(offset int) int {
	s.line += bytes.Count(s.text[s.asked:offset], []byte("\n"))
	s.asked = offset
	return s.line
}

// blanks goes on to the next byte that is neither a blank nor part of a comment.
func (s *jsonScanner) blanks() error {
	for s.at < len(s.text) {
		if n := blankOrComment(s.text, s.at); n > 0 {
			s.at += n
			continue
		}
		if s.text[s.at] == '/' {
			return s.fault("a / that begins no comment, or a comment without an end")
		}
		return nil
	}
	return nil
}

// blankOrComment returns the length of the blank or the comment at an offset, 0 if there
// is none. The line end after a // comment is not part of it.
func blankOrComment(b []byte, i int) int {
	switch {
	case b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r':
		return 1
	case b[i] != '/' || i+1 == len(b):
		return 0
	case b[i+1] == '/':
		if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
			return n
		}
		return len(b) - i
	case b[i+1] == '*':
		if n := bytes.Index(b[i+2:], []byte("*/")); n >= 0 {
			return n + 4
		}
	}
	return 0
}

func (s *jsonScanner) value(depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, s.fault("nested deeper than %d levels", maxDepth)
	}
	if s.values++; s.values > maxValues {
		return nil, s.fault("more than %d values, which no agent's settings have", maxValues)
	}
	if s.at == len(s.text) {
		return nil, s.fault("the text ends where a value is expected")
	}
	n := &Node{start: s.at, Line: s.lineAt(s.at)}
	var err error
	switch c := s.text[s.at]; c {
	case '{':
		n.Kind = Object
		err = s.inside('}', func() error { return s.member(n, depth) })
	case '[':
		n.Kind = List
		err = s.inside(']', func() error {
			item, err := s.value(depth + 1)
			n.Items = append(n.Items, item)
			return err
		})
	case '"':
		n.Kind = String
		n.Text, err = s.quoted()
	default:
		err = s.literal(n)
	}
	n.end = s.at
	return n, err
}

// inside reads what stands between brackets, one by one.
func (s *jsonScanner) inside(closing byte, one func() error) error {
	open := s.at
	s.at++
	for {
		if err := s.blanks(); err != nil {
			return err
		}
		switch {
		case s.at == len(s.text):
			return s.fault("the text ends before the %c of line %d is closed", s.text[open], document.LineAt(s.text, open))
		case s.text[s.at] == closing:
			s.at++
			return nil
		}
		if err := one(); err != nil {
			return err
		}
		if err := s.blanks(); err != nil {
			return err
		}
		switch {
		case s.at < len(s.text) && s.text[s.at] == ',':
			s.at++
		case s.at == len(s.text) || s.text[s.at] != closing:
			return s.fault("a comma or %c is missing", closing)
		}
	}
}

func (s *jsonScanner) member(object *Node, depth int) error {
	if s.text[s.at] != '"' {
		return s.fault("the name of a member in double quotes is expected")
	}
	m := Member{start: s.at, Line: s.lineAt(s.at)}
	var err error
	if m.Name, err = s.quoted(); err != nil {
		return err
	}
	if err := s.blanks(); err != nil {
		return err
	}
	if s.at == len(s.text) || s.text[s.at] != ':' {
		return s.fault("a colon is missing after the name")
	}
	s.at++
	if err := s.blanks(); err != nil {
		return err
	}
	if m.Value, err = s.value(depth + 1); err != nil {
		return err
	}
	object.Members = append(object.Members, m)
	return nil
}

// quoted reads a string.
func (s *jsonScanner) quoted() (string, error) {
	begin := s.at
	end := jsonspan.StringEnd(s.text, begin)
	word := s.text[begin:end]
	if len(word) < 2 || word[len(word)-1] != '"' || bytes.IndexByte(word, '\n') >= 0 {
		return "", s.fault("a string without its closing quote")
	}
	if !usualString(word) && !jsonspan.Valid(word) && !lenientString(word) {
		return "", s.fault("a string with an escape or a control character that JSON does not know")
	}
	s.at = end
	return jsonspan.Unquote(word), nil
}

// usualString reports whether a string needs no closer look: nothing in it is escaped.
func usualString(quoted []byte) bool {
	for _, c := range quoted {
		if c == '\\' || c < ' ' {
			return false
		}
	}
	return true
}

// lenientString accepts half a surrogate pair, which JavaScript reads, and a tab.
func lenientString(quoted []byte) bool {
	for i := 1; i < len(quoted)-1; i++ {
		switch c := quoted[i]; {
		case c == '\\':
			i++
			if !bytes.ContainsRune([]byte(`"\/bfnrtu`), rune(quoted[i])) {
				return false
			}
			if quoted[i] == 'u' && !hex(quoted[i+1:min(i+5, len(quoted)-1)]) {
				return false
			}
		case c < ' ' && c != '\t':
			return false
		}
	}
	return true
}

func hex(digits []byte) bool {
	for _, c := range digits {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return len(digits) == 4
}

func (s *jsonScanner) literal(n *Node) error {
	end := s.at
	for end < len(s.text) && !bytes.ContainsRune([]byte(" \t\r\n,:]}[{\"/"), rune(s.text[end])) {
		end++
	}
	word := s.text[s.at:end]
	if len(word) == 0 || !jsonspan.Valid(word) {
		if len(word) > 40 {
			word = word[:40]
		}
		return s.fault("%q is no value", word)
	}
	n.Text = string(word)
	switch word[0] {
	case 't', 'f':
		n.Kind = Bool
	case 'n':
		n.Kind = Null
	default:
		n.Kind = Number
	}
	s.at = end
	return nil
}
