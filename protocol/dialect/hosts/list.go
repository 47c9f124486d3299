package hosts

import (
	"slices"

	"github.com/hookd-dev/hookd/protocol/dialect"
)

// All are the agents that hookd can be called by, by name.
var All = []*dialect.Agent{
	claude, cline, codex, copilot, crush, cursor, factory, gemini, goose, hermes, kiro, opencode, openhands, pi, qwen, windsurf,
}

// Find returns the agent of a name, nil if there is none.
func Find(name string) *dialect.Agent {
	i := slices.IndexFunc(All, func(a *dialect.Agent) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return All[i]
}
