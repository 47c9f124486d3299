package builtin

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Tokens ends a run with the stop reason tokens before the step that follows n output
// tokens: those of the run's model calls and of its sub-agents, as they are used. A
// sub-agent ends when all of them together have used as many. The answer that reaches
// the limit is kept and its tools run.
//
// If a model does not report its usage, the run's answers are estimated from then on: one
// token for 4 bytes of text, reasoning and tool arguments. The person is told so once,
// when half of the limit is used. What a sub-agent wrote is not in that estimate; its own
// run is limited in the same way.
func Tokens(n int64) provider.Provider {
	return provider.Provider{Name: "tokens", Hooks: []protocol.GoHook{{
		Name:        "tokens",
		Description: fmt.Sprintf("ends a run after %d output tokens", n),
		Events:      []protocol.EventName{protocol.StepStart},
		OnFailure:   protocol.RuleBlock,
		Func: func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
			used := ev.Usage.OutputTokens
			if tree, known := provider.TreeUsageOf(ctx); known && tree.Usage.OutputTokens != nil {
				used = tree.Usage.OutputTokens
			}
			if used != nil {
				if *used >= n {
					return stop("the limit of %d output tokens is reached: %d were used", n, *used), nil
				}
				return protocol.Reply{}, nil
			}
			if ev.Step == 0 {
				return protocol.Reply{}, nil // nothing was used yet
			}
			return estimate(ev, n)
		},
	}}}
}

// outputBytes is what the estimate remembers of each agent, as the hook's state.
type outputBytes struct {
	Step int   `json:"step"` // at which it was last looked at
	All  int64 `json:"all"`  // bytes of answers in this run
	Told bool  `json:"told,omitzero"`
}

func estimate(ev *protocol.Event, n int64) (reply protocol.Reply, err error) {
	var data protocol.StepStartData
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return reply, err
	}
	agents := map[string]outputBytes{}
	if len(ev.State) > 0 && jsonspan.Kind(ev.State) == '{' {
		if err := json.Unmarshal(ev.State, &agents); err != nil {
			return reply, err
		}
	}
	steps := 1 // whose answers are not counted yet
	w, known := agents[ev.Agent.ID]
	if !known || w.Step >= ev.Step { // the first time in this run
		w, steps = outputBytes{}, ev.Step
	}
	w.Step, w.All = ev.Step, w.All+answerBytes(data.Messages, steps)
	if w.All/4 >= n/2 && !w.Told {
		w.Told = true
		reply.Notice = "it is not known how many tokens this run uses: a model call did not tell; the limit goes by an estimate of one for each 4 bytes that the model writes"
	}
	if ev.Agent.Parent == nil {
		agents = map[string]outputBytes{} // no sub-agent is at work between two steps
	}
	agents[ev.Agent.ID] = w
	if reply.State, err = json.Marshal(agents, json.Deterministic(true)); err != nil {
		return reply, err
	}
	if tokens := w.All / 4; tokens >= n {
		reply.Action = protocol.Stop
		reply.Reason = fmt.Sprintf("the limit of %d output tokens is reached: about %d were used", n, tokens)
	}
	return reply, nil
}

// answerBytes returns the size of the answers of the last steps. They are counted as they
// come, since a compaction takes them out of the conversation.
func answerBytes(messages []protocol.Message, steps int) (size int64) {
	for _, m := range slices.Backward(messages) {
		if m.Role != protocol.RoleAssistant || steps == 0 {
			continue
		}
		steps--
		for _, p := range m.Content {
			size += int64(len(p.Text) + len(p.Name) + len(p.Args))
		}
	}
	return size
}
