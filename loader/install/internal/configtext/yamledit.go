package configtext

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/schema/document"
)

// yamlText is a YAML text as lines, with the places of its values.
type yamlText struct {
	lines [][]byte // each with its line end
	root  *document.Place
	nl    string
}

// oddBreak returns where a text has what is the end of a line to YAML and to nothing else.
func oddBreak(text []byte) (at int, what string) {
	if at = bytes.IndexByte(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n\n")), '\r'); at >= 0 {
		return at, "a carriage return without a line feed"
	}
	for _, r := range "\u0085\u2028\u2029" {
		if at = bytes.IndexRune(text, r); at >= 0 {
			return at, fmt.Sprintf("the character U+%04X", r)
		}
	}
	return 0, ""
}

func (d *Document) places() (*yamlText, error) {
	text := d.Text
	if at, what := oddBreak(text); what != "" {
		return nil, &Error{document.LineAt(text, at), what + ", which YAML takes for the end of a line"}
	}
	y := &yamlText{nl: newline(text)}
	for line := range bytes.Lines(text) {
		y.lines = append(y.lines, line)
	}
	if blank(text) {
		return y, nil
	}
	root, err := document.YAMLPlaces(text)
	if err != nil {
		return nil, &Error{1, err.Error()}
	}
	y.root = root
	if root != nil && root.Kind == document.Null {
		y.root = nil
	}
	return y, nil
}

func (y *yamlText) text() []byte { return bytes.Join(y.lines, nil) }

// insert puts whole lines after a line (0: before the first).
func (y *yamlText) insert(after int, block string) {
	head, tail := bytes.Join(y.lines[:after], nil), bytes.Join(y.lines[after:], nil)
	if len(head) > 0 && !bytes.HasSuffix(head, []byte("\n")) && !bytes.Equal(head, []byte(bom)) {
		block = y.nl + strings.TrimSuffix(block, y.nl)
	}
	y.lines = [][]byte{head, []byte(block), tail}
}

// addYAML appends an element to the list at a path of two names.
func (d *Document) addYAML(path Path, value Fields) ([]byte, error) {
	y, err := d.places()
	if err != nil {
		return nil, err
	}
	object, indent := y.root, ""
	switch {
	case object == nil:
		return y.append(path, value, indent), nil
	case object.Kind != document.Object || object.Flow:
		return nil, &Error{object.Line, "the document is no object in block style"}
	}
	indent = strings.Repeat(" ", object.Members[0].Column-1)
	for i, step := range path {
		m := object.Get(step.Name)
		if m == nil && i == 0 {
			return y.append(path, value, indent), nil
		}
		if m == nil {
			y.insert(y.lineOfKey(object, path[:i]), y.block(path[i:], value, indent))
			return y.text(), nil
		}
		if y.emptied(m) {
			inner := strings.Repeat(" ", m.Column-1) + "  "
			y.insert(m.Line, y.block(path[i+1:], value, inner))
			return y.text(), nil
		}
		last := i == len(path)-1
		switch {
		case m.Value.Alias:
			return nil, &Error{m.Line, fmt.Sprintf("%s is an alias: what is put there would appear in two places", path[:i+1])}
		case last && m.Value.Kind != document.List, !last && m.Value.Kind != document.Object:
			return nil, &Error{m.Line, fmt.Sprintf("%s is %s", path[:i+1], m.Value.Kind)}
		case m.Value.Flow:
			return nil, &Error{m.Line, fmt.Sprintf("%s is written in brackets: write it in block style, one entry on a line", path[:i+1])}
		}
		indent = strings.Repeat(" ", m.Value.Column-1)
		if last {
			y.insert(m.Line, y.block(nil, value, indent))
			return y.text(), nil
		}
		indent = strings.Repeat(" ", m.Value.Members[0].Column-1)
		object = m.Value
	}
	return nil, &Error{1, "nothing to add"}
}

// lineOfKey returns the line of the key whose value is an object.
func (y *yamlText) lineOfKey(object *document.Place, path Path) int {
	at, line := y.root, 0
	for _, step := range path {
		m := at.Get(step.Name)
		at, line = m.Value, m.Line
	}
	return line
}

// block writes the lines of an element with the keys of a path before it.
func (y *yamlText) block(path Path, value Fields, indent string) string {
	var out strings.Builder
	for _, step := range path {
		out.WriteString(indent + step.Name + ":" + y.nl)
		indent += "  "
	}
	renderYAMLItem(&out, value, indent, y.nl)
	return out.String()
}

// append puts the lines of a new key at the end of the document.
func (y *yamlText) append(path Path, value Fields, indent string) []byte {
	end := len(y.lines)
	for end > 0 && insignificant(y.lines[end-1]) {
		end--
	}
	if end == 0 || !bytes.HasPrefix(y.lines[end-1], []byte("...")) {
		end = len(y.lines)
	} else {
		end--
	}
	y.insert(end, y.block(path, value, indent))
	return y.text()
}

// insignificant reports whether a line holds nothing but blanks or a comment.
func insignificant(line []byte) bool {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte(bom)))
	return len(line) == 0 || line[0] == '#'
}

var emptyValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\{[ \t]*\}|\[[ \t]*\]|~|null|Null|NULL)`) })

// emptied takes away what a key has in place of elements: nothing, null, {} or [], and
// reports whether that was so.
func (y *yamlText) emptied(m *document.PlacedMember) bool {
	inner, begin, ok := y.inner(m)
	if !ok {
		return false
	}
	line := y.lines[m.Line-1]
	y.lines[m.Line-1] = splice(line, begin, begin+len(inner), "")
	return true
}

// inner returns the text that a key has in place of elements, with the blanks before it,
// and where in its line it begins.
func (y *yamlText) inner(m *document.PlacedMember) (inner string, begin int, ok bool) {
	line := y.lines[m.Line-1]
	begin = y.keyEnd(m)
	v := m.Value
	switch {
	case begin < 0 || v.Alias || len(v.Items)+len(v.Members) > 0:
		return "", 0, false
	case v.Kind == document.Null && v.Text == "":
		return "", begin, true
	case v.Line != m.Line || v.Kind != document.Null && v.Kind != document.List && v.Kind != document.Object:
		return "", 0, false
	}
	at := v.Column - 1
	if at > len(line) || at < begin {
		return "", 0, false
	}
	token := emptyValue().Find(line[at:])
	if token == nil || len(bytes.Trim(line[begin:at], " \t")) > 0 {
		return "", 0, false
	}
	return string(line[begin : at+len(token)]), begin, true
}

var yamlKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s:'"#&*?{\[][^:]*)[ \t]*:`)
})

// keyEnd returns the offset in its line after the colon of a key, -1 if that cannot be
// told.
func (y *yamlText) keyEnd(m *document.PlacedMember) int {
	line, at := y.lines[m.Line-1], m.Column-1
	if m.Line == 1 && bytes.HasPrefix(line, []byte(bom)) && at < len(bom) {
		at = len(bom)
	}
	if at > len(line) {
		return -1
	}
	key := yamlKey().Find(line[at:])
	if key == nil {
		return -1
	}
	return at + len(key)
}

func (y *yamlText) member(path Path) *document.PlacedMember {
	at := y.root
	for i, step := range path {
		if at == nil || step.Name == "" {
			return nil
		}
		m := at.Get(step.Name)
		if m == nil || i == len(path)-1 {
			return m
		}
		at = m.Value
	}
	return nil
}

func (d *Document) innerYAML(path Path) (string, bool) {
	y, err := d.places()
	if err != nil {
		return "", false
	}
	m := y.member(path)
	if m == nil {
		return "", false
	}
	inner, _, ok := y.inner(m)
	return inner, ok
}

func (d *Document) setInnerYAML(path Path, inner string) ([]byte, error) {
	y, err := d.places()
	if err != nil {
		return nil, err
	}
	m := y.member(path)
	if m == nil || !y.emptied(m) {
		return nil, &Error{1, fmt.Sprintf("%s is not empty", path)}
	}
	at := y.keyEnd(m)
	y.lines[m.Line-1] = splice(y.lines[m.Line-1], at, at, inner)
	return y.text(), nil
}

// removeYAML deletes the lines of a member or an element.
func (d *Document) removeYAML(path Path) ([]byte, error) {
	y, err := d.places()
	if err != nil {
		return nil, err
	}
	begin, end, err := y.span(path)
	if err != nil {
		return nil, err
	}
	if end == len(y.lines) && begin > 1 && !bytes.HasSuffix(y.lines[end-1], []byte("\n")) {
		before := y.lines[begin-2]
		y.lines[begin-2] = bytes.TrimSuffix(bytes.TrimSuffix(before, []byte("\n")), []byte("\r"))
	}
	y.lines = append(y.lines[:begin-1:begin-1], y.lines[end:]...)
	return y.text(), nil
}

// span returns the first and the last line of a member or an element, 1-based.
func (y *yamlText) span(path Path) (begin, end int, err error) {
	end = len(y.lines)
	at := y.root
	for i, step := range path {
		if at == nil || at.Flow || at.Alias {
			return 0, 0, &Error{1, fmt.Sprintf("%s is not written in block style", path[:i])}
		}
		next := 0
		if step.Name == "" {
			if step.Index >= len(at.Items) {
				return 0, 0, &Error{1, fmt.Sprintf("there is no %s", path)}
			}
			begin = at.Items[step.Index].Line
			if step.Index+1 < len(at.Items) {
				next = at.Items[step.Index+1].Line
			}
			if dash := y.lines[begin-1]; at.Column > len(dash) || dash[at.Column-1] != '-' {
				return 0, 0, &Error{begin, "the dash of this entry stands on another line"}
			}
			at = at.Items[step.Index]
		} else {
			found := false
			for j := range at.Members {
				m := &at.Members[j]
				if m.Key == step.Name {
					begin, found = m.Line, true
					if j+1 < len(at.Members) {
						next = at.Members[j+1].Line
					}
					at = m.Value
					break
				}
			}
			if !found {
				return 0, 0, &Error{1, fmt.Sprintf("there is no %s", path)}
			}
		}
		if next > 0 {
			end = next - 1
		}
	}
	for end > begin && (insignificant(y.lines[end-1]) || bytes.HasPrefix(y.lines[end-1], []byte("..."))) {
		end--
	}
	return begin, end, nil
}
