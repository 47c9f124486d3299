package configtext

import (
	"bytes"
	"fmt"
	"slices"
)

// Add appends a value to the list at a path. Objects and the list are made where they
// are missing.
func Add(format Format, text []byte, path Path, value any) ([]byte, error) {
	switch format {
	case YAML:
		return addYAML(text, path, value.(Fields))
	case TOML:
		return addTOML(text, path, value.(Fields))
	}
	list, err := Find(format, text, path)
	switch {
	case err != nil:
		return nil, err
	case list != nil:
		return addChild(text, path, "", List, value)
	}
	return Set(text, path, []any{value})
}

// Set gives a member a value where it is not there yet, in JSON. Objects on the way are
// made where they are missing.
func Set(text []byte, path Path, value any) ([]byte, error) {
	missing := len(path) - 1
	for missing > 0 {
		found, err := Find(JSON, text, path[:missing])
		if err != nil {
			return nil, err
		}
		if found != nil {
			break
		}
		missing--
	}
	for _, step := range slices.Backward(path[missing+1:]) {
		value = Fields{{step.Name, value}}
	}
	return addChild(text, path[:missing], path[missing].Name, Object, value)
}

// Find returns the value at a path of a text, nil if there is none. On the way there
// every name may be written once only: readers differ on which one counts.
func Find(format Format, text []byte, path Path) (*Node, error) {
	n, err := Parse(format, text)
	if err != nil {
		return nil, err
	}
	for i, step := range path {
		if n == nil || step.Name == "" {
			n = n.Find(path[i : i+1])
			continue
		}
		if n.Kind != Object {
			return nil, &Error{n.Line, fmt.Sprintf("%s is %s, where an object is expected", name(path[:i]), n.Kind)}
		}
		line := 0
		for _, m := range n.Members {
			if m.Name == step.Name && line > 0 {
				return nil, &Error{m.Line, fmt.Sprintf("%s stands here a second time, and programs differ on which one counts (the first is on line %d)", path[:i+1], line)}
			}
			if m.Name == step.Name {
				line = m.Line
			}
		}
		n = n.Get(step.Name)
	}
	return n, nil
}

func name(path Path) string {
	if len(path) == 0 {
		return "the document"
	}
	return path.String()
}

// addChild puts a last child into the list or object at a path.
func addChild(text []byte, path Path, member string, want Kind, value any) ([]byte, error) {
	root, err := Parse(JSON, text)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return newDocument(text, Fields{{member, value}}), nil
	}
	d := &jsonText{text: text, root: root}
	h := d.holderAt(path)
	if h.node.Kind != want {
		return nil, &Error{h.node.Line, fmt.Sprintf("%s is %s, where %s is expected", name(path), h.node.Kind, want)}
	}
	l := d.layoutIn(h)
	piece := renderJSON(value, l)
	if member != "" {
		piece = renderJSON(member, l) + ": " + piece
	}
	return d.insert(h, l, piece), nil
}

// newDocument writes a document into a text that says nothing: after what is there.
func newDocument(text []byte, value any) []byte {
	l := layout{newline: newline(text), unit: "  "}
	out := bytes.Clone(text)
	if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) && !bytes.Equal(out, []byte(bom)) {
		out = append(out, l.newline...)
	}
	return append(out, renderJSON(value, l)+l.newline...)
}

// holderAt returns the list or object at a path that exists.
func (d *jsonText) holderAt(path Path) *holder {
	h := &holder{node: d.root, begins: d.root.start}
	for _, step := range path {
		next := &holder{node: h.node.Find(Path{step}), above: h}
		next.begins = next.node.start
		for _, m := range h.node.Members {
			if m.Value == next.node {
				next.begins = m.start
			}
		}
		h = next
	}
	return h
}

func (d *jsonText) insert(h *holder, l layout, piece string) []byte {
	own := l.newline != ""
	s := d.slotIn(h.node, own)
	switch {
	case own:
		piece = l.newline + l.indent + piece
	case h.node.children() > 0:
		piece = " " + piece
	}
	if s.after {
		piece += ","
	}
	if s.closes {
		piece += l.newline + lineIndent(d.text, h.begins)
	}
	out := splice(d.text, s.at, s.at, piece)
	if s.comma >= 0 {
		out = splice(out, s.comma, s.comma, ",")
	}
	return out
}

// Remove takes out the element or member at a path.
func Remove(format Format, text []byte, path Path) ([]byte, error) {
	switch format {
	case YAML:
		return removeYAML(text, path)
	case TOML:
		return removeTOML(text, path)
	}
	root, err := Parse(JSON, text)
	if err != nil {
		return nil, err
	}
	d := &jsonText{text: text, root: root}
	if root.Find(path) == nil {
		return nil, &Error{1, fmt.Sprintf("there is no %s", path)}
	}
	n := d.holderAt(path.Parent()).node
	begin, end := n.childSpan(path[len(path)-1])
	return d.cut(n, begin, end), nil
}

// childSpan returns where a child begins and ends, a member with its name.
func (n *Node) childSpan(step Step) (begin, end int) {
	if step.Name == "" {
		return n.Items[step.Index].start, n.Items[step.Index].end
	}
	for _, m := range slices.Backward(n.Members) {
		if m.Name == step.Name {
			return m.start, m.Value.end
		}
	}
	return n.start, n.start
}

// cut deletes a child with the blanks before it and one comma: the one after it, else
// the one before it.
func (d *jsonText) cut(n *Node, begin, end int) []byte {
	lead := begin
	for lead > n.start+1 && isBlank(d.text[lead-1]) {
		lead--
	}
	if d.remarkEnds(n, lead, begin) && !d.lineEnds(end) {
		lead = begin // else what follows would become part of the remark
	}
	if comma := d.commaAfter(end, n.end-1); comma >= 0 {
		out := splice(d.text, comma, comma+1, "")
		return splice(out, lead, end, "")
	}
	out := splice(d.text, lead, end, "")
	if comma := d.commaBefore(n, begin); comma >= 0 {
		out = splice(out, comma, comma+1, "")
	}
	return out
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// remarkEnds reports whether the text before an offset is a // comment.
func (d *jsonText) remarkEnds(n *Node, lead, begin int) bool {
	from := n.start + 1
	if last := n.endBefore(begin); last >= 0 {
		from = last
	}
	for i := from; i < lead; {
		length := max(1, blankOrComment(d.text, i))
		if d.text[i] == '/' && d.text[i+1] == '/' && i+length >= lead {
			return true
		}
		i += length
	}
	return false
}

// lineEnds reports whether nothing but a comma and blanks follow on the line.
func (d *jsonText) lineEnds(from int) bool {
	rest := bytes.TrimLeft(d.text[from:], " \t\r,")
	return len(rest) == 0 || rest[0] == '\n'
}

// endBefore returns where the child before an offset ends, -1 if there is none.
func (n *Node) endBefore(begin int) int {
	last := -1
	for _, m := range n.Members {
		if m.start < begin {
			last = m.Value.end
		}
	}
	for _, item := range n.Items {
		if item.start < begin {
			last = item.end
		}
	}
	return last
}

// commaBefore returns the offset of the comma before a child, -1 if it is the first.
func (d *jsonText) commaBefore(n *Node, begin int) int {
	last := n.endBefore(begin)
	if last < 0 {
		return -1
	}
	return d.commaAfter(last, begin)
}

// Inner returns the bytes between the brackets of an empty list or object at a path, and
// whether there is one. At the root, of a text that says nothing it is the whole text.
func Inner(format Format, text []byte, path Path) (inner string, empty bool) {
	n, err := Find(format, text, path)
	switch {
	case err != nil:
		return "", false
	case len(path) == 0 && n == nil:
		return string(text), true
	case n == nil || n.children() > 0:
		return "", false
	case format == YAML:
		return innerYAML(text, path)
	case format == TOML || n.Kind != List && n.Kind != Object:
		return "", false
	}
	return string(text[n.start+1 : n.end-1]), true
}

// SetInner puts bytes that [Inner] returned back into an empty list or object.
func SetInner(format Format, text []byte, path Path, inner string) ([]byte, error) {
	n, err := Find(format, text, path)
	switch {
	case err != nil:
		return nil, err
	case format == YAML:
		return setInnerYAML(text, path, inner)
	case n == nil || n.children() > 0 || n.Kind != List && n.Kind != Object:
		return nil, &Error{1, fmt.Sprintf("%s is not empty", name(path))}
	}
	return splice(text, n.start+1, n.end-1, inner), nil
}
