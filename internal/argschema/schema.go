package argschema

import (
	stdjson "encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is the schema of a tool's args. It may be used by several goroutines.
type Schema struct {
	resolved *jsonschema.Resolved
	most     int    // how many parts of the schema look at one value of the args
	endless  string // why args are not compared with it, "" if they are
}

// Compile reads a schema. An empty one is no schema: the result is nil, which every object
// fits.
func Compile(written []byte) (*Schema, error) {
	if len(written) == 0 {
		return nil, nil
	}
	var schema jsonschema.Schema
	if err := stdjson.Unmarshal(written, &schema); err != nil {
		return nil, err
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, err
	}
	s := &Schema{resolved: resolved}
	s.most, err = costOf(written)
	if err != nil {
		s.endless = err.Error()
	}
	return s, nil
}

// Check reports why args do not fit the schema. Args that cannot be compared with it in a
// bounded time fit if they are an object; see [Schema.Unchecked].
func (s *Schema) Check(args []byte) error {
	value, err := instance(args)
	if err != nil {
		return err
	}
	if _, isObject := value.(map[string]any); !isObject {
		return errors.New("the args are not an object")
	}
	if s == nil || s.unchecked(value) != "" {
		return nil
	}
	return s.resolved.Validate(value)
}

// Unchecked says why args are not compared with the schema, "" if they are.
func (s *Schema) Unchecked(args []byte) string {
	if s == nil {
		return ""
	}
	value, err := instance(args)
	if err != nil {
		return ""
	}
	return s.unchecked(value)
}

func (s *Schema) unchecked(value any) string {
	if s.endless != "" {
		return s.endless
	}
	if work(value, s.most, s.most) > mostWork {
		return fmt.Sprintf("args like these may be compared more than %d times", mostWork)
	}
	return ""
}
