package wire

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Object is a JSON object whose members keep the order in which they were set,
// so that equal requests are equal bytes.
type Object struct {
	names  []string
	values map[string]protocol.RawMessage
	err    error
}

// Set adds or replaces a member. A nil pointer or slice adds none.
func (o *Object) Set(name string, value any) {
	text, err := protocol.Marshal(value)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("%s: %w", name, err)
	}
	o.set(name, text)
}

func (o *Object) set(name string, value protocol.RawMessage) {
	if o.values == nil {
		o.values = map[string]protocol.RawMessage{}
	}
	if _, there := o.values[name]; !there {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

// Has reports whether a member is set.
func (o *Object) Has(name string) bool {
	_, there := o.values[name]
	return there
}

// Merge takes the members of a JSON object as they are. They replace members of
// the same name; null removes one.
func (o *Object) Merge(object protocol.RawMessage) {
	if len(object) == 0 {
		return
	}
	for name, value := range Members(object, &o.err) {
		if jsonspan.Kind(value) == 'n' {
			delete(o.values, name)
			o.names = slices.DeleteFunc(o.names, func(n string) bool { return n == name })
			continue
		}
		o.set(name, value)
	}
}

// Members walks a JSON object in its order. An error is kept in err.
func Members(object protocol.RawMessage, err *error) func(yield func(string, protocol.RawMessage) bool) {
	return func(yield func(string, protocol.RawMessage) bool) {
		dec := jsontext.NewDecoder(bytes.NewReader(object), Loose)
		token, e := dec.ReadToken()
		for e == nil && token.Kind() == '{' && dec.PeekKind() != '}' {
			var name string
			var value jsontext.Value
			if e = json.UnmarshalDecode(dec, &name, Loose); e == nil {
				value, e = dec.ReadValue()
			}
			if e == nil && !yield(name, bytes.Clone(value)) {
				return
			}
		}
		if e != nil && *err == nil {
			*err = e
		}
	}
}

// MarshalJSONTo writes the members in order.
func (o *Object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if o.err != nil {
		return o.err
	}
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, name := range o.names {
		if err := enc.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if err := enc.WriteValue(jsontext.Value(o.values[name])); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}
