package mcp

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/mcp/internal/wire"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// repeats reports whether the texts of a result say all that its structured content
// does. The revision 2025-06-18 asks servers to send the same in both for older
// clients, and a model would pay for it twice. One common library puts what is
// no object into an object with the one member result, and sends a list as one
// text for each item.
func repeats(texts []string, structured protocol.RawMessage) bool {
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
	return jsonspan.Valid(a) && jsonspan.Valid(b) && jsonspan.SameValue(a, b)
}
