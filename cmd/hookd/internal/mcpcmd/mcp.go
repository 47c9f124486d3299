package mcpcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/guarded"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/mcpproxy"
	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// Commands are hookd mcp.
type Commands struct {
	Console *cli.Console
	Opener  *engine.Opener

	ReadSchema func(written []byte) (mcpproxy.ArgSchema, error) // see [mcpproxy.Options]
}

// MCP returns hookd mcp.
func (cmd *Commands) MCP() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "mcp [--name NAME] {-- SERVER [ARGS…] | --url URL}",
		Short: "Guard an MCP server: hooks judge each call of its tools, whatever calls them",
		Long: `Start an MCP server that speaks over its stdin and stdout, and stand between it
and the program that calls its tools. Write this command in that program's
settings in place of the server's own. With --url the server is one that is
reached by an address, over streamable HTTP or the older HTTP with SSE.

Hooks of the project in the working directory, of the user and of the machine
judge each call (tool-call-start), its result (tool-call-end) and its errors
(tool-call-error). The tools are named mcp__NAME__TOOL, as under every agent. All
else passes unchanged. What a person should know is on stderr, and hookd log shows
what was decided.`,
		Example: `  hookd mcp --name files -- npx -y @modelcontextprotocol/server-filesystem .
  hookd mcp --name docs --url https://example.org/mcp --header 'Authorization: Bearer ${DOCS_KEY}'`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.misused(c, args); err != nil {
				return guarded.Unstarted(c.Context(), cmd.Console, err)
			}
			o.argv, o.variables = args, takeServersVariables()
			return cmd.run(c.Context(), &o)
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return guarded.Unstarted(c.Context(), cmd.Console, c.Parent().FlagErrorFunc()(c, err))
	})
	c.Flags().SetInterspersed(false) // what follows the server's name is the server's
	cli.NameFlag(c.Flags(), &o.name, "name", "", "what the server is called in the names of its tools: `NAME` (default: found in the command)")
	c.Flags().StringArrayVar(&o.also, "also", nil, "have the hooks of the project that the folder `DIR` lies in judge, too")
	c.Flags().StringVar(&o.url, "url", "", "guard the server at the address `URL`; ${VARIABLE} is replaced")
	c.Flags().StringArrayVar(&o.headers, "header", nil, "send the header `'NAME: VALUE'` to it; ${VARIABLE} is replaced")
	return c
}

// options are what the command line says.
type options struct {
	name, url string
	headers   []string
	also      []string
	argv      []string
	variables []string // that only the server has
}

// misused returns what is wrong with the command line, nil for nothing.
func (o *options) misused(c *cobra.Command, args []string) error {
	switch byURL := c.Flags().Changed("url"); {
	case c.Flags().Changed("name") && strings.TrimSpace(o.name) == "":
		return cli.Usage("bad-name", "--name is empty", "write the name that the server has in your agent's settings")
	case byURL && len(args) > 0:
		return cli.Usage("two-servers", "--url names a server, and so does "+show.Line(args[0]), "write one of them")
	case !byURL && len(args) == 0:
		return cli.Usage("no-server", "no server is named", "write its command after --, or its address with --url")
	case !byURL && len(o.headers) > 0:
		return cli.Usage("bad-header", "--header is for a server that --url names", "leave it out")
	}
	return nil
}

// server is a server under guard.
type server interface {
	Process() *proxied.Process
	Flush()         // its stderr, once it has ended
	Failure() error // that it ended by itself as it should not
}

// start starts the server, or finds out how it is reached.
func (cmd *Commands) start(o *options, cwd string, note func(string)) (server, error) {
	if o.url != "" {
		return reach(o.url, o.headers, o.variables, note)
	}
	return guarded.Start(cmd.Opener, guarded.What{Code: "server", Name: "the MCP server", Env: o.variables}, o.argv, cwd)
}

// called is what the server is called in the names of its tools.
func (o *options) called() string {
	switch {
	case o.name != "":
		return o.name
	case o.url != "":
		return nameOfURL(o.url)
	}
	return nameOf(o.argv)
}

// folders are those whose projects' hooks judge, none: the working directory alone.
func (o *options) folders(cwd string) (all []string, err error) {
	if len(o.also) == 0 {
		return nil, nil
	}
	all = append(all, cwd)
	for _, folder := range o.also {
		if strings.TrimSpace(folder) == "" {
			return nil, cli.Usage("bad-also", "--also is empty", "write the folder of a project")
		}
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(cwd, folder)
		}
		all = append(all, folder)
	}
	return all, nil
}

func (cmd *Commands) run(ctx context.Context, o *options) error {
	server, guard, err := cmd.setUp(ctx, o)
	if err != nil {
		return guarded.Unstarted(ctx, cmd.Console, err)
	}
	err = mcpproxy.Run(ctx, guarded.Client(cmd.Opener), server.Process(), *guard)
	server.Flush()
	switch {
	case errors.Is(err, signals.ErrInterrupted):
		return err
	case err != nil:
		return cli.ErrOutput
	}
	return server.Failure()
}

// setUp opens the hooks and starts the server.
func (cmd *Commands) setUp(ctx context.Context, o *options) (server, *mcpproxy.Options, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, nil, places.NoDirectory()
	}
	folders, err := o.folders(cwd)
	if err != nil {
		return nil, nil, err
	}
	e, err := cmd.Opener.Open(ctx, engine.Options{LongLived: true, HooksOnly: true, Folders: folders})
	if err != nil {
		return nil, nil, err
	}
	t := &guarded.Teller{Console: cmd.Console, Engine: e}
	if other, remedy := engine.OtherHome(); other != "" {
		t.Note(other, remedy)
	}
	note := func(text string) { t.Note(text, "") }
	for i, folder := range folders {
		if info, err := os.Stat(folder); i > 0 && (err != nil || !info.IsDir()) {
			t.Note("--also "+o.also[i-1]+" names no folder that is there: the hooks of the folder that it would lie in judge", "write the folder of a project")
		}
	}
	server, err := cmd.start(o, cwd, note)
	if err != nil {
		return nil, nil, err
	}
	name := o.called()
	prefix := toolname.PrefixOf(name)
	t.Note("hooks judge the calls of this server's tools as "+prefix+"TOOL", "")
	if len(folders) == 0 && e.Project() == "" { // a host may start its servers anywhere
		t.Note("no project is here, in "+show.Line(cwd)+": only your own hooks and those of this machine judge them", "--project DIR names the project whose hooks are to judge, too")
	}
	return server, &mcpproxy.Options{
		Hooks: e, Server: name, Session: "mcp-" + strings.Trim(strings.TrimPrefix(prefix, "mcp__"), "_") + "-" + protocol.NewID(),
		Cwd: cwd, Depth: hookenv.ProcessDepth(), Tell: t.Outcome, Note: note, ReadSchema: cmd.ReadSchema,
	}, nil
}
