package jsonschemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookd-dev/hookd/protocol"
)

const draft = "https://json-schema.org/draft/2020-12/schema"

// Files returns the schemas by name, indented, each with a newline at its end.
func Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, build := range map[string]func() (*jsonschema.Schema, error){
		"event":   event,
		"reply":   reply,
		"outcome": outcome,
		"metadata": func() (*jsonschema.Schema, error) {
			return description("D", "How a program describes itself when it is asked")
		},
		"side-file": func() (*jsonschema.Schema, error) { return description("F", "The description next to a hook's file") },
		"settings":  settings,
		"test":      func() (*jsonschema.Schema, error) { return tests(), nil },
	} {
		s, err := build()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.Schema = draft
		plain, err := json.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, plain, "", "  "); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b.WriteByte('\n')
		files[name] = b.Bytes()
	}
	return files, nil
}

// shapes makes the schema of a Go type, with named structs as references into
// the schema's own definitions.
type shapes struct {
	refs map[reflect.Type]*jsonschema.Schema
	defs map[string]*jsonschema.Schema
	open bool // unknown members are tolerated
}

// newShapes prepares schemas in which each of the given types is a definition.
func newShapes(open bool, named ...reflect.Type) (*shapes, error) {
	s := &shapes{refs: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[protocol.RawMessage](): {}}, defs: map[string]*jsonschema.Schema{}, open: open}
	for _, t := range named {
		s.refs[t] = &jsonschema.Schema{Ref: "#/$defs/" + t.Name()}
	}
	for _, t := range named {
		def, err := s.of(t)
		if err != nil {
			return nil, err
		}
		s.defs[t.Name()] = def
	}
	return s, nil
}

// of makes the schema of one type.
func (s *shapes) of(t reflect.Type) (*jsonschema.Schema, error) {
	known := map[reflect.Type]*jsonschema.Schema{}
	for other, ref := range s.refs {
		if other != t {
			known[other] = ref
		}
	}
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	s.tidy(schema)
	return schema, nil
}

// tidy removes what is not on the wire: the field that keeps unknown members,
// and null for a list.
func (s *shapes) tidy(schema *jsonschema.Schema) {
	if slices.Equal(schema.Types, []string{"null", "array"}) {
		schema.Types, schema.Type = nil, "array"
	}
	if schema.Items != nil {
		s.tidy(schema.Items)
	}
	if schema.Properties == nil {
		return
	}
	delete(schema.Properties, "Unknown")
	delete(schema.Properties, "Provider")
	keep := func(names []string) []string {
		return slices.DeleteFunc(names, func(name string) bool { return schema.Properties[name] == nil })
	}
	schema.Required = keep(schema.Required)
	schema.PropertyOrder = keep(schema.PropertyOrder)
	if s.open {
		schema.AdditionalProperties = nil
	}
	for _, property := range schema.Properties {
		s.tidy(property)
	}
}

func words[T ~string](list ...T) []any {
	enum := make([]any, len(list))
	for i, word := range list {
		enum[i] = string(word)
	}
	return enum
}

func ref(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

func is(value string) *jsonschema.Schema {
	var v any = value
	return &jsonschema.Schema{Const: &v}
}

func number(n float64) *float64 { return &n }
