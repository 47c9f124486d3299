package exechook

import (
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/protocol"
)

// goHook is a Go hook for tool calls, whose Asker a test replaces.
func goHook(name string, can protocol.Class) executor.GoHook {
	return executor.GoHook{Name: name, Can: can, Events: []protocol.EventName{protocol.ToolCallStart}}
}

// toolEvent is a call of bash in session s.
func toolEvent(id string) protocol.Event {
	return protocol.Event{
		Event: protocol.ToolCallStart, ID: id, Session: protocol.Session{ID: "s"},
		Data: []byte(`{"toolCallId":"c1","name":"bash","kind":"shell","args":{},"parallel":1}`),
	}
}

func keyOf(h *executor.Hook) state.Key { return state.Key{Layer: h.Layer, Name: h.Name} }
