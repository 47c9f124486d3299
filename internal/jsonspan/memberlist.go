package jsonspan

import (
	"encoding/json"
	"slices"
)

// MemberList is a JSON object that can be changed and written again. Members keep their order,
// and their values, which are JSON already, keep their bytes. Only Name and Value of a
// member count.
type MemberList []Member

// ReadMemberList returns the members of an object. Of members that share a name the last value
// counts, at the place of the first. It returns none of what is no object.
func ReadMemberList(object []byte) MemberList {
	var o MemberList
	at := map[string]int{}
	for m := range walk(object) {
		if i, is := at[m.Name]; is {
			o[i].Value = m.Value
			continue
		}
		at[m.Name] = len(o)
		o = append(o, Member{Name: m.Name, Value: m.Value})
	}
	return o
}

func (o MemberList) index(name string) int {
	return slices.IndexFunc(o, func(m Member) bool { return m.Name == name })
}

// Get returns the value of a member, nil if there is none.
func (o MemberList) Get(name string) json.RawMessage {
	if i := o.index(name); i >= 0 {
		return o[i].Value
	}
	return nil
}

// Set replaces the value of a member, or adds the member at the end.
func (o *MemberList) Set(name string, value json.RawMessage) {
	if i := o.index(name); i >= 0 {
		(*o)[i].Value = value
		return
	}
	*o = append(*o, Member{Name: name, Value: value})
}

// Remove removes a member, if it is there.
func (o *MemberList) Remove(name string) {
	if i := o.index(name); i >= 0 {
		*o = slices.Concat((*o)[:i], (*o)[i+1:])
	}
}

// JSON returns the object as JSON.
func (o MemberList) JSON() json.RawMessage {
	var w ObjectWriter
	for _, m := range o {
		w.Set(Quote(m.Name), m.Value)
	}
	return w.Object()
}

// JoinList returns the list of some values that are JSON already.
func JoinList(values []json.RawMessage) json.RawMessage {
	out := json.RawMessage{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}
