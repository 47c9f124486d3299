package jsonschemas

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookd-dev/hookd/protocol"
)

var dataTypes = []reflect.Type{
	reflect.TypeFor[protocol.Content](), reflect.TypeFor[protocol.Part](), reflect.TypeFor[protocol.Message](),
	reflect.TypeFor[protocol.Tool](), reflect.TypeFor[protocol.Result](), reflect.TypeFor[protocol.CallError](),
	reflect.TypeFor[protocol.CallUsage](), reflect.TypeFor[protocol.Params](), reflect.TypeFor[protocol.PermissionOption](),
	reflect.TypeFor[protocol.StepCall](), reflect.TypeFor[protocol.Measures](), reflect.TypeFor[protocol.Response](),
}

var layers = words(protocol.Builtin, protocol.Project, protocol.User, protocol.Managed)

// event is what a hook reads. Data is described for each event by its row of the
// table. Unknown members are allowed everywhere: a host may be newer.
func event() (*jsonschema.Schema, error) {
	s, err := newShapes(true, dataTypes...)
	if err != nil {
		return nil, err
	}
	s.defs["Content"] = content()
	root, err := s.of(reflect.TypeFor[protocol.Event]())
	if err != nil {
		return nil, err
	}
	root.Title = "hookd event"
	root.Description = "What a hook reads on stdin: one object, a newline, end of file"
	root.Defs = s.defs
	root.Properties["protocol"].Description = "version of the protocol"
	root.Properties["event"].Description = "name of the event"
	root.Properties["time"].Format = "date-time"
	root.Properties["layer"].Enum = layers
	delete(root.Properties["session"].Properties, "key") // no hook sees it
	root.Properties["metadata"].Type = "object"
	root.Required = append(root.Required, "layer", "outcome", "state", "metadata")
	var names []protocol.EventName
	for i := range protocol.Table {
		row := &protocol.Table[i]
		names = append(names, row.Name)
		t := reflect.TypeOf(row.Data)
		if s.defs[t.Name()] == nil {
			if s.defs[t.Name()], err = s.of(t); err != nil {
				return nil, err
			}
		}
		root.AllOf = append(root.AllOf, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"event": is(string(row.Name))}},
			Then: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"data": ref(t.Name())}},
		})
	}
	root.Properties["event"].Enum = words(names...)
	describeCalls(s.defs)
	return root, nil
}

// describeCalls says what the Go types cannot: args are an object.
func describeCalls(defs map[string]*jsonschema.Schema) {
	for name, def := range defs {
		if args := def.Properties["args"]; args != nil {
			args.Type = "object"
		}
		if name == "Tool" {
			def.Properties["schema"].Type = "object"
		}
	}
	defs["Part"].Properties["type"].Description = "text, thinking, image, toolCall, toolResult or opaque"
	defs["Message"].Properties["role"].Description = "user, assistant or tool; hooks may write user and assistant"
}

// content is a list of parts or a text.
func content() *jsonschema.Schema {
	return &jsonschema.Schema{
		Description: "a list of parts; a string stands for one text part",
		AnyOf:       []*jsonschema.Schema{{Type: "string"}, {Type: "array", Items: ref("Part")}},
	}
}
