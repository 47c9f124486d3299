package protocol

import (
	"bytes"
	"strconv"
)

// rewriter turns a value into another one by editing its bytes: what says the
// same keeps the bytes, blanks and place it had. It notes each change by its
// JSON Pointer.
type rewriter struct {
	by      string
	work    *work
	changes []Change
}

// rewrite returns old, edited so that it says what want says.
func (w *rewriter) rewrite(path string, old, want RawMessage) RawMessage {
	old, want = trimmed(old), trimmed(want)
	w.work.spend(min(len(old), len(want)))
	if bytes.Equal(old, want) {
		return old
	}
	switch kind := kindOf(old); {
	case kind == '{' && kindOf(want) == '{':
		return w.rewriteObject(path, old, want)
	case kind == '[' && kindOf(want) == '[':
		return w.rewriteList(path, old, want)
	case w.work.sameValue(old, want):
		return old
	}
	w.note(path, old, want)
	return want
}

func (w *rewriter) note(path string, before, after RawMessage) {
	w.work.spend(len(path)) // the path of every change is a text of its own
	w.changes = append(w.changes, Change{Path: path, By: w.by, Before: before, After: after})
}

func (w *rewriter) rewriteObject(path string, old, want RawMessage) RawMessage {
	wanted := make(map[string]member)
	for _, m := range w.work.members(want) {
		wanted[m.name] = m
	}
	out := make(RawMessage, 0, max(len(old), len(want)))
	out = append(out, '{')
	empty, copied := true, 1 // copied: how far old is written or dropped
	for _, m := range w.work.members(old) {
		target, keep := wanted[m.name]
		delete(wanted, m.name)
		if !keep {
			w.note(path+pointerToken(m.name), old[m.start:m.end], nil)
			copied = m.end
			continue
		}
		before := old[copied:m.key] // blanks, and the comma
		if empty && copied > 1 {    // what stood before it is gone, and with it its comma
			before = bytes.TrimLeft(before, ", \t\r\n")
		}
		out = append(out, before...)
		out = append(out, old[m.key:m.start]...)
		out = append(out, w.rewrite(path+pointerToken(m.name), old[m.start:m.end], want[target.start:target.end])...)
		empty, copied = false, m.end
	}
	for _, m := range w.work.members(want) {
		if _, added := wanted[m.name]; !added {
			continue
		}
		if !empty {
			out = append(out, ',')
		}
		empty = false
		out = append(out, want[m.key:m.end]...)
		w.note(path+pointerToken(m.name), nil, want[m.start:m.end])
	}
	w.work.spend(len(out))
	return append(out, old[copied:]...)
}

func (w *rewriter) rewriteList(path string, old, want RawMessage) RawMessage {
	olds, wants := w.work.elements(old), w.work.elements(want)
	if len(olds) == len(wants) {
		out := make(RawMessage, 0, max(len(old), len(want)))
		copied := 0
		for i := range olds {
			out = append(out, old[copied:olds[i].start]...)
			out = append(out, w.rewrite(path+"/"+strconv.Itoa(i), old[olds[i].start:olds[i].end], want[wants[i].start:wants[i].end])...)
			copied = olds[i].end
		}
		w.work.spend(len(out))
		return append(out, old[copied:]...)
	}
	same := func(i, j int) bool {
		return w.work.sameValue(old[olds[i].start:olds[i].end], want[wants[j].start:wants[j].end])
	}
	head := 0
	for head < len(olds) && head < len(wants) && same(head, head) {
		head++
	}
	tail := 0
	for tail < len(olds)-head && tail < len(wants)-head && same(len(olds)-1-tail, len(wants)-1-tail) {
		tail++
	}
	w.noteList(path, old, want, olds, wants, head, tail)
	out := RawMessage{'['}
	add := func(element RawMessage) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, element...)
	}
	for _, e := range olds[:head] {
		add(old[e.start:e.end])
	}
	for _, e := range wants[head : len(wants)-tail] {
		add(want[e.start:e.end])
	}
	for _, e := range olds[len(olds)-tail:] {
		add(old[e.start:e.end])
	}
	return append(out, ']')
}

// noteList notes what became of a list whose length changed: elements that were
// added or removed in one place by their index, anything else as the whole list.
func (w *rewriter) noteList(path string, old, want RawMessage, olds, wants []span, head, tail int) {
	switch {
	case head+tail == len(olds):
		for i := head; i < len(wants)-tail; i++ {
			w.note(path+"/"+strconv.Itoa(i), nil, want[wants[i].start:wants[i].end])
		}
	case head+tail == len(wants):
		for i := head; i < len(olds)-tail; i++ {
			w.note(path+"/"+strconv.Itoa(i), old[olds[i].start:olds[i].end], nil)
		}
	default:
		w.note(path, old, want)
	}
}
