package jsonspan

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Change is one place where a document became another one.
type Change struct {
	Path   string          // JSON Pointer
	Before json.RawMessage // nil if it was absent
	After  json.RawMessage // nil if it was removed
}

// Edit turns a document into another one by editing its bytes: it returns old,
// edited so that it says what want says. What says the same keeps the bytes, blanks
// and place it had. changes lists each place that differs.
func (b *Budget) Edit(old, want json.RawMessage) (edited json.RawMessage, changes []Change) {
	e := editor{budget: b}
	edited = e.value("", old, want)
	return edited, e.changes
}

type editor struct {
	budget  *Budget
	changes []Change
}

// value returns old, edited so that it says what want says.
func (e *editor) value(path string, old, want json.RawMessage) json.RawMessage {
	old, want = Trim(old), Trim(want)
	e.budget.spend(min(len(old), len(want)))
	if bytes.Equal(old, want) {
		return old
	}
	switch kind := Kind(old); {
	case kind == '{' && Kind(want) == '{':
		return e.object(path, old, want)
	case kind == '[' && Kind(want) == '[':
		return e.list(path, old, want)
	case e.budget.Equal(old, want):
		return old
	}
	e.note(path, old, want)
	return want
}

func (e *editor) note(path string, before, after json.RawMessage) {
	e.budget.spend(len(path)) // the path of every change is a text of its own
	e.changes = append(e.changes, Change{Path: path, Before: before, After: after})
}

func (e *editor) object(path string, old, want json.RawMessage) json.RawMessage {
	wanted := make(map[string]Member)
	for _, m := range e.budget.members(want) {
		wanted[m.Name] = m
	}
	out := make(json.RawMessage, 0, max(len(old), len(want)))
	out = append(out, '{')
	empty, copied := true, 1 // copied: how far old is written or dropped
	for _, m := range e.budget.members(old) {
		target, keep := wanted[m.Name]
		delete(wanted, m.Name)
		if !keep {
			e.note(path+PointerToken(m.Name), m.Value, nil)
			copied = m.End()
			continue
		}
		before := old[copied:m.Begin] // blanks, and the comma
		if empty && copied > 1 {      // what stood before it is gone, and with it its comma
			before = bytes.TrimLeft(before, ", \t\r\n")
		}
		out = append(out, before...)
		out = append(out, old[m.Begin:m.Start]...)
		out = append(out, e.value(path+PointerToken(m.Name), m.Value, target.Value)...)
		empty, copied = false, m.End()
	}
	for _, m := range e.budget.members(want) {
		if _, added := wanted[m.Name]; !added {
			continue
		}
		if !empty {
			out = append(out, ',')
		}
		empty = false
		out = append(out, want[m.Begin:m.End()]...)
		e.note(path+PointerToken(m.Name), nil, m.Value)
	}
	e.budget.spend(len(out))
	return append(out, old[copied:]...)
}

func (e *editor) list(path string, old, want json.RawMessage) json.RawMessage {
	olds, wants := e.budget.spans(old), e.budget.spans(want)
	if len(olds) == len(wants) {
		out := make(json.RawMessage, 0, max(len(old), len(want)))
		copied := 0
		for i := range olds {
			out = append(out, old[copied:olds[i].start]...)
			out = append(out, e.value(path+"/"+strconv.Itoa(i), old[olds[i].start:olds[i].end], want[wants[i].start:wants[i].end])...)
			copied = olds[i].end
		}
		e.budget.spend(len(out))
		return append(out, old[copied:]...)
	}
	same := func(i, j int) bool {
		return e.budget.Equal(old[olds[i].start:olds[i].end], want[wants[j].start:wants[j].end])
	}
	head := 0
	for head < len(olds) && head < len(wants) && same(head, head) {
		head++
	}
	tail := 0
	for tail < len(olds)-head && tail < len(wants)-head && same(len(olds)-1-tail, len(wants)-1-tail) {
		tail++
	}
	e.noteList(path, old, want, olds, wants, head, tail)
	out := json.RawMessage{'['}
	add := func(element json.RawMessage) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, element...)
	}
	for _, s := range olds[:head] {
		add(old[s.start:s.end])
	}
	for _, s := range wants[head : len(wants)-tail] {
		add(want[s.start:s.end])
	}
	for _, s := range olds[len(olds)-tail:] {
		add(old[s.start:s.end])
	}
	return append(out, ']')
}

// noteList notes what became of a list whose length changed: elements that were
// added or removed in one place by their index, anything else as the whole list.
func (e *editor) noteList(path string, old, want json.RawMessage, olds, wants []span, head, tail int) {
	switch {
	case head+tail == len(olds):
		for i := head; i < len(wants)-tail; i++ {
			e.note(path+"/"+strconv.Itoa(i), nil, want[wants[i].start:wants[i].end])
		}
	case head+tail == len(wants):
		for i := head; i < len(olds)-tail; i++ {
			e.note(path+"/"+strconv.Itoa(i), old[olds[i].start:olds[i].end], nil)
		}
	default:
		e.note(path, old, want)
	}
}
