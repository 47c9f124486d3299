//go:build lean

package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// agentCommands say where the commands are that this program lacks.
func agentCommands(a *app) []command {
	return []command{{"events", absent(a, "run")}, {"events", absent(a, "sessions")}}
}

func absent(a *app, name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true,
		Long: cli.NoAgent(name).Error() + ".",
		RunE: func(_ *cobra.Command, args []string) error {
			a.console.JSON = slices.Contains(args, "--json")
			return cli.NoAgent(name)
		},
	}
}

// The lean program has no built-in hooks, and reads neither skills nor recipes.
var (
	builtinHooks   func(*loader.Snapshot) ([]protocol.GoHook, error)
	judgeDocuments func(*loader.Snapshot)
)
