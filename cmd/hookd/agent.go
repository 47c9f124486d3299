//go:build !lean

package main

import (
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// This file and lean.go are the only two that differ in the lean program: the
// files of the agent loop itself carry the same tag. Linking models, MCP and the
// terminal doubles what each start costs, and other agents start hookd for every
// event.

var agentCommands = []command{{"run", "events", newRun}, {"sessions", "events", newSessions}}

// needAgent is an error in the program without the agent loop.
func needAgent(string) error { return nil }

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
