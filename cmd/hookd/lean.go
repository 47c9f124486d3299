//go:build lean

package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// agentCommands say where the commands are that this program lacks.
var agentCommands = []command{{"run", "events", absent("run")}, {"sessions", "events", absent("sessions")}}

func absent(name string) func(*app) *cobra.Command {
	return func(a *app) *cobra.Command {
		return &cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			Long: needAgent(name).Error() + ".",
			RunE: func(_ *cobra.Command, args []string) error {
				a.json = slices.Contains(args, "--json")
				return needAgent(name)
			},
		}
	}
}

// needAgent is the error of what only the whole hookd can do.
func needAgent(command string) error {
	return usage("no-agent", "this is hookd without the agent loop, it has no command "+command, "use the whole hookd: hookd "+command)
}

// builtinHooks are those of the agent loop.
func builtinHooks(*loader.Snapshot) ([]protocol.GoHook, error) { return nil, nil }

// judgeDocuments does nothing: this program reads neither skills nor recipes.
func judgeDocuments(*loader.Snapshot) {}
