package jsonspan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Member is one member of an object.
type Member struct {
	Name  string
	Value json.RawMessage // shares the object's bytes
	Key   json.RawMessage // the name in its quotes, as it stands there

	Begin, Start int // offsets in the object: of the name's opening quote, of the value
}

// End is the offset after the member's value.
func (m Member) End() int { return m.Start + len(m.Value) }

// Members lists the members of an object in their order; none of what is no
// object.
func Members(object []byte) []Member { return (*Budget)(nil).members(object) }

func (b *Budget) members(object []byte) (list []Member) {
	b.spend(len(object))
	for m := range walk(object) {
		b.spend(elementCost)
		list = append(list, m)
	}
	return list
}

// walk yields the members of an object.
func walk(object []byte) func(yield func(Member) bool) {
	return func(yield func(Member) bool) {
		for m := range walkUnnamed(object) {
			m.Name = Unquote(m.Key)
			if !yield(m) {
				return
			}
		}
	}
}

// walkUnnamed yields them without their names, which cost memory.
func walkUnnamed(object []byte) func(yield func(Member) bool) {
	return func(yield func(Member) bool) {
		i := SkipBlanks(object, 0)
		if i == len(object) || object[i] != '{' {
			return
		}
		for i++; ; {
			i = SkipBlanks(object, i)
			if i >= len(object) || object[i] == '}' {
				return
			}
			if object[i] == ',' {
				i++
				continue
			}
			m := Member{Begin: i}
			i = StringEnd(object, i)
			m.Key = object[m.Begin:i:i]
			i = min(SkipBlanks(object, i)+1, len(object)) // the colon
			m.Start = SkipBlanks(object, i)
			i = valueEnd(object, m.Start)
			m.Value = object[m.Start:i:i]
			if !yield(m) {
				return
			}
		}
	}
}

// Get returns the value of an object's member as it stands there, or nil: no such
// member, or no object.
func Get(object []byte, name string) json.RawMessage {
	for m := range walkUnnamed(object) {
		if isName(m.Key, name) {
			return m.Value
		}
	}
	return nil
}

// isName reports whether a quoted name is this one.
func isName(key []byte, name string) bool {
	if end := len(key) - 1; end > 0 && plainEnd(key, 1) == end {
		return string(key[1:end]) == name
	}
	return Unquote(key) == name
}

// Elements returns the elements of a list as they stand there, none of what is no
// list.
func Elements(list []byte) []json.RawMessage {
	spans := (*Budget)(nil).spans(list)
	if spans == nil {
		return nil
	}
	values := make([]json.RawMessage, len(spans))
	for i, e := range spans {
		values[i] = list[e.start:e.end:e.end]
	}
	return values
}

// span is one element of a list, as offsets in the list's bytes.
type span struct{ start, end int }

func (b *Budget) spans(list []byte) (spans []span) {
	b.spend(len(list))
	i := SkipBlanks(list, 0)
	if i == len(list) || list[i] != '[' {
		return nil
	}
	for i++; ; {
		i = SkipBlanks(list, i)
		if i >= len(list) || list[i] == ']' {
			return spans
		}
		if list[i] == ',' {
			i++
			continue
		}
		e := span{start: i, end: valueEnd(list, i)}
		i = max(e.end, i+1)
		b.spend(elementCost)
		spans = append(spans, e)
	}
}

// Find returns the value that a JSON Pointer of object members leads to, or nil.
func Find(value json.RawMessage, pointer string) json.RawMessage {
	for token := range jsontext.Pointer(pointer).Tokens() {
		value = Get(value, token)
	}
	return value
}

// Offset returns where the value at a JSON Pointer begins, or as much of the pointer
// as exists.
func Offset(root []byte, pointer string) int {
	offset, value := 0, root
	for token := range jsontext.Pointer(pointer).Tokens() {
		start, end := -1, 0
		switch Kind(value) {
		case '{':
			for m := range walk(value) {
				if m.Name == token {
					start, end = m.Start, m.End()
				}
			}
		case '[':
			for i, e := range (*Budget)(nil).spans(value) {
				if strconv.Itoa(i) == token {
					start, end = e.start, e.end
				}
			}
		}
		if start < 0 {
			break
		}
		offset, value = offset+start, value[start:end]
	}
	return offset
}

// PointerToken is a member's name as a step of a JSON Pointer.
func PointerToken(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return "/" + name
	}
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// With returns an object with one member more at its end.
func With(object []byte, name string, value []byte) json.RawMessage {
	object = Trim(object)
	out := bytes.Clone(object[:len(object)-1])
	if len(Members(object)) > 0 {
		out = append(out, ',')
	}
	out = append(AppendQuote(out, name), ':')
	return append(append(out, value...), '}')
}

// Without returns an object without the members of some names. The bytes of the
// others stay.
func Without(object []byte, names ...string) json.RawMessage {
	var kept ObjectWriter
	dropped := false
	for m := range walk(object) {
		if slices.Contains(names, m.Name) {
			dropped = true
			continue
		}
		kept.Add(object[m.Begin:m.End()])
	}
	if !dropped {
		return object
	}
	return kept.Object()
}

// ObjectWriter builds an object of members that are JSON already.
type ObjectWriter struct{ out json.RawMessage }

// Add adds a member: its name in quotes, a colon and its value.
func (w *ObjectWriter) Add(member []byte) {
	w.comma()
	w.out = append(w.out, member...)
}

// Set adds a member of a quoted name.
func (w *ObjectWriter) Set(key, value []byte) {
	w.comma()
	w.out = append(append(append(w.out, key...), ':'), value...)
}

func (w *ObjectWriter) comma() {
	if len(w.out) == 0 {
		w.out = append(w.out, '{')
	} else {
		w.out = append(w.out, ',')
	}
}

// Object is the object with what was added.
func (w *ObjectWriter) Object() json.RawMessage {
	if len(w.out) == 0 {
		return json.RawMessage("{}")
	}
	return append(w.out, '}')
}

// SkipBlanks returns the first offset from i on that holds no JSON blank.
func SkipBlanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// StringEnd returns the offset after the string whose opening quote is at i.
func StringEnd(b []byte, i int) int {
	for begin := min(i+1, len(b)); ; {
		n := bytes.IndexByte(b[begin:], '"')
		if n < 0 {
			return len(b)
		}
		end, escapes := begin+n, 0
		for end-escapes > begin && b[end-escapes-1] == '\\' {
			escapes++
		}
		if begin = end + 1; escapes%2 == 0 {
			return begin
		}
	}
}

// valueEnd returns the offset after the value that begins at i.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = StringEnd(b, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}
