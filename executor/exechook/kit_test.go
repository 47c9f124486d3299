package exechook

import (
	"context"
	"reflect"
	"testing"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
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

func fire(t testing.TB, e *executor.Executor, ev protocol.Event) protocol.Outcome {
	t.Helper()
	outcome, err := e.Fire(context.Background(), ev)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// runsOf shows each run of an outcome as the hook's name and what it came to.
func runsOf(o protocol.Outcome) (out []string) {
	for _, r := range o.Runs {
		what := string(r.Action)
		switch {
		case r.Skipped != "":
			what = string(r.Skipped)
		case r.Failure != "":
			what = string(r.Failure)
		}
		out = append(out, r.Hook+":"+what)
	}
	return out
}

// overDefaults are the default settings, but for what of settings is not zero.
func overDefaults(settings schema.HookSettings) schema.HookSettings {
	whole := schema.DefaultSettings().Hooks
	setNonZero(reflect.ValueOf(&whole).Elem(), reflect.ValueOf(settings))
	return whole
}

func setNonZero(onto, from reflect.Value) {
	for i := range from.NumField() {
		switch field := from.Field(i); {
		case field.Kind() == reflect.Struct:
			setNonZero(onto.Field(i), field)
		case !field.IsZero():
			onto.Field(i).Set(field)
		}
	}
}

func keyOf(h *executor.Hook) state.Key { return state.Key{Layer: h.Layer, Name: h.Name} }
