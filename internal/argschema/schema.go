package argschema

import (
	stdjson "encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// Bounds of a schema that args are compared with: to read a larger or deeper one takes seconds.
const (
	mostBytes = 512 << 10
	mostDepth = 100
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
	switch {
	case len(written) > mostBytes:
		return &Schema{endless: fmt.Sprintf("the schema has more than %d bytes", mostBytes)}, nil
	case jsonspan.DeeperThan(written, mostDepth):
		return &Schema{endless: fmt.Sprintf("the schema is nested deeper than %d levels", mostDepth)}, nil
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
