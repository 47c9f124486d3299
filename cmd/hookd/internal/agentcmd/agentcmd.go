package agentcmd

import (
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/sessionscmd"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// Run returns hookd run.
func Run(opener *engine.Opener) *cobra.Command { return (&command{opener, opener.Console}).new() }

// Sessions returns hookd sessions.
func Sessions(opener *engine.Opener) *cobra.Command {
	return (&sessionscmd.Commands{Console: opener.Console, Project: opener.Project}).Sessions()
}

// BuiltinHooks returns the hooks of the features that a run would have with the settings
// as they stand.
func BuiltinHooks(s *loader.Snapshot) ([]protocol.GoHook, error) { return conversation.BuiltinHooks(s) }

// JudgeResources finds what is wrong with skills and recipes, and adds it to the snapshot.
func JudgeResources(s *loader.Snapshot) { conversation.JudgeResources(s) }
