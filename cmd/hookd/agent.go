//go:build !lean

package main

import (
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/acpagent"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/acpcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/acpterminal"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/agentcmd"
	"github.com/hookd-dev/hookd/executor/mcpproxy"
	"github.com/hookd-dev/hookd/internal/argschema"
)

// The agent loop is all that a lean build leaves out. Models, MCP and the full-screen
// terminal double the time of each start, and other agents start hookd for every event.

// readSchema reads the schema of the args of an MCP server's tool.
func readSchema(written []byte) (mcpproxy.ArgSchema, error) {
	schema, err := argschema.Compile(argschema.WithoutForeignPatterns(written))
	if err != nil {
		return nil, err
	}
	return schema, nil
}

// agentCommands returns the commands of the agent loop.
func agentCommands(p *parts) []command {
	return []command{
		{"ask", "run", func() *cobra.Command { return agentcmd.Run(p.opener) }},
		{"ask", "sessions", func() *cobra.Command { return agentcmd.Sessions(p.opener) }},
	}
}

// acpAgent returns what serves the loop to editors.
func acpAgent(p *parts) acpcmd.Agent {
	return &acpagent.Command{Opener: p.opener, Version: versionName}
}

// shownCommand is hookd in a terminal of an editor, where it shows a command of hookd acp.
func shownCommand(args []string) (code int, is bool) { return acpterminal.Run(args) }

// What other commands know of the agent loop: its hooks, and what is wrong with the skills
// and recipes that it would read.
var (
	builtinHooks   = agentcmd.BuiltinHooks
	judgeResources = agentcmd.JudgeResources
)
