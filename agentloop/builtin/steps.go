package builtin

import (
	"context"
	"fmt"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// Steps ends a run with the stop reason steps before its step n+1. A step is one
// model call, whatever tries it takes, with the tool calls it asks for. n below 1
// lets no step begin.
//
// A sub-agent's steps are its own run's. Those of all sub-agents that are at work
// in one step of the prompt's agent, at whatever depth, are n together as well:
// ten side by side do not take ten times as many.
func Steps(n int) provider.Provider {
	return provider.Provider{Name: "steps", Hooks: []protocol.GoHook{{
		Name:        "steps",
		Description: fmt.Sprintf("ends a run after %d steps", n),
		Events:      []protocol.EventName{protocol.AgentStart, protocol.StepStart},
		OnFailure:   protocol.RuleBlock,
		Func: func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
			switch {
			case ev.Event == protocol.AgentStart:
				if run := provider.RunContextOf(ctx); run != nil {
					run.LimitSteps(n)
				}
			case ev.Step >= n:
				return stop("the step limit of %d is reached", n), nil
			}
			if tree, known := provider.TreeUsageOf(ctx); known && tree.Steps > n {
				return stop("the step limit of %d is reached by the sub-agents together", n), nil
			}
			return protocol.Reply{}, nil
		},
	}}}
}

func stop(format string, args ...any) protocol.Reply {
	return protocol.Reply{Action: protocol.Stop, Reason: fmt.Sprintf(format, args...)}
}
