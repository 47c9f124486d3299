package builtin

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// Retries lets a model call that failed be tried n times more: n+1 tries in
// all, counted for each call anew. The run then ends with the model's error.
// Which failures are worth another try, and how long it waits, is the loop's
// matter.
func Retries(n int) provider.Provider {
	return provider.Provider{Name: "retries", Hooks: []protocol.GoHook{{
		Name:        "retries",
		Description: fmt.Sprintf("tries a failed model call %d times more", n),
		Events:      []protocol.EventName{protocol.InferenceStart},
		OnFailure:   protocol.RuleBlock,
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			var data struct {
				Attempt int `json:"attempt"`
			}
			if err := json.Unmarshal(ev.Data, &data); err != nil {
				return protocol.Reply{}, err
			}
			if data.Attempt <= n+1 {
				return protocol.Reply{}, nil
			}
			return protocol.Reply{Action: protocol.Block, Reason: fmt.Sprintf("the model call failed %d times", data.Attempt-1)}, nil
		},
	}}}
}
