package toolschema

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// lenient accepts the text of servers whose characters are broken.
var lenient = jsontext.AllowInvalidUTF8(true)

// isJSON reports whether a schema is JSON. Of a name that is repeated the last value counts.
func isJSON(schema json.RawMessage) bool {
	return jsontext.Value(schema).IsValid(lenient, jsontext.AllowDuplicateNames(true))
}

// texts returns the strings of a list.
func texts(list json.RawMessage) (out []string) {
	for _, item := range jsonspan.Elements(list) {
		if jsonspan.Kind(item) == '"' {
			out = append(out, jsonspan.Text(item))
		}
	}
	return out
}

// listOf returns a list of strings.
func listOf(texts []string) json.RawMessage {
	var quoted []json.RawMessage
	for _, text := range texts {
		quoted = append(quoted, jsonspan.Quote(text))
	}
	return jsonspan.JoinList(quoted)
}

// propertiesOf returns the properties of an object schema, none if it says nothing of them.
func propertiesOf(o jsonspan.MemberList) jsonspan.MemberList {
	return jsonspan.ReadMemberList(o.Get("properties"))
}
