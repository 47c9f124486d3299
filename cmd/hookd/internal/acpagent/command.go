package acpagent

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
)

// Command is hookd acp without the command of an agent.
type Command struct {
	Opener    *engine.Opener
	Version   func() string
	flags     conversation.Flags
	terminals bool
}

// Flags adds the flags of the loop.
func (c *Command) Flags(flags *pflag.FlagSet) {
	cli.NameFlag(flags, &c.flags.Model.Name, "model", "", "model `M` of hookd's own loop: anthropic:NAME, openai:NAME, scripted:FILE (default: the settings agent.provider and agent.model)")
	flags.StringVar(&c.flags.System, "system", conversation.System, "system text `TEXT` of hookd's own loop")
	flags.Var(&c.flags.Allow, "allow", "let `TOOLS` of hookd's own loop run without asking: bash,write. Hooks still decide")
	flags.BoolVar(&c.terminals, "terminal", true, "show the commands of hookd's own loop in terminals of the editor, if it offers them")
}

// Serve serves the loop on stdin and stdout until the client closes its side.
func (c *Command) Serve(ctx context.Context) error {
	console := c.Opener.Console
	if terminal.IsTerminal(console.In) {
		console.Note("an editor speaks with this command on its stdin and stdout; nothing is to be typed here", "docs/acp.md says how to set it up; hookd run is a conversation in a terminal")
	}
	note, remedy := engine.OtherHome()
	if note != "" {
		console.Note(note, remedy)
	}
	return Serve(ctx, Options{Opener: c.Opener, Flags: c.flags, Terminals: c.terminals, Version: c.Version(), Note: note, In: console.In, Out: console.Out.W})
}
