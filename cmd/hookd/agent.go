//go:build !lean

package main

import (
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// This file and lean.go are the only two that differ in the lean program. Models, MCP and
// the terminal double what each start costs, and other agents start hookd for every event.

func agentCommands(a *app) []command {
	return []command{{"events", newRun(a)}, {"events", newSessions(a)}}
}

// builtinHooks are the hooks of the features that a run would have with the
// settings as they stand.
func builtinHooks(s *loader.Snapshot) ([]protocol.GoHook, error) {
	features, err := providers(&featureInput{Settings: &s.Set.Settings, root: s.Set.Project, skills: skillFiles(s)})
	if err != nil {
		return nil, err
	}
	var hooks []protocol.GoHook
	for _, f := range features {
		hooks = append(hooks, f.Hooks...)
	}
	return hooks, nil
}
