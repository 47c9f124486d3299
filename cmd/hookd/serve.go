package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
)

func newServe(a *app) *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "serve",
		Short: "serve hooks to an agent: JSON-RPC 2.0, one message a line",
		Long: `Serve hooks to agents in any language: JSON-RPC 2.0, one message a line, on stdin
and stdout. With --socket a Unix socket is served instead, to several clients at
once; --socket=PATH puts it elsewhere than in the user's runtime folder.

Nothing but the protocol goes to stdout; HOOKD_LOG=debug writes a log to stderr.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.serve(c.Context(), path, c.Flags().Changed("socket"))
		},
	}
	nameFlag(c, &path, "socket", "", "listen on the Unix socket `PATH` instead of stdin and stdout")
	c.Flags().Lookup("socket").NoOptDefVal = defaultSocket
	return c
}

// defaultSocket stands for the path that clients look at.
const defaultSocket = "default"

func (a *app) serve(ctx context.Context, path string, onSocket bool) error {
	cwd, err := os.Getwd()
	if err != nil {
		return noDirectory()
	}
	var stdio *rpc.Conn
	var listener net.Listener
	if onSocket {
		listener, err = a.listen(path)
	} else {
		stdio, err = daemon.Stdio(0)
	}
	if err != nil {
		return err
	}
	// After stdin and stdout were taken: nothing that is started inherits them.
	rt, err := a.runtime(true)
	if err != nil {
		return err
	}
	opener := &projectOpener{runtime: rt, pool: a.pool, stateDir: a.stateDirOrWarn(), tellCuts: a.tellCuts}
	server := daemon.New(daemon.Options{
		Open:    opener.open,
		Resolve: opener.resolve,
		Project: a.project,
		Cwd:     cwd,
		Version: versionName(),
		Log:     logHandler(),
	})
	opener.log = server.Logger()
	a.abort.Store(&hurry{server.Abort})
	if listener != nil {
		a.err.Print("hookd: listening on %s\n", listener.Addr())
	}
	// Whoever waits for a hook or a client in a system call takes a processor of Go's
	// with it for a while. With few of them an event would wait for that.
	runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0)))
	if err := server.Serve(ctx, stdio, listener); err != nil {
		return failed("serve", err, "")
	}
	return nil
}

func (a *app) listen(path string) (net.Listener, error) {
	if path == defaultSocket || path == "" {
		trust, err := a.openTrust()
		if err != nil {
			return nil, err
		}
		state, err := stateDir()
		if err != nil {
			return nil, err
		}
		if path, err = socket.Path(trust.Project(), state); err != nil {
			return nil, failed("socket", err, "give --socket=PATH")
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, failed("socket", err, "")
	}
	listener, err := socket.Listen(path)
	if err != nil {
		return nil, failed("socket", err, "")
	}
	return listener, nil
}

// logHandler writes a log to stderr where HOOKD_LOG asks for one.
func logHandler() slog.Handler {
	var level slog.Level
	name := os.Getenv("HOOKD_LOG")
	if name == "" || level.UnmarshalText([]byte(name)) != nil {
		return slog.DiscardHandler
	}
	return slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})
}
