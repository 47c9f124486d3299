package builtin

import (
	"context"
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// Time ends a run with the stop reason time when d has passed since it began,
// in the middle of whatever goes on. Hooks that are waited for count, a person who is
// asked does not.
// A sub-agent has d of its own, and ends with its parent at the latest.
func Time(d time.Duration) provider.Provider {
	return provider.Provider{Name: "time", Hooks: []protocol.GoHook{{
		Name:        "time",
		Description: fmt.Sprintf("ends a run after %s", d),
		// The first event of every run, so that the hooks behind it count too.
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
