package configtext

import (
	"bytes"
	"strings"
)

// holder is a list or an object with the ones around it, the innermost last.
type holder struct {
	node   *Node
	begins int // where the member or element that it is begins in the text
	above  *holder
}

// layoutIn returns how a new child of a list or object is written.
func (d *Document) layoutIn(h *holder) layout {
	if !d.ownLines(h) {
		return layout{}
	}
	l := layout{newline: newline(d.Text), unit: d.unit()}
	if lead, own := leadOf(d.Text, lastChild(h.node)); own {
		l.indent = lead
	} else {
		l.indent = lineIndent(d.Text, h.begins) + l.unit
	}
	return l
}

// ownLines reports whether the children of a list or object stand on lines of their own;
// for one that is empty whether a new one should.
func (d *Document) ownLines(h *holder) bool {
	if last := lastChild(h.node); last >= 0 {
		_, own := leadOf(d.Text, last)
		return own
	}
	inner := d.Text[h.node.start+1 : h.node.end-1]
	switch {
	case bytes.IndexByte(inner, '\n') >= 0:
		return true
	case h.above == nil:
		return true
	}
	return d.ownLines(h.above)
}

// lastChild returns where the last child of a list or object begins, -1 if it is empty.
func lastChild(n *Node) int {
	switch {
	case len(n.Members) > 0:
		return n.Members[len(n.Members)-1].start
	case len(n.Items) > 0:
		return n.Items[len(n.Items)-1].start
	}
	return -1
}

// leadOf returns the blanks before what begins at an offset, and whether it is the first
// thing on its line. The first line of a text does not count as one.
func leadOf(text []byte, offset int) (lead string, own bool) {
	if offset < 0 {
		return "", false
	}
	begin := bytes.LastIndexByte(text[:offset], '\n') + 1
	before := text[begin:offset]
	return string(before), begin > 0 && len(bytes.Trim(before, " \t")) == 0
}

// lineIndent returns the blanks with which the line of an offset begins.
func lineIndent(text []byte, offset int) string {
	begin := bytes.LastIndexByte(text[:offset], '\n') + 1
	line := text[begin:offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit returns one level of indentation: that of the root's members.
func (d *Document) unit() string {
	base := lineIndent(d.Text, d.Root.start)
	for _, begins := range []int{lastChild(d.Root), firstNested(d.Root)} {
		if lead, own := leadOf(d.Text, begins); own && len(lead) > len(base) && strings.HasPrefix(lead, base) {
			return lead[len(base):]
		}
	}
	return "  "
}

// firstNested returns where the first child of the root's first child begins.
func firstNested(root *Node) int {
	for _, m := range root.Members {
		if m.Value.children() > 0 {
			return lastChild(m.Value)
		}
	}
	return -1
}

// slot is where the text of a new last child goes.
type slot struct {
	comma  int  // a comma is put here first, -1 for none
	at     int  // the child itself
	after  bool // the list ends with a comma: so does the new child
	closes bool // the closing bracket must be put on a line of its own
}

// slotIn finds the place of a new last child.
func (d *Document) slotIn(n *Node, own bool) slot {
	open, end := n.start+1, n.end-1
	last := n.lastEnd()
	if last < 0 {
		at := lastComment(d.Text, open, end)
		return slot{comma: -1, at: at, closes: own && bytes.IndexByte(d.Text[at:end], '\n') < 0}
	}
	if comma := commaAfter(d.Text, last, end); comma >= 0 {
		return slot{comma: -1, at: afterRemark(d.Text, comma+1, end, own), after: true}
	}
	return slot{comma: last, at: afterRemark(d.Text, last, end, own)}
}

// lastEnd returns where the last child of a list or object ends, -1 if it is empty.
func (n *Node) lastEnd() int {
	switch {
	case len(n.Members) > 0:
		return n.Members[len(n.Members)-1].Value.end
	case len(n.Items) > 0:
		return n.Items[len(n.Items)-1].end
	}
	return -1
}

// lastComment returns the offset after the last comment between two offsets, the first
// offset if there is none.
func lastComment(text []byte, from, to int) int {
	last := from
	for i := from; i < to; {
		n := max(1, blankOrComment(text, i))
		if text[i] == '/' {
			last = i + n
		}
		i += n
	}
	return min(last, to)
}

// commaAfter returns the offset of the comma after a value, -1 if there is none.
func commaAfter(text []byte, from, to int) int {
	for i := from; i < to; {
		if text[i] == ',' {
			return i
		}
		n := blankOrComment(text, i)
		if n == 0 {
			return -1
		}
		i += n
	}
	return -1
}

// afterRemark returns the offset after a comment that ends on the line of an offset, the
// offset itself if there is none.
func afterRemark(text []byte, from, to int, own bool) int {
	if !own {
		return from
	}
	at := from
	for i := from; i < to && text[i] != '\n'; {
		n := blankOrComment(text, i)
		if n == 0 || text[i] == '/' && bytes.IndexByte(text[i:i+n], '\n') >= 0 {
			break
		}
		if text[i] == '/' {
			at = i + n
		}
		i += n
	}
	if at > from && text[at-1] == '\r' {
		at-- // of the line end, which the comment does not hold
	}
	return at
}
