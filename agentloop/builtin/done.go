package builtin

import (
	"context"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// Done ends a run when the model asks for no more tools. The loop does that by itself,
// so the provider is empty: [GoOn] may take its place.
func Done() provider.Provider { return provider.Provider{Name: "done"} }

// GoOn has the model go on when it asks for no more tools: a run then ends at a
// limit, at a hook's stop, or when the cap of forced continuations is reached
// (hooks.maxForced).
func GoOn() provider.Provider {
	return provider.Provider{Name: "done", Hooks: []protocol.GoHook{{
		Name:        "go-on",
		Description: "has the agent go on when it is done",
		Events:      []protocol.EventName{protocol.AgentStop},
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{Action: protocol.Continue, Reason: "Go on with the task. Check what you have done, and do what is left."}, nil
		},
	}}}
}
