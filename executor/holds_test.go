package executor

import (
	"context"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

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
			ev := protocol.Event{Agent: protocol.Agent{Depth: test.depth}}
			if got := e.Holds(protocol.InferenceEnd, ev); got != test.want {
				t.Errorf("Holds = %t, want %t", got, test.want)
			}
		})
	}
}
