package builtin

import (
	"time"

	"github.com/hookd-dev/hookd/agentloop/provider"
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
