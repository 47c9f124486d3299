package argschema

import (
	"regexp/syntax"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol/patterns"
)

// WithoutForeignPatterns leaves out of a schema the regular expressions that
// only JavaScript knows, such as those that look ahead, and those that would take
// much to read. Go cannot check args against them; the server does.
func WithoutForeignPatterns(schema []byte) []byte {
	var decoded any
	if json.Unmarshal(schema, &decoded, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return schema
	}
	(&foreign{left: mostPatterns}).drop(decoded)
	encoded, err := json.Marshal(decoded, json.Deterministic(true))
	if err != nil {
		return schema
	}
	return encoded
}

// mostPatterns bounds the size of all patterns of a schema, with what they repeat written out.
const mostPatterns = 100_000

// foreign drops patterns that Go does not take.
type foreign struct{ left int }

func (f *foreign) drop(node any) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			f.drop(item)
		}
	case map[string]any:
		if pattern, is := node["pattern"].(string); is && f.is(pattern) {
			delete(node, "pattern")
		}
		if named, is := node["patternProperties"].(map[string]any); is {
			for pattern := range named {
				if f.is(pattern) {
					delete(named, pattern)
					delete(node, "additionalProperties") // they would be those
					delete(node, "unevaluatedProperties")
				}
			}
		}
		for _, member := range node {
			f.drop(member)
		}
	}
}

func (f *foreign) is(pattern string) bool {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return true
	}
	if f.left -= writtenOut(parsed); f.left < 0 {
		return true
	}
	_, err = patterns.Compile(pattern)
	return err != nil
}

// writtenOut is the size of a pattern with what it repeats written out.
func writtenOut(re *syntax.Regexp) (size int) {
	size = 1 + len(re.Rune)
	for _, part := range re.Sub {
		size = min(size+writtenOut(part), mostPatterns)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, mostPatterns+1)
}
