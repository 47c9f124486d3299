// Package builtin holds the features of the agent loop that come with it. Each
// is a [provider.Provider] in a file of its own: hooks, and tools that go with
// them. They answer events with the words that any hook uses, and are asked
// first: their layer is builtin.
package builtin

import (
	"time"

	"github.com/hookd-dev/hookd/agentloop/provider"
)

// What [Defaults] limits a run to; the settings have the same defaults.
const (
	DefaultSteps   = 20
	DefaultTokens  = 32_768 // output tokens
	DefaultTime    = 300 * time.Second
	DefaultRetries = 3
)

// Defaults are the providers of a loop that is given none: limits of steps,
// output tokens, time and retries, and the end when the model asks for no tool.
func Defaults() []provider.Provider {
	return []provider.Provider{
		Steps(DefaultSteps), Tokens(DefaultTokens), Time(DefaultTime), Retries(DefaultRetries), Done(),
	}
}
