package configtext

import (
	"bytes"
	"fmt"
	"slices"
)

// addChild puts a last child into the list or object at a path.
func (d *Document) addChild(path Path, member string, want Kind, value any) ([]byte, error) {
	if d.Root == nil {
		return newDocument(d.Text, Fields{{member, value}}), nil
	}
	h := d.holderAt(path)
	if h.node.Kind != want {
		return nil, &Error{h.node.Line, fmt.Sprintf("%s is %s, where %s is expected", nameOf(path), h.node.Kind, want)}
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
func (d *Document) holderAt(path Path) *holder {
	h := &holder{node: d.Root, begins: d.Root.start}
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

func (d *Document) insert(h *holder, l layout, piece string) []byte {
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
		piece += l.newline + lineIndent(d.Text, h.begins)
	}
	out := splice(d.Text, s.at, s.at, piece)
	if s.comma >= 0 {
		out = splice(out, s.comma, s.comma, ",")
	}
	return out
}

// removeJSON takes out the element or member at a path.
func (d *Document) removeJSON(path Path) ([]byte, error) {
	if d.Root.Find(path) == nil {
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
func (d *Document) cut(n *Node, begin, end int) []byte {
	lead := begin
	for lead > n.start+1 && isBlank(d.Text[lead-1]) {
		lead--
	}
	if remarkEnds(d.Text, n, lead, begin) && !lineEnds(d.Text, end) {
		lead = begin // else what follows would become part of the remark
	}
	if comma := commaAfter(d.Text, end, n.end-1); comma >= 0 {
		out := splice(d.Text, comma, comma+1, "")
		return splice(out, lead, end, "")
	}
	out := splice(d.Text, lead, end, "")
	if comma := d.commaBefore(n, begin); comma >= 0 {
		out = splice(out, comma, comma+1, "")
	}
	return out
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// remarkEnds reports whether the text before an offset is a // comment.
func remarkEnds(text []byte, n *Node, lead, begin int) bool {
	from := n.start + 1
	if last := n.endBefore(begin); last >= 0 {
		from = last
	}
	for i := from; i < lead; {
		length := max(1, blankOrComment(text, i))
		if text[i] == '/' && text[i+1] == '/' && i+length >= lead {
			return true
		}
		i += length
	}
	return false
}

// lineEnds reports whether nothing but a comma and blanks follow on the line.
func lineEnds(text []byte, from int) bool {
	rest := bytes.TrimLeft(text[from:], " \t\r,")
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
func (d *Document) commaBefore(n *Node, begin int) int {
	last := n.endBefore(begin)
	if last < 0 {
		return -1
	}
	return commaAfter(d.Text, last, begin)
}
