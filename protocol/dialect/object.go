package dialect

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
)

// object is a JSON object that is written member by member, in this order. A member
// whose value is nil, "" or false is left out.
type object []member

type member struct {
	name  string
	value any
}

func (o object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		switch v := m.value.(type) {
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
			m.value = jsontext.Value(v)
		case object:
			if !v.says() {
				continue
			}
		case no:
			m.value = false
		}
		if err := enc.WriteToken(jsontext.String(m.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, m.value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// no is false where it is to be written.
type no struct{}

// says reports whether anything of the object would be written, besides the name of the
// event that has to be there.
func (o object) says() bool {
	for _, m := range o {
		switch v := m.value.(type) {
		case nil:
		case string:
			if v != "" && m.name != "hookEventName" {
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
		case object:
			if v.says() {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// value is the object as JSON.
func (o object) value() (protocol.RawMessage, error) {
	return json.Marshal(o, jsontext.AllowInvalidUTF8(true))
}

// line is the object as a line, or nothing if it says nothing.
func (o object) line() []byte {
	if !o.says() {
		return nil
	}
	var out bytes.Buffer
	if json.MarshalWrite(&out, o, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	return append(out.Bytes(), '\n')
}
