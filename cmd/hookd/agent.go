//go:build !lean

package main

import "github.com/hookd-dev/hookd/cmd/hookd/internal/agentcmd"

// The agent loop is all that a lean build leaves out. Models, MCP and the full-screen
// terminal double the time of each start, and other agents start hookd for every event.

// agentCommands returns the commands of the agent loop.
func agentCommands(p *parts) (list []command) {
	for _, c := range agentcmd.New(p.opener) {
		list = append(list, command{"ask", c})
	}
	return list
}

// What other commands know of the agent loop: its hooks, and what is wrong with the skills
// and recipes that it would read.
var (
	builtinHooks   = agentcmd.BuiltinHooks
	judgeResources = agentcmd.JudgeResources
)
