package jsonschemas

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookd-dev/hookd/protocol"
)

// outcome is what a host obeys. Unknown members are allowed: a daemon may be newer than
// its client. The actions are a closed list, for a host can obey none that it does not know.
func outcome() (*jsonschema.Schema, error) {
	s, err := newShapes(true, append([]reflect.Type{
		reflect.TypeFor[protocol.HookText](), reflect.TypeFor[protocol.Run](), reflect.TypeFor[protocol.CallbackCall](),
		reflect.TypeFor[protocol.Answered](), reflect.TypeFor[protocol.Event](),
	}, dataTypes...)...)
	if err != nil {
		return nil, err
	}
	s.defs["Content"] = content()
	describeCalls(s.defs)
	root, err := s.of(reflect.TypeFor[protocol.Outcome]())
	if err != nil {
		return nil, err
	}
	root.Title = "hookd outcome"
	root.Description = "What the hooks of one event decided together: the result of event/fire, and what hookd fire --json prints. A host obeys action and goes on with event"
	actions := words(protocol.Observe, protocol.Block, protocol.Modify, protocol.Ask, protocol.Allow, protocol.Stop, protocol.Continue, protocol.Callback)
	p := root.Properties
	p["action"].Enum = actions
	p["callback"] = orNull(ref("CallbackCall"))
	p["answered"] = orNull(ref("Answered"))
	event := s.defs["Event"]
	event.Description = "final; hookd schema event describes the data of each event"
	event.Properties["data"].Type = "object"
	delete(event.Properties["session"].Properties, "key") // no outcome has it
	text := s.defs["HookText"].Properties
	text["source"].Enum = layers
	run := s.defs["Run"].Properties
	run["source"].Enum = layers
	run["class"].Enum = words(protocol.CanModify, protocol.CanBlock, protocol.CanObserve)
	run["mode"].Enum = words(protocol.Enforce, protocol.Audit)
	run["action"].Enum, run["would"].Enum = actions, actions
	for _, word := range []*jsonschema.Schema{p["failure"], text["failure"], run["failure"], run["signal"], run["skipped"]} {
		word.Type, word.Types = "", []string{"null", "string"}
	}
	root.Defs = used(root, s.defs)
	return root, nil
}

func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
}

// used are the definitions that a schema leads to.
func used(root *jsonschema.Schema, all map[string]*jsonschema.Schema) map[string]*jsonschema.Schema {
	found := map[string]*jsonschema.Schema{}
	var follow func(*jsonschema.Schema)
	follow = func(s *jsonschema.Schema) {
		if s == nil {
			return
		}
		for name, def := range all {
			if s.Ref == "#/$defs/"+name && found[name] == nil {
				found[name] = def
				follow(def)
			}
		}
		follow(s.Items)
		for _, one := range s.AnyOf {
			follow(one)
		}
		for _, one := range s.Properties {
			follow(one)
		}
	}
	follow(root)
	return found
}
