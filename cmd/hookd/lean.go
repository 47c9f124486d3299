//go:build lean

package main

import (
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// agentCommands say where the commands are that this program lacks.
func agentCommands(*app) []*cobra.Command {
	var absent []*cobra.Command
	for _, name := range []string{"run", "sessions"} {
		absent = append(absent, &cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true, GroupID: "events",
			RunE: func(*cobra.Command, []string) error {
				return usage("no-agent", "this is hookd without the agent loop, it has no command "+name, "use the whole hookd: hookd "+name)
			},
		})
	}
	return absent
}

// builtinHooks are those of the agent loop.
func builtinHooks(*loader.Snapshot) ([]protocol.GoHook, error) { return nil, nil }
