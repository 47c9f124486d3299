package builtin

import (
	"context"
	"fmt"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// BudgetLimits are what a run may use.
type BudgetLimits struct {
	Cost   float64 // USD; 0: no limit
	Tokens int64   // input and output tokens together; 0: no limit
}

// Budget ends a run with the stop reason budget before the model call that follows when
// a limit is reached; what was paid for is kept, and its tools run. A run uses what its
// model calls and those of its sub-agents use: a sub-agent ends when all of them together
// have reached the limit. Calls that are under way then go on to their end, so agents
// side by side may use up to one call each more.
//
// What is limited must be known: from the second call on, a run whose cost (or
// tokens) the model and the price table do not tell ends too, and says what is
// missing. The first call is made, since only its answer tells.
func Budget(limits BudgetLimits) provider.Provider {
	return provider.Provider{Name: "budget", Hooks: []protocol.GoHook{{
		Name:        "budget",
		Description: fmt.Sprintf("ends a run that uses more than %s", limits),
		Events:      []protocol.EventName{protocol.InferenceStart},
		Can:         protocol.CanBlock,
		Func: func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
			used := ev.Usage
			if tree, known := provider.TreeUsageOf(ctx); known {
				used = tree.Usage
			}
			attempt, err := attemptOf(ev.Data)
			if err != nil {
				return protocol.Reply{}, err
			}
			if ev.Agent.Parent == nil && (ev.Step == 0 || ev.Step == 1 && attempt > 1) { // unknown is nothing before the first answer
				used.CostUSD, used.InputTokens, used.OutputTokens = orZero(used.CostUSD), orZero(used.InputTokens), orZero(used.OutputTokens)
			}
			return limits.judge(&used), nil
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
