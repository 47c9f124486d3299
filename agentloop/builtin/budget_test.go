package builtin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

func TestBudget(t *testing.T) {
	const unknown = -1
	usage := func(cost float64, in, out int64) (u protocol.RunUsage) {
		if cost >= 0 {
			u.CostUSD = &cost
		}
		if in >= 0 {
			u.InputTokens = &in
		}
		if out >= 0 {
			u.OutputTokens = &out
		}
		return u
	}
	main := "main"
	type event struct {
		name    protocol.EventName
		agent   string
		parent  *string
		step    int
		attempt int
		usage   protocol.RunUsage
		stops   string // "": goes on
	}
	infer := func(step int, u protocol.RunUsage, stops string) event {
		return event{protocol.InferenceStart, "main", nil, step, 1, u, stops}
	}
	for name, c := range map[string]struct {
		limits BudgetLimits
		events []event
	}{
		"cost": {BudgetLimits{Cost: 1}, []event{
			infer(0, usage(unknown, unknown, unknown), ""), infer(1, usage(0.99, 5, 5), ""), infer(2, usage(1.25, 9, 9), "the budget of $1 is reached: the run cost $1.2500"),
		}},
		"tokens": {BudgetLimits{Tokens: 100}, []event{
			infer(0, usage(unknown, unknown, unknown), ""), infer(1, usage(unknown, 60, 39), ""), infer(2, usage(unknown, 60, 40), "the budget of 100 tokens is reached: 100 were used"),
		}},
		"unknown cost": {BudgetLimits{Cost: 1}, []event{
			infer(0, usage(unknown, unknown, unknown), ""), infer(1, usage(unknown, 1, 1), "agent.prices"),
		}},
		"unknown tokens": {BudgetLimits{Tokens: 1000}, []event{
			infer(1, usage(0, unknown, 1), "does not tell how many tokens"),
		}},
		"unknown cost does not matter to tokens": {BudgetLimits{Tokens: 1000}, []event{infer(1, usage(unknown, 1, 1), "")}},
		"a first call that is tried again": {BudgetLimits{Cost: 1, Tokens: 5}, []event{
			{protocol.InferenceStart, "main", nil, 1, 2, usage(unknown, unknown, unknown), ""},
		}},
		"a sub-agent has what its parent left": {BudgetLimits{Cost: 1}, []event{
			infer(1, usage(0.5, 1, 1), ""),
			{protocol.SubagentStart, "main", nil, 2, 0, usage(0.6, 1, 1), ""},
			{protocol.InferenceStart, "child", &main, 0, 1, usage(unknown, unknown, unknown), ""},
			{protocol.InferenceStart, "child", &main, 1, 1, usage(0.3, 1, 1), ""},
			{protocol.InferenceStart, "child", &main, 2, 1, usage(0.4, 1, 1), "the run cost $1.0000"},
		}},
		"a sub-agent's use is counted once": {BudgetLimits{Cost: 1}, []event{
			{protocol.SubagentStart, "main", nil, 1, 0, usage(0.1, 1, 1), ""},
			{protocol.InferenceStart, "child", &main, 1, 1, usage(0.5, 1, 1), ""},
			infer(1, usage(0.6, 1, 1), ""),
			{protocol.SubagentStart, "main", nil, 2, 0, usage(0.7, 1, 1), ""},
			{protocol.InferenceStart, "next", &main, 1, 1, usage(0.2, 1, 1), ""},
		}},
		"an unknown parent makes the child's unknown": {BudgetLimits{Cost: 1}, []event{
			{protocol.SubagentStart, "main", nil, 0, 0, usage(unknown, unknown, unknown), ""},
			{protocol.InferenceStart, "child", &main, 1, 1, usage(unknown, 1, 1), "agent.prices"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			hook := Budget(c.limits).Hooks[0]
			for i, e := range c.events {
				reply, err := hook.Func(t.Context(), &protocol.Event{
					Event: e.name, Session: protocol.Session{ID: "s"}, Agent: protocol.Agent{ID: e.agent, Parent: e.parent},
					Step: e.step, Usage: e.usage, Data: fmt.Appendf(nil, `{"attempt":%d}`, e.attempt),
				})
				if err != nil || (reply.Action == protocol.Stop) != (e.stops != "") || !strings.Contains(reply.Reason, e.stops) {
					t.Errorf("event %d: %+v %v, want %q", i, reply, err, e.stops)
				}
			}
		})
	}
}

func TestBudgetSaysItsLimits(t *testing.T) {
	for want, limits := range map[string]BudgetLimits{"$0.5": {Cost: 0.5}, "7 tokens": {Tokens: 7}, "$2 or 7 tokens": {Cost: 2, Tokens: 7}} {
		if got := limits.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
