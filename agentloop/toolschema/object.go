package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// object is a JSON object whose members keep their order and their bytes.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

var lenient = jsontext.AllowInvalidUTF8(true)

// read reads an object. Of a member that is there twice the last one counts.
func read(value json.RawMessage) (object, error) {
	d := jsontext.NewDecoder(bytes.NewReader(value), lenient, jsontext.AllowDuplicateNames(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, errors.Join(errors.New("it is not an object"), err)
	}
	o := object{}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		member, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		o.set(key, bytes.Clone(member))
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errors.New("there is more after the object")
	}
	return o, nil
}

// items reads a list.
func items(value json.RawMessage) (list []json.RawMessage, is bool) {
	if jsonspan.Kind(value) != '[' {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewReader(value), lenient, jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	for d.PeekKind() != ']' {
		item, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		list = append(list, bytes.Clone(item))
	}
	return list, true
}

func (o object) get(name string) json.RawMessage {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (o *object) set(name string, value json.RawMessage) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{name, value})
}

func (o *object) remove(name string) {
	for i := range *o {
		if (*o)[i].name == name {
			*o = append((*o)[:i:i], (*o)[i+1:]...)
			return
		}
	}
}

func (o object) json() json.RawMessage {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(quote(out, m.name), ':'), m.value...)
	}
	return append(out, '}')
}

func list(values []json.RawMessage) json.RawMessage {
	return append(append([]byte{'['}, bytes.Join(raw(values), []byte{','})...), ']')
}

func raw(values []json.RawMessage) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

func names(list []string) json.RawMessage {
	out := []byte{'['}
	for i, name := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = quote(out, name)
	}
	return append(out, ']')
}

func quote(out []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(out, text)
	if err != nil { // broken characters, which are replaced
		quoted, _ = jsontext.AppendQuote(out, string(bytes.ToValidUTF8([]byte(text), []byte("\uFFFD"))))
	}
	return quoted
}

// text is a string's, "" for anything else.
func text(value json.RawMessage) string {
	if jsonspan.Kind(value) != '"' {
		return ""
	}
	s, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(s)
}

// strings are those of a list.
func texts(value json.RawMessage) (out []string) {
	all, _ := items(value)
	for _, item := range all {
		if jsonspan.Kind(item) == '"' {
			out = append(out, text(item))
		}
	}
	return out
}
