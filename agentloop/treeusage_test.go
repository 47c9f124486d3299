package agentloop_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// tenAtWork starts ten sub-agents at once, each of which goes on for ever.
func tenAtWork(_ int, r model.Request) turn {
	if r.Messages[0].Content.Text() != "do it" {
		return turn{text: "hm", calls: []protocol.Part{calling("s", "echo", `{"text":"x"}`)}}
	}
	if last(r) == "tool result" {
		return turn{text: "done"}
	}
	var calls []protocol.Part
	for i := range 10 {
		calls = append(calls, calling(fmt.Sprintf("c%d", i), "spawn_subagent", `{"prompt":"SUB"}`))
	}
	return turn{calls: calls}
}

// TestSubAgentsAreLimitedTogether asserts that agents side by side see each other's
// use while they are at work: a limit holds for all of them together, and not for
// each. A call is 10 tokens in, 2 out, and half a dollar.
func TestSubAgentsAreLimitedTogether(t *testing.T) {
	for name, c := range map[string]struct {
		limit provider.Provider
		end   string
		calls [2]int // model calls, at least and at most
		told  string
	}{
		// Each of the ten may have a call under way when the limit is reached.
		"cost":         {builtin.Budget(builtin.BudgetLimits{Cost: 20}), "agent-end budget", [2]int{40, 49}, "ended early (budget)"},
		"tokens":       {builtin.Budget(builtin.BudgetLimits{Tokens: 480}), "agent-end budget", [2]int{40, 49}, "ended early (budget)"},
		"output":       {builtin.Tokens(80), "agent-end tokens", [2]int{40, 49}, "ended early (tokens)"},
		"steps":        {builtin.Steps(30), "agent-end done", [2]int{32, 32}, "ended early (steps)"}, // 2 of the parent
		"nothing left": {builtin.Budget(builtin.BudgetLimits{Cost: 0.5}), "agent-end budget", [2]int{1, 1}, "ended early (budget)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newExecutorLoop(t, tenAtWork, nil, func(o *agentloop.Options) {
					o.Providers, o.NoDefaults = []provider.Provider{c.limit, builtin.SubAgents()}, true
					o.Limits.ToolCalls = -1
				}).prompt(t, t.Context(), "do it")
				if n := len(s.model.requests); n < c.calls[0] || n > c.calls[1] {
					t.Errorf("%d model calls, want %v", n, c.calls)
				}
				if got := s.ending(t); got != c.end {
					t.Errorf("ended with %s, want %s", got, c.end)
				}
				if n := strings.Count(rendered(s.loop.Messages()), c.told); n != 10 {
					t.Errorf("%d of ten sub-agents %s:\n%s", n, c.told, rendered(s.loop.Messages()))
				}
				s.checkEnds(t, name)
			})
		})
	}
}

// TestStepsOfSubAgentsInTurn asserts that sub-agents one after the other do not
// take each other's steps away.
func TestStepsOfSubAgentsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newExecutorLoop(t, func(n int, r model.Request) turn {
			switch {
			case r.Messages[0].Content.Text() != "do it": // two steps each
				return delegates(n, r)
			case len(r.Messages) < 8:
				return turn{calls: []protocol.Part{calling(fmt.Sprintf("c%d", n), "spawn_subagent", `{"prompt":"SUB"}`)}}
			}
			return turn{text: "done"}
		}, nil, func(o *agentloop.Options) {
			o.Providers, o.NoDefaults = []provider.Provider{builtin.Steps(5), builtin.SubAgents()}, true
		}).prompt(t, t.Context(), "do it")
		if got := s.ending(t); got != "agent-end done" || len(s.model.requests) != 5+4*2 {
			t.Errorf("ended with %s after %d calls:\n%s", got, len(s.model.requests), rendered(s.loop.Messages()))
		}
		if got := rendered(s.loop.Messages()); strings.Contains(got, "ended early") {
			t.Errorf("a sub-agent was cut short:\n%s", got)
		}
	})
}
