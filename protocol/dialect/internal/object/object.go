package object

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Object is a JSON object that is written member by member, in this order. A member
// whose value is nil, "" or false is left out.
type Object []Member

// Member is one of them. (It has no type name of its own, so that a literal may leave out
// the names of its fields in other packages, too.)
type Member = struct {
	Name  string
	Value any
}

func (o Object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		switch v := m.Value.(type) {
		case nil:
			continue
		case string:
			if v == "" {
				continue
			}
		case bool:
			if !v {
				continue
			}
		case protocol.RawMessage:
			if v == nil {
				continue
			}
			m.Value = jsontext.Value(v)
		case Object:
			if !v.Says() {
				continue
			}
		case False:
			m.Value = false
		}
		if err := enc.WriteToken(jsontext.String(m.Name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, m.Value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// False is false where it is to be written.
type False struct{}

// Says reports whether anything of the object would be written, besides the name of the
// event that has to be there.
func (o Object) Says() bool {
	for _, m := range o {
		switch v := m.Value.(type) {
		case nil:
		case string:
			if v != "" && m.Name != "hookEventName" {
				return true
			}
		case bool:
			if v {
				return true
			}
		case protocol.RawMessage:
			if v != nil {
				return true
			}
		case Object:
			if v.Says() {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// Encode returns the object as JSON.
func (o Object) Encode() (protocol.RawMessage, error) {
	return json.Marshal(o, jsontext.AllowInvalidUTF8(true))
}

// Line returns the object as a line, or nothing if it says nothing.
func (o Object) Line() []byte {
	if !o.Says() {
		return nil
	}
	var out bytes.Buffer
	if json.MarshalWrite(&out, o, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	return append(out.Bytes(), '\n')
}

// Raw returns a value as JSON, nil for one that JSON has no word for.
func Raw(value any) protocol.RawMessage {
	out, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil
	}
	return out
}

// Always returns values of members that are written even if they are empty.
func Always(value any) protocol.RawMessage { return Raw(value) }

// JSON returns the object, which is written even if it says nothing.
func (o Object) JSON() protocol.RawMessage { return Raw(o) }

// Set returns an object in which a member has this value, at its end.
func Set(object []byte, name string, value []byte) protocol.RawMessage {
	return jsonspan.With(jsonspan.Without(object, name), name, value)
}
