package document

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical writes a value as canonical JSON (RFC 8785). Two files that say the
// same in two formats come to the same text. A value that JSON has no word for,
// or an object with a key twice, is a [*SyntaxError]: nobody could say later
// what was meant.
func Canonical(n *Node) (json.RawMessage, error) {
	raw, err := appendCanonical(nil, n)
	if err != nil {
		return nil, err
	}
	return CanonicalJSON(raw)
}

// AsJSON writes a value as JSON, with every number as it was written. What [Canonical]
// refuses it refuses, too.
func AsJSON(n *Node) (json.RawMessage, error) { return appendCanonical(nil, n) }

// CanonicalJSON returns a JSON text in its canonical form (RFC 8785). It may reuse the
// memory of the text.
func CanonicalJSON(text []byte) (json.RawMessage, error) {
	v := jsontext.Value(text)
	err := v.Canonicalize()
	return json.RawMessage(v), err
}

func appendCanonical(out []byte, n *Node) (_ []byte, err error) {
	switch n.Kind {
	case Null:
		return append(out, "null"...), nil
	case Bool, Number:
		return append(out, n.Text...), nil
	case String, Word:
		return jsontext.AppendQuote(out, n.Text)
	case List:
		out = append(out, '[')
		for i, item := range n.Items {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = appendCanonical(out, item); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case Object:
		return appendObject(out, n)
	}
	return nil, &SyntaxError{n.Line, fmt.Sprintf("%s is no value that JSON has", n.Text)}
}

func appendObject(out []byte, n *Node) (_ []byte, err error) {
	members := slices.Clone(n.Members)
	slices.SortStableFunc(members, func(a, b Member) int { return cmp.Compare(a.Key, b.Key) })
	out = append(out, '{')
	for i, m := range members {
		if i > 0 {
			if m.Key == members[i-1].Key {
				return nil, &SyntaxError{m.Line, fmt.Sprintf("the key %q is there twice", m.Key)}
			}
			out = append(out, ',')
		}
		if out, err = jsontext.AppendQuote(out, m.Key); err != nil {
			return nil, err
		}
		if out, err = appendCanonical(append(out, ':'), m.Value); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}
