package mcpcmd

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/guarded"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/mcpproxy"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// Commands are hookd mcp.
type Commands struct {
	Console *cli.Console
	Opener  *engine.Opener
}

// MCP returns hookd mcp.
func (cmd *Commands) MCP() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "mcp [--name NAME] -- SERVER [ARGS…]",
		Short: "Guard an MCP server: hooks judge each call of its tools, whatever calls them",
		Long: `Start an MCP server that speaks over its stdin and stdout, and stand between it
and the program that calls its tools. Write this command in that program's
settings in place of the server's own.

Hooks of the project in the working directory, of the user and of the machine
judge each call (tool-call-start), its result (tool-call-end) and its errors
(tool-call-error). The tools are named mcp__NAME__TOOL, as under every agent. All
else passes unchanged. What a person should know is on stderr.`,
		Example: "  hookd mcp --name files -- npx -y @modelcontextprotocol/server-filesystem .",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("name") && strings.TrimSpace(name) == "" {
				return cli.Usage("bad-name", "--name is empty", "write the name that the server has in your agent's settings")
			}
			if name == "" {
				name = nameOf(args)
			}
			return cmd.run(c.Context(), name, args)
		},
	}
	c.Flags().SetInterspersed(false) // what follows the server's name is the server's
	cli.NameFlag(c.Flags(), &name, "name", "", "what the server is called in the names of its tools: `NAME` (default: found in the command)")
	return c
}

func (cmd *Commands) run(ctx context.Context, name string, argv []string) error {
	cwd, err := os.Getwd()
	if err != nil {
		return places.NoDirectory()
	}
	e, err := cmd.Opener.Open(ctx, engine.Options{LongLived: true, HooksOnly: true})
	if err != nil {
		return err
	}
	server, err := guarded.Start(cmd.Opener, guarded.What{Code: "server", Name: "the MCP server"}, argv, cwd)
	if err != nil {
		return err
	}
	prefix := toolname.PrefixOf(name)
	t := &guarded.Teller{Console: cmd.Console, Engine: e}
	t.Note("hooks judge the calls of this server's tools as "+prefix+"TOOL", "")
	err = mcpproxy.Run(ctx, guarded.Client(cmd.Opener), server.Process(), mcpproxy.Options{
		Hooks: e, Server: name, Session: "mcp-" + strings.Trim(strings.TrimPrefix(prefix, "mcp__"), "_") + "-" + protocol.NewID(),
		Cwd: cwd, Depth: hookenv.ProcessDepth(), Tell: t.Outcome, Note: func(text string) { t.Note(text, "") },
	})
	server.Flush()
	switch {
	case errors.Is(err, signals.ErrInterrupted):
		return err
	case err != nil:
		return cli.ErrOutput
	}
	return server.Failure()
}
