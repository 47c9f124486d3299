package imports

import (
	"slices"
	"strings"
)

// Agents are all agents whose hooks can be imported, by name.
var Agents = []*Agent{&claude, &codex, &copilot, &cursor, &gemini, &kodelet, &openhands}

// Find returns the agent of a name, nil if there is none.
func Find(name string) *Agent {
	i := slices.IndexFunc(Agents, func(a *Agent) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return Agents[i]
}

// Owner returns the agent that a name was given for, "" for the name of another hook.
func Owner(name string) string {
	agent, _, is := strings.Cut(name, ":")
	if !is || Find(agent) == nil {
		return ""
	}
	return agent
}
