package configtext

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/hookd-dev/hookd/schema/document"
)

// Format is the language of a configuration file.
type Format string

const (
	JSON Format = "json" // with comments and trailing commas
	YAML Format = "yaml"
	TOML Format = "toml"
)

// Kind is the shape of a value.
type Kind int

const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Object
)

func (k Kind) String() string {
	return [...]string{"null", "true or false", "a number", "a string", "a list", "an object"}[k]
}

// Node is one value of a document.
type Node struct {
	Kind    Kind
	Text    string // of a scalar
	Line    int    // 1-based
	Items   []*Node
	Members []Member

	start, end int // in JSON: its bytes
}

// Member is one member of an object.
type Member struct {
	Name  string
	Line  int
	Value *Node

	start int // in JSON: of the name's opening quote
}

// Get returns the last value of a name, which is the one that counts in most readers,
// nil if there is none.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	for _, m := range slices.Backward(n.Members) {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// children returns how many elements or members there are.
func (n *Node) children() int { return len(n.Items) + len(n.Members) }

// Step is a name in an object or, where Name is empty, an index in a list.
type Step struct {
	Name  string
	Index int
}

// Path leads from the root of a document to a value.
type Path []Step

// Names returns the path of the members of these names.
func Names(names ...string) Path {
	path := make(Path, len(names))
	for i, name := range names {
		path[i].Name = name
	}
	return path
}

// At returns the path with an index appended.
func (p Path) At(index int) Path { return append(slices.Clone(p), Step{Index: index}) }

// Member returns the path with a name appended.
func (p Path) Member(name string) Path { return append(slices.Clone(p), Step{Name: name}) }

// Parent returns the path without its last step.
func (p Path) Parent() Path { return p[:len(p)-1] }

// Within reports whether the path leads to a part of what another path leads to.
func (p Path) Within(whole Path) bool {
	return len(p) >= len(whole) && slices.Equal(p[:len(whole)], whole)
}

// String writes the path as messages name it: hooks.PreToolUse[0].
func (p Path) String() string {
	text := ""
	for _, s := range p {
		switch {
		case s.Name == "":
			text += "[" + strconv.Itoa(s.Index) + "]"
		case text != "":
			text += "." + s.Name
		default:
			text = s.Name
		}
	}
	return text
}

// Find returns the value at a path, nil if there is none.
func (n *Node) Find(path Path) *Node {
	for _, step := range path {
		switch {
		case n == nil:
			return nil
		case step.Name != "":
			n = n.Get(step.Name)
		case n.Kind != List || step.Index >= len(n.Items):
			return nil
		default:
			n = n.Items[step.Index]
		}
	}
	return n
}

// Error says why a text cannot be read or edited.
type Error struct {
	Line    int // 1-based
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

const bom = "\xef\xbb\xbf"

// blank reports whether a text says nothing: it is empty, or blanks after a byte order
// mark.
func blank(text []byte) bool { return len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte(bom)))) == 0 }

// Parse reads a text. A blank one is nil without an error.
func Parse(format Format, text []byte) (*Node, error) {
	if blank(text) {
		return nil, nil
	}
	if i := document.InvalidUTF8(text); i >= 0 {
		return nil, &Error{document.LineAt(text, i), "the text is not valid UTF-8"}
	}
	if format == JSON {
		return parseJSON(text)
	}
	read := map[Format]document.Format{YAML: document.YAML, TOML: document.TOML}[format]
	root, err := document.Parse(read, text)
	if err != nil {
		if format == YAML && commentsOnly(text) {
			return nil, nil
		}
		if syntax, ok := err.(*document.SyntaxError); ok {
			return nil, &Error{syntax.Line, syntax.Message}
		}
		return nil, &Error{1, err.Error()}
	}
	return fromDocument(root), nil
}

// commentsOnly reports whether no line holds anything but blanks and comments.
func commentsOnly(text []byte) bool {
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte(bom))) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

func fromDocument(d *document.Node) *Node {
	kinds := map[document.Kind]Kind{document.Bool: Bool, document.Number: Number, document.String: String, document.Word: String,
		document.Other: String, document.List: List, document.Object: Object}
	n := &Node{Kind: kinds[d.Kind], Text: d.Text, Line: d.Line}
	for _, item := range d.Items {
		n.Items = append(n.Items, fromDocument(item))
	}
	for _, m := range d.Members {
		n.Members = append(n.Members, Member{Name: m.Key, Line: m.Line, Value: fromDocument(m.Value)})
	}
	return n
}

// Tree returns the value as reading it would.
func Tree(value any) *Node {
	n, err := parseJSON([]byte(renderJSON(value, layout{})))
	if err != nil {
		panic("configtext: a value that is no JSON: " + err.Error())
	}
	return n
}

// Same reports whether two values say the same, member for member in their order.
func Same(a, b *Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Text == b.Text &&
		slices.EqualFunc(a.Items, b.Items, Same) &&
		slices.EqualFunc(a.Members, b.Members, func(x, y Member) bool { return x.Name == y.Name && Same(x.Value, y.Value) })
}

// newline returns how lines end in a text: as the first one does.
func newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// splice returns text with the bytes from start to end replaced.
func splice(text []byte, start, end int, with string) []byte {
	out := make([]byte, 0, len(text)-(end-start)+len(with))
	out = append(out, text[:start]...)
	out = append(out, with...)
	return append(out, text[end:]...)
}
