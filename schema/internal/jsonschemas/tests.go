package jsonschemas

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/testfile"
)

// tests is a file of tests beside a hook.
func tests() *jsonschema.Schema {
	return &jsonschema.Schema{
		Title: "hookd tests", Description: "The tests beside a hook: HOOK.test.yaml", Type: "object",
		Required: []string{"tests"}, AdditionalProperties: nothing(),
		Properties: map[string]*jsonschema.Schema{"$schema": {Type: "string"}, "tests": testList()},
	}
}

// testList is a list of tests.
func testList() *jsonschema.Schema {
	one := 1
	test := members(testfile.Keys)
	test.Required = []string{"expect"}
	test.Properties["event"].Enum = eventNames()
	expect := members(testfile.WantKeys)
	expect.MinProperties = &one
	expect.Properties["verdict"].Enum = words(testfile.Verdicts...)
	expect.Properties["failure"].Enum = words(testfile.Failures...)
	meaning := test.Properties["expect"].Description
	test.Properties["expect"] = &jsonschema.Schema{Description: meaning, AnyOf: []*jsonschema.Schema{{Type: "string", Enum: words(testfile.Verdicts...)}, expect}}
	return &jsonschema.Schema{Type: "array", MinItems: &one, Items: test}
}

// members is an object with the keys of a table.
func members(keys []testfile.Key) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", AdditionalProperties: nothing(), Properties: map[string]*jsonschema.Schema{}}
	for _, k := range keys {
		value := testValue(k.Type)
		value.Description = k.Meaning
		s.Properties[k.Name] = value
		s.PropertyOrder = append(s.PropertyOrder, k.Name)
	}
	return s
}

func testValue(t testfile.Type) *jsonschema.Schema {
	one := 1
	switch t {
	case testfile.String:
		return &jsonschema.Schema{Type: "string"}
	case testfile.Object:
		return &jsonschema.Schema{Type: "object"}
	case testfile.Changes:
		return &jsonschema.Schema{Type: "object", PropertyNames: &jsonschema.Schema{Pattern: "^/"}}
	case testfile.TextOrObject:
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "object"}}}
	case testfile.TextForm:
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Type: "string", Description: "the whole text, or /an RE2 expression/"},
			{Type: "object", Required: []string{"contains"}, AdditionalProperties: nothing(), Properties: map[string]*jsonschema.Schema{"contains": {Type: "string", MinLength: &one}}},
		}}
	}
	return &jsonschema.Schema{}
}

// eventNames are the names of all events, and their aliases.
func eventNames() []any {
	var names []string
	for i := range protocol.Table {
		names = append(names, string(protocol.Table[i].Name))
		for _, a := range protocol.Table[i].Aliases {
			names = append(names, a.Name)
		}
	}
	return words(names...)
}

// nothing is a schema that no value fits: there are no further members.
func nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }
