package main

import (
	"slices"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/schema"
)

// providers are the loop's own features as the settings have them: those that
// agent.providers does not switch off.
func providers(settings *schema.Settings) []provider.Provider {
	limits := settings.Agent.Limits
	list := []provider.Provider{
		builtin.Steps(limits.Steps),
		builtin.Time(limits.Time),
		builtin.Retries(limits.Retries),
	}
	if limits.Tokens > 0 {
		list = append(list, builtin.Tokens(limits.Tokens))
	}
	off := settings.Agent.ProvidersOff
	list = slices.DeleteFunc(list, func(p provider.Provider) bool { return slices.Contains(off, p.Name) })
	if slices.Contains(off, "done") {
		return append(list, builtin.GoOn())
	}
	return append(list, builtin.Done())
}
