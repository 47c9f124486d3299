package builtin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// relative is a host that only knows its family's use.
type relative struct {
	provider.RunContext
	family provider.TreeUsage
}

func (r relative) TreeUsage() provider.TreeUsage { return r.family }

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
	family := func(cost float64) *provider.TreeUsage {
		return &provider.TreeUsage{Usage: usage(cost, 1, 1)}
	}
	main := "main"
	child := &main
	type event struct {
		parent  *string
		step    int
		attempt int
		usage   protocol.RunUsage
		family  *provider.TreeUsage // nil: the event is of no run in this process
		stops   string              // "": goes on
	}
	infer := func(step int, u protocol.RunUsage, stops string) event {
		return event{nil, step, 1, u, nil, stops}
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
			{nil, 1, 2, usage(unknown, unknown, unknown), nil, ""}, {nil, 1, 2, usage(unknown, unknown, unknown), family(unknown), ""},
		}},
		"a sub-agent ends with its family's budget": {BudgetLimits{Cost: 1}, []event{
			{child, 0, 1, usage(unknown, unknown, unknown), family(0.6), ""},
			{child, 1, 1, usage(0.1, 1, 1), family(0.99), ""},
			{child, 1, 1, usage(0.1, 1, 1), family(1), "the run cost $1.0000"},
		}},
		"what a sibling does not tell is not known": {BudgetLimits{Cost: 1}, []event{
			{child, 1, 1, usage(0.1, 1, 1), family(unknown), "agent.prices"},
			{child, 0, 1, usage(unknown, unknown, unknown), family(unknown), "agent.prices"},
			{nil, 2, 1, usage(0.1, 1, 1), family(unknown), "agent.prices"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			hook := Budget(c.limits).Hooks[0]
			for i, e := range c.events {
				ctx := t.Context()
				if e.family != nil {
					ctx = provider.WithRunContext(ctx, relative{family: *e.family})
				}
				reply, err := hook.Func(ctx, &protocol.Event{
					Event: protocol.InferenceStart, Agent: protocol.Agent{Parent: e.parent}, Step: e.step, Usage: e.usage, Data: fmt.Appendf(nil, `{"attempt":%d}`, e.attempt),
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
