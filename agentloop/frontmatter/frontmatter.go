package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxSize is how large a file may be, in bytes.
const MaxSize = 256 << 10

// Document is a file split into its parts.
type Document struct {
	Body     string // the text after the front matter, without blank lines at its ends
	BodyLine int    // the line of the file on which Body begins, counted from 1

	head *yaml.Node // a mapping; nil without front matter
	line int        // of its first key
}

// Unknown is a key that the struct of [Document.Decode] does not have.
type Unknown struct {
	Key  string // with the keys above it: arguments.usual
	Line int
}

// Error is what is wrong with a file, and on which line.
type Error struct {
	Line    int // counted from 1; 0: the file as a whole
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// Parse splits a file. A file without front matter is all body. The error is an [*Error].
func Parse(text []byte) (*Document, error) {
	if len(text) > MaxSize {
		return nil, &Error{0, fmt.Sprintf("the file has %d bytes, the limit is %d", len(text), MaxSize)}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		return nil, &Error{invalidLine(text), "this is not UTF-8 text"}
	}
	lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	open, has := opening(lines)
	if !has {
		if at := almost(lines); at > 0 {
			return nil, &Error{at, "this looks like front matter, which begins with a line of three dashes and nothing else"}
		}
		return body(lines, 0), nil
	}
	for i := open + 1; i < len(lines); i++ {
		if !isFence(lines[i]) {
			continue
		}
		d := body(lines, i+1)
		return d, d.decodeHead(lines[open+1:i], open+1)
	}
	return nil, &Error{open + 1, "the front matter has no end; a line --- closes it"}
}

// opening finds the line that opens the front matter. Blank lines and comments may come
// before it.
func opening(lines []string) (at int, has bool) {
	inComment := false
	for i, line := range lines {
		rest := strings.TrimSpace(line)
		if !inComment && isFence(line) {
			return i, true
		}
		for rest != "" {
			if !inComment {
				if !strings.HasPrefix(rest, "<!--") {
					return 0, false
				}
				rest, inComment = rest[len("<!--"):], true
			}
			_, after, ends := strings.Cut(rest, "-->")
			if !ends {
				break
			}
			rest, inComment = strings.TrimSpace(after), false
		}
	}
	return 0, false
}

// key is a line of front matter as recipes and skills have it.
var key = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(name|description|allowed_tools|arguments|keywords|always)[ \t]*:`)
})

// almost returns the line of what was meant to open the front matter and does not, 0 if there
// is none: as a body it would go to the model with its keys.
func almost(lines []string) int {
	for i, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case key().MatchString(line): // no line opens it, but one may close it
			if slices.ContainsFunc(lines[i:], isFence) {
				return i + 1
			}
		case strings.Trim(line, " \t-\u2013\u2014+;`") == "" || strings.HasPrefix(line, "---"):
			if i+1 < len(lines) && key().MatchString(strings.TrimSpace(lines[i+1])) {
				return i + 1
			}
		}
		return 0
	}
	return 0
}

func isFence(line string) bool { return strings.TrimRight(line, " \t") == "---" }

// body returns the document of the lines from start on.
func body(lines []string, start int) *Document {
	for start < len(lines)-1 && strings.TrimSpace(lines[start]) == "" {
		start++
	}
	text := ""
	if start < len(lines) {
		text = strings.TrimRight(strings.Join(lines[start:], "\n"), " \t\n")
	}
	return &Document{Body: text, BodyLine: start + 1}
}

// decodeHead reads the YAML. Blank lines in place of those before it keep the
// parser's line numbers those of the file.
func (d *Document) decodeHead(lines []string, before int) error {
	d.line = before + 1
	var node yaml.Node
	if err := parseYAML([]byte(strings.Repeat("\n", before)+strings.Join(lines, "\n")), &node); err != nil {
		return located(err, d.line)
	}
	if len(node.Content) == 0 {
		d.head = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: d.line}
		return nil
	}
	if d.head = node.Content[0]; d.head.Kind != yaml.MappingNode {
		return &Error{max(d.head.Line, d.line), "the front matter is not made of lines like key: value"}
	}
	return plain(d.head)
}

// parseYAML turns a panic of the YAML parser into an error.
func parseYAML(text []byte, into *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the YAML cannot be read: %v", p)
		}
	}()
	return yaml.Unmarshal(text, into)
}

// plain refuses anchors and aliases: a head of a few keys does not need them, and they make a
// small file large.
func plain(node *yaml.Node) error {
	if node.Kind == yaml.AliasNode || node.Anchor != "" {
		return &Error{node.Line, "anchors and aliases are not read here"}
	}
	for _, child := range node.Content {
		if err := plain(child); err != nil {
			return err
		}
	}
	return nil
}

// HasHead reports whether the file has front matter at all.
func (d *Document) HasHead() bool { return d.head != nil }

// Line returns the line of a key at the top level of the front matter, or its first line if
// the key is not there.
func (d *Document) Line(key string) int {
	if d.head != nil {
		for i := 0; i+1 < len(d.head.Content); i += 2 {
			if d.head.Content[i].Value == key {
				return d.head.Content[i].Line
			}
		}
	}
	return max(d.line, 1)
}

// located returns an error of the YAML parser with its line.
func located(err error, otherwise int) *Error {
	var several *yaml.TypeError
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if errors.As(err, &several) && len(several.Errors) > 0 {
		message = several.Errors[0]
	}
	line := otherwise
	if n, rest := 0, ""; strings.HasPrefix(message, "line ") {
		if head, tail, found := strings.Cut(message, ": "); found {
			rest = tail
			if _, scanErr := fmt.Sscanf(head, "line %d", &n); scanErr == nil {
				line, message = n, rest
			}
		}
	}
	return &Error{line, strings.ReplaceAll(expectation(message), "\n", " ")}
}

// expectation says what the YAML parser wants: its own message names a Go type, which does
// not help the author of a file.
func expectation(message string) string {
	_, goType, isType := strings.Cut(message, " into ")
	if !isType || !strings.HasPrefix(message, "cannot unmarshal ") {
		return message
	}
	wanted := "something else"
	for _, known := range []struct{ begins, means string }{
		{"[]", "a list"}, {"map[", "a mapping"}, {"struct", "a mapping"}, {"string", "a text"}, {"bool", "true or false"}, {"int", "a whole number"}, {"float", "a number"},
	} {
		if strings.HasPrefix(strings.TrimLeft(goType, "*"), known.begins) {
			wanted = known.means
			break
		}
	}
	return wanted + " is expected here"
}

// invalidLine returns the line of the first byte that is not UTF-8.
func invalidLine(text []byte) int {
	line := 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		text = text[size:]
	}
	return line
}
