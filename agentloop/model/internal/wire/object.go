package wire

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Object is a JSON object whose members keep the order in which they were set,
// so that equal requests are equal bytes.
type Object struct {
	members jsonspan.MemberList
	err     error
}

// Set adds or replaces a member.
func (o *Object) Set(name string, value any) {
	text, err := protocol.Marshal(value)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("%s: %w", name, err)
	}
	o.members.Set(name, text)
}

// Merge takes the members of a JSON object as they are. They replace members of
// the same name; null removes one.
func (o *Object) Merge(object protocol.RawMessage) {
	members, err := Members(object)
	if err != nil && o.err == nil {
		o.err = err
	}
	for _, m := range members {
		if jsonspan.IsNull(m.Value) {
			o.members.Remove(m.Name)
		} else {
			o.members.Set(m.Name, m.Value)
		}
	}
}

// Members returns the members of a JSON object in their order, none of an empty text.
func Members(object protocol.RawMessage) (jsonspan.MemberList, error) {
	if len(object) == 0 {
		return nil, nil
	}
	if _, err := jsontext.NewDecoder(bytes.NewReader(object), Loose).ReadValue(); err != nil {
		return nil, err
	}
	return jsonspan.ReadMemberList(object), nil
}

// MarshalJSONTo writes the members in order.
func (o *Object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if o.err != nil {
		return o.err
	}
	return enc.WriteValue(jsontext.Value(o.members.JSON()))
}
