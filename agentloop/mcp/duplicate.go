package mcp

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/agentloop/mcp/internal/wire"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// repeats reports whether the texts of a result say all that its structured content
// does. The revision 2025-06-18 asks servers to send the same in both for older
// clients, and a model would pay for it twice. One common library puts what is
// no object into an object with the one member result, and sends a list as one
// text for each item.
func repeats(content []wireContent, structured protocol.RawMessage) bool {
	var texts []string
	for i := range content {
		if content[i].Type == "text" {
			texts = append(texts, content[i].Text)
		}
	}
	inner, wrapped := resultOnly(structured)
	return inTexts(texts, structured) || wrapped && inTexts(texts, inner)
}

// inTexts reports whether one text is the value, or each one an item of it.
func inTexts(texts []string, value protocol.RawMessage) bool {
	if slices.ContainsFunc(texts, func(text string) bool { return sameValue(text, value) }) {
		return true
	}
	var items []protocol.RawMessage
	if jsonspan.Kind(value) != '[' || json.Unmarshal(value, &items, wire.Lenient) != nil {
		return false
	}
	return len(items) > 0 && slices.EqualFunc(texts, items, sameValue)
}

// resultOnly is the value of the member result, if there is no other.
func resultOnly(structured protocol.RawMessage) (protocol.RawMessage, bool) {
	var members map[string]protocol.RawMessage
	if jsonspan.Kind(structured) != '{' || json.Unmarshal(structured, &members) != nil || len(members) != 1 {
		return nil, false
	}
	value, is := members["result"]
	return value, is
}

// sameValue reports whether a text is a string itself, or the JSON of a value.
func sameValue(text string, value protocol.RawMessage) bool {
	var plain string
	if jsonspan.Kind(value) == '"' && json.Unmarshal(value, &plain, wire.Lenient) == nil && strings.TrimSpace(plain) == strings.TrimSpace(text) {
		return true
	}
	return sameJSON(protocol.RawMessage(text), value)
}

// sameJSON reports whether two values differ in nothing but blanks, the order of
// members and the way in which characters and numbers are written. A number is
// the same only if all its digits are.
func sameJSON(a, b protocol.RawMessage) bool {
	var left, right any
	return json.Unmarshal(a, &left, exact) == nil && json.Unmarshal(b, &right, exact) == nil && equal(left, right)
}

// exact decodes numbers as they are written.
var exact = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, into *any) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	number, err := d.ReadValue()
	*into = digits(string(number))
	return err
}))

// number is a number: digits without zeros at their ends, and the power of ten
// that they are times.
type number struct {
	negative bool
	digits   string
	exponent string // where it is written; two forms of it are two numbers
	scale    int
}

func digits(text string) number {
	var n number
	text, n.negative = strings.CutPrefix(text, "-")
	text, n.exponent, _ = strings.Cut(strings.ToLower(text), "e")
	n.exponent = strings.TrimLeft(strings.TrimPrefix(n.exponent, "+"), "0")
	whole, fraction, _ := strings.Cut(text, ".")
	n.digits = strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(n.digits, "0")
	n.scale = len(n.digits) - len(short) - len(fraction)
	if n.digits = short; short == "" {
		return number{}
	}
	return n
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, is := b.(map[string]any)
		if !is || len(a) != len(b) {
			return false
		}
		for name, value := range a {
			other, has := b[name]
			if !has || !equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, is := b.([]any)
		return is && slices.EqualFunc(a, b, equal)
	}
	return a == b
}
