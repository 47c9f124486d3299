package servecmd

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/internal/program"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
	"github.com/hookd-dev/hookd/protocol/rpc/socket/meet"
)

// Commands are hookd serve.
type Commands struct {
	Version   func() string
	Console   *cli.Console
	Project   *places.Project
	Opener    *engine.Opener
	Processes *engine.Processes
	Signals   *signals.Handler
}

// Serve returns hookd serve.
func (cmd *Commands) Serve() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve hooks to an agent: JSON-RPC 2.0, one message on each line",
		Long: `Serve hooks to agents in any language: JSON-RPC 2.0, one message a line, on stdin
and stdout. With --socket a Unix socket is served instead, to several clients at
once; --socket=PATH puts it elsewhere than in the user's runtime folder.
With --idle the daemon ends when nobody has used it for so long, and when the
program file of hookd was replaced. --status and --stop are about the daemon
that listens on the socket.

Nothing but the protocol goes to stdout. Errors are logged to stderr, and more with
HOOKD_LOG=debug, info or warn; HOOKD_LOG=off logs nothing.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.onSocket = c.Flags().Changed("socket")
			return cmd.run(c.Context(), &o)
		},
	}
	cli.NameFlag(c.Flags(), &o.path, "socket", "", "listen on the Unix socket `PATH` instead of stdin and stdout")
	c.Flags().Lookup("socket").NoOptDefVal = defaultSocket
	c.Flags().DurationVar(&o.idle, "idle", 0, "with --socket: end when nobody was connected for this `TIME`")
	c.Flags().BoolVar(&o.status, "status", false, "say which daemon listens on the socket")
	c.Flags().BoolVar(&o.stop, "stop", false, "end the daemon that listens on the socket")
	cli.Exclusive(c, "status", "stop", "idle")
	return c
}

// options are the flags of hookd serve.
type options struct {
	path         string
	onSocket     bool
	idle         time.Duration
	status, stop bool
}

func (cmd *Commands) run(ctx context.Context, o *options) error {
	if !o.status && !o.stop {
		if o.idle < 0 || o.idle > 0 && !o.onSocket {
			return cli.Usage("usage", "--idle is the time after which a daemon on a socket ends", "hookd serve --socket --idle 10m")
		}
		return cmd.serve(ctx, o)
	}
	path, err := cmd.socketPath(o.path)
	if err != nil {
		return err
	}
	if o.stop {
		return cmd.end(ctx, path)
	}
	return cmd.status(ctx, path)
}

// defaultSocket stands for the path that clients look at.
const defaultSocket = "default"

func (cmd *Commands) serve(ctx context.Context, o *options) error {
	cwd, err := os.Getwd()
	if err != nil {
		return places.NoDirectory()
	}
	var stdio *rpc.Conn
	var listener net.Listener
	if o.onSocket {
		listener, err = cmd.listen(o.path)
	} else {
		stdio, err = daemon.Stdio(0)
	}
	if err != nil {
		return err
	}
	engine.CollectLess()
	// After stdin and stdout were taken: nothing that is started inherits them.
	rt, err := cmd.Processes.Start(true)
	if err != nil {
		return err
	}
	projects := &projectOpener{console: cmd.Console, runtime: rt, pool: cmd.Processes.Pool(), stateDir: cmd.Opener.StateDirOrNote(), callers: newCallers()}
	server := daemon.New(daemon.Options{
		Open:    projects.open,
		Resolve: projects.resolve, ResolveCaller: projects.resolveCaller,
		Verifying: projects.verifying,
		Project:   cmd.Project.Folder,
		Cwd:       cwd,
		Version:   cmd.Version(),
		Log:       cmd.logHandler(),
		Idle:      o.idle, EndUnused: o.idle, Outdated: outdated(o.idle),
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

// outdated returns what reports that the program file is another one than now: a daemon
// that ends by itself makes room for one of the new program. Others only end when somebody
// ends them.
func outdated(idle time.Duration) func() bool {
	self := places.Program()
	began, err := program.IdentityOf(self)
	if idle == 0 || err != nil {
		return nil
	}
	return func() bool {
		now, err := program.IdentityOf(self)
		return err != nil || now != began
	}
}

func (cmd *Commands) listen(path string) (net.Listener, error) {
	path, err := cmd.socketPath(path)
	if err != nil {
		return nil, err
	}
	listener, err := socket.Listen(path)
	if err != nil {
		return nil, cli.Failed("socket", err, "")
	}
	return listener, nil
}

// socketPath returns the absolute path of the socket that --socket names.
func (cmd *Commands) socketPath(path string) (string, error) {
	if path == defaultSocket || path == "" {
		trust, err := cmd.Project.OpenTrust()
		if err != nil {
			return "", err
		}
		state, err := places.StateDir()
		if err != nil {
			return "", err
		}
		if path, err = meet.Path(trust.Project(), state); err != nil {
			return "", cli.Failed("socket", err, "give --socket=PATH")
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", cli.Failed("socket", err, "")
	}
	return path, nil
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
