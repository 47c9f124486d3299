package builtin

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// Steps ends a run with the stop reason steps before its step n+1. A step is one
// model call, whatever tries it takes, with the tool calls it asks for. n below 1
// lets no step begin.
//
// A sub-agent has n steps of its own. All sub-agents that are at work in one step of
// the prompt's agent, at any depth, have n together as well: ten side by side do not
// take ten times as many.
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

// Time ends a run with the stop reason time when d has passed since it began, and aborts
// what is under way. The time of hooks counts, that of a person who is asked does not.
// A sub-agent has d of its own, and ends with its parent at the latest.
func Time(d time.Duration) provider.Provider {
	return provider.Provider{Name: "time", Hooks: []protocol.GoHook{{
		Name:        "time",
		Description: fmt.Sprintf("ends a run after %s", d),
		// The first event of every run, so that the time of later hooks counts.
		Events:    []protocol.EventName{protocol.PromptSubmit},
		OnFailure: protocol.RuleBlock,
		Func: func(ctx context.Context, _ *protocol.Event) (protocol.Reply, error) {
			if run := provider.RunContextOf(ctx); run != nil {
				run.EndAfter(d, "time")
			}
			return protocol.Reply{}, nil
		},
	}}}
}

// Retries has a model call that failed tried n times more: n+1 tries in all, counted
// for each call. The run then ends with the model's error. The loop decides which
// failures are worth another try, and how long it waits.
func Retries(n int) provider.Provider {
	return provider.Provider{Name: "retries", Hooks: []protocol.GoHook{{
		Name:        "retries",
		Description: fmt.Sprintf("tries a failed model call %d times more", n),
		Events:      []protocol.EventName{protocol.InferenceStart},
		OnFailure:   protocol.RuleBlock,
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			attempt, err := attemptOf(ev.Data)
			if err != nil || attempt <= n+1 {
				return protocol.Reply{}, err
			}
			return protocol.Reply{Action: protocol.Block, Reason: fmt.Sprintf("the model call failed %d times", attempt-1)}, nil
		},
	}}}
}

// lastAttempt matches the end of the data of inference-start if attempt is its last
// member, as the loop writes it. The brace after the number closes the data, so
// nothing else can look like that.
var lastAttempt = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[,{]"attempt":([0-9]{1,9})\}$`) })

// attemptOf returns which try of a model call begins. The data of the event holds the
// whole conversation, so only its end is read if that suffices.
func attemptOf(data []byte) (int, error) {
	const longest = len(`,"attempt":123456789}`)
	if found := lastAttempt().FindSubmatch(data[max(0, len(data)-longest):]); found != nil {
		return strconv.Atoi(string(found[1]))
	}
	var whole struct {
		Attempt int `json:"attempt"`
	}
	err := json.Unmarshal(data, &whole)
	return whole.Attempt, err
}
