package jsonschemas

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookd-dev/hookd/protocol"
)

// reply is what a hook writes. What a change may touch depends on the event and
// is not part of the schema.
func reply() (*jsonschema.Schema, error) {
	s, err := newShapes(true, dataTypes...)
	if err != nil {
		return nil, err
	}
	s.defs["Content"] = content()
	describeCalls(s.defs)
	for name := range s.defs {
		switch name {
		case "Content", "Part", "Message", "Result", "Response":
		default:
			delete(s.defs, name)
		}
	}
	s.defs["Result"].Required = []string{"content"} // without isError it is false
	closed := shapes{refs: s.refs}
	root, err := closed.of(reflect.TypeFor[protocol.Reply]())
	if err != nil {
		return nil, err
	}
	root.Title = "hookd reply"
	root.Description = "What a hook writes on stdout; nothing at all with exit code 0 is observe"
	root.Defs = s.defs
	p := root.Properties
	p["action"].Enum = words(protocol.Observe, protocol.Block, protocol.Deny, protocol.Modify, protocol.Ask, protocol.Allow, protocol.Stop, protocol.Continue, protocol.Callback)
	p["changes"].Type = "object"
	p["patch"].Type = "array"
	p["patch"].Items = operation()
	p["messages"].Type = "array"
	p["messages"].Items = ref("Message")
	for name, t := range map[string]string{"result": "Result", "response": "Response"} {
		p[name].Ref = "#/$defs/" + t
	}
	call, err := closed.of(reflect.TypeFor[protocol.CallbackCall]())
	if err != nil {
		return nil, err
	}
	call.Description = "with callback: the recipe to run"
	delete(call.Properties, "by") // hookd says who asked
	call.Properties["as"].Enum = words(protocol.AsMessages, protocol.AsState)
	call.Properties["args"].Types, call.Properties["args"].Type = nil, "object"
	p["callback"] = call
	has := func(names ...string) *jsonschema.Schema { return &jsonschema.Schema{Required: names} }
	root.Not = has("changes", "patch")
	root.AllOf = []*jsonschema.Schema{
		when(protocol.Modify, &jsonschema.Schema{AnyOf: []*jsonschema.Schema{has("changes"), has("patch"), has("result"), has("response")}}),
		when(protocol.Callback, has("callback")),
	}
	return root, nil
}

func when(action protocol.Action, then *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{
		If:   &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"action": is(string(action))}, Required: []string{"action"}},
		Then: then,
	}
}

// operation is one operation of a JSON Patch (RFC 6902).
func operation() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object",
		Properties: map[string]*jsonschema.Schema{
			"op":    {Enum: words("add", "remove", "replace", "move", "copy", "test")},
			"path":  {Type: "string", Description: "JSON Pointer below data"},
			"from":  {Type: "string", Description: "JSON Pointer below data, of move and copy"},
			"value": {},
		},
		PropertyOrder: []string{"op", "path", "from", "value"},
		Required:      []string{"op", "path"},
	}
}
