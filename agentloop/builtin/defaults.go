package builtin

import (
	"context"
	"time"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// The limits of [Defaults]; the settings have the same defaults.
const (
	defaultSteps   = 20
	defaultTokens  = 32_768 // output tokens
	defaultTime    = 300 * time.Second
	defaultRetries = 3
)

// Defaults returns the providers that a loop has unless it is told otherwise: steps,
// tokens, time and retries limit a run, and done ends it when the model asks for no more
// tools. Their names are steps, tokens, time, retries and done.
func Defaults() []provider.Provider {
	return []provider.Provider{
		Steps(defaultSteps), Tokens(defaultTokens), Time(defaultTime), Retries(defaultRetries), Done(),
	}
}

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
