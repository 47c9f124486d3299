package servecmd

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
)

// Commands are hookd serve.
type Commands struct {
	Version   string
	Console   *cli.Console
	Project   *places.Project
	Opener    *engine.Opener
	Processes *engine.Processes
	Signals   *signals.Handler
}

// Serve returns hookd serve.
func (cmd *Commands) Serve() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve hooks to an agent: JSON-RPC 2.0, one message on each line",
		Long: `Serve hooks to agents in any language: JSON-RPC 2.0, one message a line, on stdin
and stdout. With --socket a Unix socket is served instead, to several clients at
once; --socket=PATH puts it elsewhere than in the user's runtime folder.

Nothing but the protocol goes to stdout. Errors are logged to stderr, and more with
HOOKD_LOG=debug, info or warn; HOOKD_LOG=off logs nothing.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return cmd.serve(c.Context(), path, c.Flags().Changed("socket"))
		},
	}
	cli.NameFlag(c.Flags(), &path, "socket", "", "listen on the Unix socket `PATH` instead of stdin and stdout")
	c.Flags().Lookup("socket").NoOptDefVal = defaultSocket
	return c
}

// defaultSocket stands for the path that clients look at.
const defaultSocket = "default"

func (cmd *Commands) serve(ctx context.Context, path string, onSocket bool) error {
	cwd, err := os.Getwd()
	if err != nil {
		return places.NoDirectory()
	}
	var stdio *rpc.Conn
	var listener net.Listener
	if onSocket {
		listener, err = cmd.listen(path)
	} else {
		stdio, err = daemon.Stdio(0)
	}
	if err != nil {
		return err
	}
	// After stdin and stdout were taken: nothing that is started inherits them.
	rt, err := cmd.Processes.Start(true)
	if err != nil {
		return err
	}
	projects := &projectOpener{console: cmd.Console, runtime: rt, pool: cmd.Processes.Pool(), stateDir: cmd.Opener.StateDirOrNote()}
	server := daemon.New(daemon.Options{
		Open:    projects.open,
		Resolve: projects.resolve,
		Project: cmd.Project.Folder,
		Cwd:     cwd,
		Version: cmd.Version,
		Log:     cmd.logHandler(),
	})
	projects.log = server.Logger()
	cmd.Signals.OnForceQuit(server.Abort)
	if listener != nil {
		cmd.Console.Err.Print("hookd: listening on %s\n", listener.Addr())
	}
	if err := server.Serve(ctx, stdio, listener); err != nil {
		return cli.Failed("serve", err, "")
	}
	return nil
}

func (cmd *Commands) listen(path string) (net.Listener, error) {
	if path == defaultSocket || path == "" {
		trust, err := cmd.Project.OpenTrust()
		if err != nil {
			return nil, err
		}
		state, err := places.StateDir()
		if err != nil {
			return nil, err
		}
		if path, err = socket.Path(trust.Project(), state); err != nil {
			return nil, cli.Failed("socket", err, "give --socket=PATH")
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, cli.Failed("socket", err, "")
	}
	listener, err := socket.Listen(path)
	if err != nil {
		return nil, cli.Failed("socket", err, "")
	}
	return listener, nil
}

// logHandler writes a log to stderr: of the level that HOOKD_LOG names, else of errors
// only, which somebody must see whose client has lost an answer.
func (cmd *Commands) logHandler() slog.Handler {
	level, name := slog.LevelError, os.Getenv("HOOKD_LOG")
	switch {
	case name == "":
	case strings.EqualFold(name, "off"):
		return slog.DiscardHandler
	case level.UnmarshalText([]byte(name)) != nil:
		level = slog.LevelError
		cmd.Console.Note(fmt.Sprintf("HOOKD_LOG is %q, which is no level; errors are logged", text.Shorten(name, 60)), "set it to debug, info, warn, error or off")
	}
	return slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})
}
