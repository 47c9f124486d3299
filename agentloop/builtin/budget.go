package builtin

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// BudgetLimits are what a run may use.
type BudgetLimits struct {
	Cost   float64 // USD; 0: no limit
	Tokens int64   // input and output tokens together; 0: no limit
}

// Budget ends a run with the stop reason budget before the model call that
// follows when a limit is reached; what was asked for and paid for is kept, and
// its tools run. A run's use is that of its model calls and its sub-agents'; a
// sub-agent is held to what its parent had left when it began. Sub-agents that
// run side by side do not see each other's use until they have ended.
//
// What is limited must be known: from the second call on, a run whose cost (or
// tokens) the model and the price table do not tell ends too, and says what is
// missing. The first call is made, since only its answer tells.
func Budget(limits BudgetLimits) provider.Provider {
	budget := &budget{limits: limits, used: map[string]map[string]protocol.RunUsage{}}
	return provider.Provider{Name: "budget", Hooks: []protocol.GoHook{{
		Name:        "budget",
		Description: fmt.Sprintf("ends a run that uses more than %s", limits),
		Events:      []protocol.EventName{protocol.SubagentStart, protocol.InferenceStart},
		Can:         protocol.CanBlock,
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			return budget.judge(ev)
		},
	}}}
}

func (l BudgetLimits) String() string {
	switch cost, tokens := fmt.Sprintf("$%g", l.Cost), fmt.Sprintf("%d tokens", l.Tokens); {
	case l.Tokens == 0:
		return cost
	case l.Cost == 0:
		return tokens
	default:
		return cost + " or " + tokens
	}
}

// budget remembers what each agent had used at its last event, for the agents
// that work for it.
type budget struct {
	limits BudgetLimits

	mu   sync.Mutex
	used map[string]map[string]protocol.RunUsage // by session and agent
}

func (b *budget) judge(ev *protocol.Event) (protocol.Reply, error) {
	var data struct {
		Attempt int `json:"attempt"`
	}
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return protocol.Reply{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	own := ev.Usage
	if ev.Step == 0 || ev.Step == 1 && data.Attempt > 1 { // unknown is nothing before the first answer
		own.CostUSD, own.InputTokens, own.OutputTokens = orZero(own.CostUSD), orZero(own.InputTokens), orZero(own.OutputTokens)
	}
	agents := b.used[ev.Session.ID]
	if agents == nil || ev.Agent.Parent == nil && ev.Event == protocol.InferenceStart {
		agents = map[string]protocol.RunUsage{} // no agent works for it while it calls its model
		b.used[ev.Session.ID] = agents
	}
	all := own
	if ev.Agent.Parent != nil {
		if parent, known := agents[*ev.Agent.Parent]; known {
			all.CostUSD = sum(own.CostUSD, parent.CostUSD)
			all.InputTokens = sum(own.InputTokens, parent.InputTokens)
			all.OutputTokens = sum(own.OutputTokens, parent.OutputTokens)
		}
	}
	agents[ev.Agent.ID] = all
	return b.limits.judge(&all), nil
}

func (l BudgetLimits) judge(used *protocol.RunUsage) protocol.Reply {
	tokens := sum(used.InputTokens, used.OutputTokens)
	switch {
	case l.Cost > 0 && used.CostUSD == nil:
		return stop("what the run costs is not known, so agent.limits.cost cannot hold: add the model to agent.prices")
	case l.Cost > 0 && *used.CostUSD >= l.Cost:
		return stop("the budget of $%g is reached: the run cost $%.4f", l.Cost, *used.CostUSD)
	case l.Tokens > 0 && tokens == nil:
		return stop("the model does not tell how many tokens it uses, so agent.limits.totalTokens cannot hold")
	case l.Tokens > 0 && *tokens >= l.Tokens:
		return stop("the budget of %d tokens is reached: %d were used", l.Tokens, *tokens)
	}
	return protocol.Reply{}
}

func orZero[N int64 | float64](n *N) *N {
	if n == nil {
		n = new(N)
	}
	return n
}

// sum is not known where a part of it is not.
func sum[N int64 | float64](a, b *N) *N {
	if a == nil || b == nil {
		return nil
	}
	total := *a + *b
	return &total
}
