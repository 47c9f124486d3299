package protocol

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// memberOriginal is the member of a call's data that holds the model's own args where
// hooks changed them. Hooks read it and cannot change it.
const memberOriginal = "original"

// keepOriginal keeps the model's own args beside those that a hook left. After a hook
// that is sensitive has changed them they are left out for good: what it took away
// is nobody's to read.
func (f Fold) keepOriginal(changes []Change, sensitive bool) Fold {
	if !slices.ContainsFunc(changes, func(c Change) bool { return c.Path == "/args" || strings.HasPrefix(c.Path, "/args/") }) {
		return f
	}
	f.hidden = f.hidden || sensitive
	asked := f.ModelArgs()
	if f.hidden || asked == nil {
		f.event.Data = withoutMember(f.event.Data, memberOriginal)
		return f
	}
	f.event.Data = withMember(f.event.Data, memberOriginal, asked)
	return f
}

// ModelArgs are the args of a call as the model gave them, nil where no hook changed
// them. It tells them to hooks in Go also where a sensitive hook changed them.
func (f Fold) ModelArgs() jsontext.Value {
	if !f.spec.Tool {
		return nil
	}
	asked := Member(f.first.Data, memberOriginal)
	if asked == nil {
		asked = Member(f.first.Data, "args")
	}
	if asked == nil || (*work)(nil).sameValue(asked, Member(f.event.Data, "args")) {
		return nil
	}
	return asked
}

// withMember is an object with a member set, at its end if it is new.
func withMember(object jsontext.Value, name string, value jsontext.Value) jsontext.Value {
	object = trimmed(object)
	for _, m := range members(object) {
		if m.name == name {
			return slices.Concat(object[:m.start], value, object[m.end:])
		}
	}
	out := slices.Clone(object[:len(object)-1])
	if len(members(object)) > 0 {
		out = append(out, ',')
	}
	out = append(append(out, quote(name)...), ':')
	return append(append(out, value...), '}')
}

// withoutMember is an object without a member.
func withoutMember(object jsontext.Value, name string) jsontext.Value {
	if Member(object, name) == nil {
		return object
	}
	rest := objectWriter{}
	for _, m := range members(object) {
		if m.name != name {
			rest.add(object[m.key:stringEnd(object, m.key)], object[m.start:m.end])
		}
	}
	return rest.value()
}
