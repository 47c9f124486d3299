package acpcmd

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/guarded"
)

// Agent serves hookd's own loop to a client of the protocol.
type Agent interface {
	Flags(flags *pflag.FlagSet) // adds the flags of the loop
	Serve(ctx context.Context) error
}

// Commands are hookd acp.
type Commands struct {
	Console *cli.Console
	Opener  *engine.Opener
	Agent   Agent // nil: this build has no loop
}

// ACP returns hookd acp.
func (cmd *Commands) ACP() *cobra.Command {
	var mode string
	var chained bool
	c := &cobra.Command{
		RunE: func(c *cobra.Command, args []string) error {
			switch err := cmd.misused(c, chained, args); {
			case err != nil:
				return guarded.Unstarted(c.Context(), cmd.Console, err)
			case chained:
				return cmd.join(c.Context(), mode)
			case len(args) > 0:
				return cmd.guard(c.Context(), mode, args)
			}
			return cmd.Agent.Serve(c.Context())
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return guarded.Unstarted(c.Context(), cmd.Console, c.Parent().FlagErrorFunc()(c, err))
	})
	c.Flags().SetInterspersed(false) // what follows the agent's name is the agent's
	cli.NameFlag(c.Flags(), &mode, "mode", "", "keep the agent's sessions in its session mode `ID`")
	c.Flags().BoolVar(&chained, "chain", false, "guard the successor in a proxy chain, whose conductor starts hookd")
	if c.Use, c.Short, c.Long, c.Example = guardUse, guardShort, guardLong, guardExample; cmd.Agent != nil {
		c.Use, c.Short = "acp [flags] [-- AGENT [ARGS…]]", loopShort
		c.Long, c.Example = loopLong+guardLong, loopExample+guardExample
		cmd.Agent.Flags(c.Flags())
	}
	return c
}

// What the help says of hookd's own loop, where this build has it, stands before what it says of the
// guard.
const (
	loopShort = "Be the agent of an editor (ACP), or guard another agent that it runs"
	loopLong  = `Be an agent that speaks the Agent Client Protocol over stdin and stdout, for an
editor to start: its conversations are hookd's own loop, with your settings, hooks,
tools and sessions, as in hookd run. The flags --model, --allow, --system and
--terminal are for it; --mode and --chain are not.

With the command of another agent after --, guard that one instead:

`
	loopExample = "  hookd acp\n  hookd acp --model anthropic:NAME\n"

	guardUse   = "acp [--mode ID] -- AGENT [ARGS…]"
	guardShort = "Guard an agent that an editor runs (ACP): hooks judge what it is asked and does"
	guardLong  = `Start an agent that speaks the Agent Client Protocol over its stdin and stdout,
and stand between it and the editor. Write this command in the editor's settings
in place of the agent's own.

Hooks of the project of each session, of the user and of the machine judge
prompts, permission requests, and what the agent asks the editor to read, write
and run. They see tool calls, the ends of turns and sessions, and can have a turn
go on. MCP servers that the editor hands to the agent are guarded, too. What an
agent does without asking a proxy cannot stop: --mode keeps it in a mode in which
it asks. What a person should know is in the session and on stderr, and hookd log
shows what was decided.

With --chain a conductor of a proxy chain starts this command as one of its
proxies: the agent, or the next proxy, is reached through the conductor.`
	guardExample = "  hookd acp --mode default -- gemini --acp\n  hookd acp --chain"
)

// misused returns what is wrong with the arguments, nil for nothing.
func (cmd *Commands) misused(c *cobra.Command, chained bool, args []string) error {
	switch other := flagOfLoop(c.Flags()); {
	case chained && len(args) > 0:
		return cli.Usage("usage", "--chain is for a member of a proxy chain, whose conductor starts the agent, and the command names an agent", "hookd acp --chain, or hookd acp -- AGENT")
	case chained && other != "":
		return cli.Usage("usage", "--"+other+" is for hookd's own loop, and this command guards another agent", "leave it out: the conductor starts the agent")
	case len(args) > 0 && other != "":
		return cli.Usage("usage", "--"+other+" is for hookd's own loop, and this command guards another agent", "write the agent's own flags after its name")
	case chained || len(args) > 0:
		return nil
	case c.Flags().Changed("mode"):
		return cli.Usage("usage", "--mode is for an agent that hookd guards, and the command names none", "hookd acp --mode ID -- AGENT")
	case c.ArgsLenAtDash() >= 0:
		return cli.Usage("usage", "no agent is named after --", "write its command there, or leave -- out: hookd acp is an agent itself")
	case cmd.Agent == nil:
		return cli.NoAgent("acp without an agent's command")
	}
	return nil
}

// flagOfLoop returns a flag of the loop that was given, "" if none was.
func flagOfLoop(flags *pflag.FlagSet) (name string) {
	flags.Visit(func(f *pflag.Flag) {
		if f.Name != "mode" && f.Name != "project" && f.Name != "chain" {
			name = f.Name
		}
	})
	return name
}
