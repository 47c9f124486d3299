package argschema

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol/patterns"
)

// WithoutForeignPatterns leaves out of a schema the regular expressions that
// only JavaScript knows, such as those that look ahead. Go cannot check args
// against them; the server does.
func WithoutForeignPatterns(schema []byte) []byte {
	var decoded any
	if json.Unmarshal(schema, &decoded, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return schema
	}
	dropForeign(decoded)
	encoded, err := json.Marshal(decoded, json.Deterministic(true))
	if err != nil {
		return schema
	}
	return encoded
}

func dropForeign(node any) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			dropForeign(item)
		}
	case map[string]any:
		if pattern, is := node["pattern"].(string); is && foreign(pattern) {
			delete(node, "pattern")
		}
		if named, is := node["patternProperties"].(map[string]any); is {
			for pattern := range named {
				if foreign(pattern) {
					delete(named, pattern)
				}
			}
		}
		for _, member := range node {
			dropForeign(member)
		}
	}
}

func foreign(pattern string) bool {
	_, err := patterns.Compile(pattern)
	return err != nil
}
