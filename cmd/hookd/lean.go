//go:build lean

package main

import (
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// agentCommands say where the commands are that this program lacks.
var agentCommands = []command{{"run", "events", absent("run")}, {"sessions", "events", absent("sessions")}}

func absent(name string) func(*app) *cobra.Command {
	return func(*app) *cobra.Command {
		return &cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error {
				return usage("no-agent", "this is hookd without the agent loop, it has no command "+name, "use the whole hookd: hookd "+name)
			},
		}
	}
}

// builtinHooks are those of the agent loop.
func builtinHooks(*loader.Snapshot) ([]protocol.GoHook, error) { return nil, nil }
