//go:build lean

package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/acpcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/executor/mcpproxy"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// agentCommands returns commands that say which program has them.
func agentCommands(p *parts) []command {
	return []command{{"ask", "run", absent(p, "run")}, {"ask", "sessions", absent(p, "sessions")}}
}

// acpAgent returns nothing that serves the loop to editors.
func acpAgent(*parts) acpcmd.Agent { return nil }

// shownCommand is nothing: no hookd acp starts the lean program to show its commands.
func shownCommand([]string) (code int, is bool) { return 0, false }

func absent(p *parts, name string) func() *cobra.Command {
	return func() *cobra.Command {
		return &cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			Long: cli.NoAgent(name).Error() + ".",
			RunE: func(_ *cobra.Command, args []string) error {
				p.console.JSON = slices.Contains(args, "--json")
				return cli.NoAgent(name)
			},
		}
	}
}

// The lean program has no built-in hooks, and reads neither skills nor recipes.
var (
	builtinHooks   func(*loader.Snapshot) ([]protocol.GoHook, error)
	judgeResources func(*loader.Snapshot)
	readSchema     func(written []byte) (mcpproxy.ArgSchema, error) // its library is large
)
