package document

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"unicode/utf8"
)

// Kind is the shape of a value.
type Kind int

const (
	Null   Kind = iota
	Bool        // Text is true or false
	Number      // Text is the number as JSON would write it
	String      // Text
	Word        // Text without a type, from a comment header: read as whatever is wanted
	List        // Items
	Object      // Members
	Other       // a value JSON has no word for (a date, infinity); Text as written
)

// String names the kind for a message: "a number".
func (k Kind) String() string {
	return [...]string{"null", "true or false", "a number", "a string", "a word", "a list", "an object", "another kind of value"}[k]
}

// Node is one value and the line it begins on.
type Node struct {
	Kind    Kind
	Text    string
	Line    int // 1-based
	Items   []*Node
	Members []Member
}

// Member is one key of an object with its value.
type Member struct {
	Key   string
	Line  int // of the key, 1-based
	Value *Node
}

// Get returns the first value of a key, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return n.Members[i].Value
		}
	}
	return nil
}

// Format is a language that settings may be written in.
type Format string

const (
	JSON  Format = "json"
	JSONC Format = "jsonc" // JSON with comments and commas before closing brackets; no settings of hookd's
	YAML  Format = "yaml"
	TOML  Format = "toml"
)

// Formats are the known formats in the order in which they are preferred.
var Formats = []Format{JSON, YAML, TOML}

// SyntaxError says that a text is not a whole document of its format.
type SyntaxError struct {
	Line    int // 1-based
	Message string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

const (
	maxDepth = 100     // nesting of lists and objects
	maxNodes = 100_000 // values, YAML's aliases expanded
)

// Parse reads a whole document. A byte order mark and CRLF line ends are
// accepted. A text without a value (no bytes, blanks, comments only) is an
// error, because that is what a file looks like while it is being written.
// Every error is a [*SyntaxError].
func Parse(format Format, text []byte) (*Node, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &SyntaxError{1, "the file is empty"}
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, &SyntaxError{1, "the text is UTF-16, not UTF-8"}
	}
	if i := InvalidUTF8(text); i >= 0 {
		return nil, &SyntaxError{LineAt(text, i), "the text is not valid UTF-8"}
	}
	switch format {
	case JSON:
		return parseJSON(text)
	case JSONC:
		return parseJSON(withoutComments(text))
	case YAML:
		return parseYAML(text)
	case TOML:
		return parseTOML(text)
	}
	return nil, &SyntaxError{1, fmt.Sprintf("unknown format %q", format)}
}

// ParseFile reads the content of a file that is JSON if its name ends so, and YAML otherwise.
// With an error it returns the line of the fault, 0 if there is none.
func ParseFile(path string, content []byte) (root *Node, line int, err error) {
	format := YAML
	if filepath.Ext(path) == ".json" {
		format = JSON
	}
	root, err = Parse(format, content)
	if syntax := new(SyntaxError); errors.As(err, &syntax) {
		line = syntax.Line
	}
	return root, line, err
}

// InvalidUTF8 returns the offset of the first byte that is no UTF-8, -1 if there is none.
func InvalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// LineAt returns the 1-based line of a byte offset.
func LineAt(text []byte, offset int) int {
	offset = max(0, min(offset, len(text)))
	return 1 + bytes.Count(text[:offset], []byte("\n"))
}

// budget counts the values of a document.
type budget int

func (b *budget) spend(line int) error {
	if *b++; *b > maxNodes {
		return &SyntaxError{line, fmt.Sprintf("more than %d values", maxNodes)}
	}
	return nil
}

// lines turns rising byte offsets into lines without counting from the start
// each time.
type lines struct {
	text   []byte
	offset int
	line   int
}

func (l *lines) at(offset int) int {
	if l.line == 0 || offset < l.offset {
		l.offset, l.line = 0, 1
	}
	offset = min(offset, len(l.text))
	l.line += bytes.Count(l.text[l.offset:offset], []byte("\n"))
	l.offset = offset
	return l.line
}
