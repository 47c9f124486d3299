package executor

import (
	"context"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// TestHoldsOneTool asserts that a hook for other tools does not hold back what a
// tool puts out, and neither does a hook that only watches.
func TestHoldsOneTool(t *testing.T) {
	tests := map[string]struct {
		match   schema.Match
		watches bool
		data    string
		want    bool
	}{
		"the tool":         {schema.Match{Tool: []string{"bash"}}, false, `{"name":"bash","kind":"shell"}`, true},
		"its kind":         {schema.Match{Tool: []string{"@shell"}}, false, `{"name":"bash","kind":"shell"}`, true},
		"another tool":     {schema.Match{Tool: []string{"todo_*"}}, false, `{"name":"bash","kind":"shell"}`, false},
		"any tool":         {schema.Match{}, false, `{"name":"bash","kind":"shell"}`, true},
		"not known yet":    {schema.Match{Tool: []string{"todo_*"}}, false, ``, true},
		"no data":          {schema.Match{Tool: []string{"todo_*"}}, false, `{`, true},
		"a hook to watch":  {schema.Match{}, true, `{"name":"bash","kind":"shell"}`, false},
		"and when unknown": {schema.Match{}, true, ``, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set, err := StaticSet(GoHook{
				Name: "h", Events: []protocol.EventName{protocol.ToolCallEnd}, Match: test.match, Watches: test.watches,
				Func: func(context.Context, *protocol.Event) (protocol.Reply, error) { return protocol.Reply{}, nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			e := New(set, Options{})
			defer e.Close(t.Context())
			if got := e.MayChange(protocol.Event{Event: protocol.ToolCallEnd, Data: []byte(test.data)}); got != test.want {
				t.Errorf("MayChange = %t, want %t", got, test.want)
			}
		})
	}
}

// TestABrokenPromise asserts that a hook that promised to watch cannot refuse or
// change what was not held back for it.
func TestABrokenPromise(t *testing.T) {
	for _, reply := range []protocol.Reply{
		{Action: protocol.Block, Reason: "no"}, {Action: protocol.Stop}, {Action: "deny"},
		{Changes: []byte(`{"message":{"role":"assistant","content":"other"}}`)},
		{Action: protocol.Callback, Callback: &protocol.CallbackCall{Name: "compact"}},
	} {
		e, err := Static(GoHook{
			Name: "h", Events: []protocol.EventName{protocol.InferenceEnd}, Watches: true,
			Func: func(context.Context, *protocol.Event) (protocol.Reply, error) { return reply, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		data := []byte(`{"message":{"role":"assistant","content":"text"},"finishReason":"stop","type":"final"}`)
		outcome, err := e.Fire(t.Context(), protocol.Event{Event: protocol.InferenceEnd, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		run := outcome.Runs[0]
		if kept := reply.Callback != nil; kept != (run.Failure == "") || outcome.Refused() || len(outcome.Changes) > 0 {
			t.Errorf("%s: %+v", reply.Action, run)
		}
		e.Close(t.Context())
	}
}

func TestHolds(t *testing.T) {
	quiet := func(context.Context, *protocol.Event) (protocol.Reply, error) { return protocol.Reply{}, nil }
	hook := func(change func(*Hook)) *Hook {
		h := HookOf(GoHook{Name: "h", Events: []protocol.EventName{protocol.InferenceEnd}, Can: protocol.CanBlock, Func: quiet})
		change(h)
		return h
	}
	tests := map[string]struct {
		hooks  []*Hook
		refuse *protocol.Failure
		depth  int
		want   bool
	}{
		"no hook":                      {nil, nil, 0, false},
		"a blocker":                    {[]*Hook{hook(func(*Hook) {})}, nil, 0, true},
		"a modifier":                   {[]*Hook{hook(func(h *Hook) { h.Can = protocol.CanModify })}, nil, 0, true},
		"an observer":                  {[]*Hook{hook(func(h *Hook) { h.Can = protocol.CanObserve })}, nil, 0, false},
		"a required observer":          {[]*Hook{hook(func(h *Hook) { h.Can, h.Required = protocol.CanObserve, true })}, nil, 0, true},
		"in audit":                     {[]*Hook{hook(func(h *Hook) { h.Mode = protocol.Audit })}, nil, 0, false},
		"another event":                {[]*Hook{hook(func(h *Hook) { h.Events = []protocol.EventName{protocol.StepStop} })}, nil, 0, false},
		"for sub-agents, in the main":  {[]*Hook{hook(func(h *Hook) { h.Match = schema.Match{Agent: "sub"} })}, nil, 0, false},
		"for sub-agents, in a sub":     {[]*Hook{hook(func(h *Hook) { h.Match = schema.Match{Agent: "sub"} })}, nil, 1, true},
		"a condition that may hold":    {[]*Hook{hook(func(h *Hook) { h.Match = schema.Match{When: "step > 3"} })}, nil, 0, true},
		"settings that cannot be read": {nil, &protocol.Failure{Kind: protocol.FailSettings}, 0, true},
		"a guard that cannot be asked": {[]*Hook{hook(func(h *Hook) { h.Asker, h.Fault = nil, &protocol.Failure{Kind: protocol.FailGone} })}, nil, 0, true},
		"disabled":                     {[]*Hook{hook(func(h *Hook) { h.Asker = nil })}, nil, 0, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set, errs := NewSet(Set{Hooks: test.hooks, Refuse: test.refuse})
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			e := New(set, Options{})
			defer e.Close(t.Context())
			ev := protocol.Event{Event: protocol.InferenceEnd, Agent: protocol.Agent{Depth: test.depth}}
			if got := e.MayChange(ev); got != test.want {
				t.Errorf("MayChange = %t, want %t", got, test.want)
			}
		})
	}
}
