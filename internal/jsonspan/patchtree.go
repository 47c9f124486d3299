package jsonspan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/text"
)

// value is a value that a patch is applied to: bytes as long as no operation goes
// into it, and its parts from then on. An operation so costs what lies on its way
// and no more.
type value struct {
	raw   json.RawMessage
	parts *parts
}

// parts are those of an object or a list.
type parts struct {
	list    []value // of a list
	members []part  // of an object, in their order
	byName  map[string]int
	object  bool
}

// part is one member of an object.
type part struct {
	key   []byte // in its quotes
	value value
	gone  bool
}

// patcher applies the operations of a JSON Patch (RFC 6902).
type patcher struct {
	root   value
	budget *Budget
	copied int64
	limit  int64 // of what copy operations add, in bytes
}

// open takes a value apart, nil if it has no parts.
func (p *patcher) open(v *value) *parts {
	if v.parts != nil {
		return v.parts
	}
	switch Kind(v.raw) {
	case '{':
		all := p.budget.members(v.raw)
		o := &parts{object: true, members: make([]part, len(all)), byName: make(map[string]int, len(all))}
		for i, m := range all {
			o.members[i] = part{key: m.Key, value: value{raw: m.Value}}
			o.byName[m.Name] = i
		}
		v.parts = o
	case '[':
		all := p.budget.spans(v.raw)
		o := &parts{list: make([]value, len(all))}
		for i, e := range all {
			o.list[i] = value{raw: v.raw[e.start:e.end]}
		}
		v.parts = o
	}
	return v.parts
}

// at returns the value that a path leads to.
func (p *patcher) at(path string) (*value, error) {
	v := &p.root
	for token := range jsontext.Pointer(path).Tokens() {
		parts := p.open(v)
		if v = nil; parts != nil {
			v = parts.child(token)
		}
		if v == nil {
			return nil, fmt.Errorf("there is nothing at %s", PointerName(path))
		}
	}
	return v, nil
}

func (o *parts) child(token string) *value {
	if o.object {
		if i, ok := o.byName[token]; ok && !o.members[i].gone {
			return &o.members[i].value
		}
		return nil
	}
	if i, ok := listIndex(token); ok && i < len(o.list) {
		return &o.list[i]
	}
	return nil
}

// listIndex reads an index as RFC 6901 writes one.
func listIndex(token string) (int, bool) {
	i, err := strconv.Atoi(token)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == token
}

// holder returns the parts that hold what a path leads to, and its last step.
func (p *patcher) holder(path string) (*parts, string, error) {
	cut := strings.LastIndexByte(path, '/')
	parent, err := p.at(path[:cut])
	if err != nil {
		return nil, "", err
	}
	parts := p.open(parent)
	if parts == nil {
		return nil, "", fmt.Errorf("%s is neither an object nor a list", PointerName(path[:cut]))
	}
	return parts, jsontext.Pointer(path).LastToken(), nil
}

func (p *patcher) add(path string, v value) error {
	if path == "" {
		p.root = v
		return nil
	}
	o, last, err := p.holder(path)
	if err != nil {
		return err
	}
	if o.object {
		o.set(last, v)
		return nil
	}
	i, ok := listIndex(last)
	if last == "-" {
		i, ok = len(o.list), true
	}
	if !ok || i > len(o.list) {
		return fmt.Errorf("%s is no place in a list of %d", text.Shorten(path, 200), len(o.list))
	}
	p.budget.spend(len(o.list) - i)
	o.list = append(o.list, value{})
	copy(o.list[i+1:], o.list[i:])
	o.list[i] = v
	return nil
}

func (o *parts) set(name string, v value) {
	if i, ok := o.byName[name]; ok && !o.members[i].gone {
		o.members[i].value = v
		return
	}
	o.byName[name] = len(o.members)
	o.members = append(o.members, part{key: Quote(name), value: v})
}

// remove takes a value out and returns it.
func (p *patcher) remove(path string) (value, error) {
	found, err := p.at(path)
	if err != nil {
		return value{}, err
	}
	v := *found
	if path == "" {
		p.root = value{raw: json.RawMessage("null")}
		return v, nil
	}
	o, last, err := p.holder(path)
	if err != nil {
		return value{}, err
	}
	if o.object {
		o.members[o.byName[last]].gone = true
		o.members[o.byName[last]].value = value{}
		return v, nil
	}
	i, _ := listIndex(last)
	p.budget.spend(len(o.list) - i)
	o.list = append(o.list[:i], o.list[i+1:]...)
	return v, nil
}

// bytes writes a value down.
func (p *patcher) bytes(v *value) json.RawMessage {
	if v.parts == nil {
		return v.raw
	}
	return p.append(nil, v)
}

func (p *patcher) append(out json.RawMessage, v *value) json.RawMessage {
	if v.parts == nil {
		p.budget.spend(len(v.raw))
		return append(out, v.raw...)
	}
	first := true
	comma := func() {
		if !first {
			out = append(out, ',')
		}
		first = false
	}
	if !v.parts.object {
		out = append(out, '[')
		for i := range v.parts.list {
			comma()
			out = p.append(out, &v.parts.list[i])
		}
		return append(out, ']')
	}
	out = append(out, '{')
	for i := range v.parts.members {
		m := &v.parts.members[i]
		p.budget.spend(len(m.key) + 1)
		if m.gone {
			continue
		}
		comma()
		out = append(append(out, m.key...), ':')
		out = p.append(out, &m.value)
	}
	return append(out, '}')
}
