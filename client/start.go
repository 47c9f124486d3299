package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
)

// AnyExecutable as [Options.Executable] lets [Dial] talk to any program of our
// own user.
const AnyExecutable = "*"

// How long Close waits at each step of the shutdown. The daemon's own end is
// bounded by 10 s, so the first is hardly ever reached.
const (
	shutdownTime = 15 * time.Second
	closeTime    = 3 * time.Second
	killTime     = 2 * time.Second
)

// Start starts a daemon of our own and connects to its stdin and stdout. The
// command is by default hookd serve; another must speak the same protocol. The
// daemon lives until [Client.Close], or until this process ends; ctx bounds
// only the start.
func Start(ctx context.Context, opt Options, command ...string) (*Client, error) {
	if len(command) == 0 {
		command = []string{"hookd", "serve"}
	}
	c, err := start(ctx, opt, command)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	return c, nil
}

func start(ctx context.Context, opt Options, command []string) (*Client, error) {
	in, toDaemon, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	fromDaemon, out, err := os.Pipe()
	if err != nil {
		toDaemon.Close()
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = opt.Dir, opt.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, opt.Stderr
	if opt.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	ownGroup(cmd)
	// A stderr that is no file is copied, and a hook may have inherited its end.
	cmd.WaitDelay = killTime
	if err := cmd.Start(); err != nil {
		toDaemon.Close()
		fromDaemon.Close()
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	c, err := newClient(ctx, rpc.NewConn(fromDaemon, toDaemon, limitOf(opt)), opt)
	c.end = func() error { return c.shutDown(cmd.Process, toDaemon, ended, err == nil) }
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func limitOf(opt Options) int64 {
	if opt.Limit > 0 {
		return opt.Limit
	}
	return defaultLimit
}

// shutDown ends a daemon: it asks for shutdown, then closes stdin, then sends TERM, then
// KILL. A daemon that has not answered the first request is not asked.
func (c *Client) shutDown(daemon *os.Process, stdin *os.File, ended <-chan error, known bool) error {
	if known {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		_ = c.conn.call(ctx, "shutdown", struct{}{}, nil) // it may be gone already
	}
	_ = stdin.Close()
	for _, step := range []struct {
		before func()
		wait   time.Duration
	}{
		{func() {}, closeTime},
		{func() { terminate(daemon) }, closeTime},
		{func() { _ = daemon.Kill() }, killTime},
	} {
		step.before()
		select {
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("the daemon ended badly: %w", err)
			}
			return nil
		case <-time.After(step.wait):
		}
	}
	return fmt.Errorf("the daemon (process %d) cannot be ended", daemon.Pid)
}

// Dial connects to a daemon that listens on a Unix socket, an absolute path. It
// checks before anything is sent that the other end runs as our user and from
// the program file that opt.Executable names. Where that fails, work without
// the daemon, or start one.
func Dial(ctx context.Context, path string, opt Options) (*Client, error) {
	executable, err := daemonFile(opt.Executable)
	if err != nil {
		return nil, err
	}
	peer, err := socket.Dial(ctx, path, executable)
	if err != nil {
		return nil, err
	}
	c, err := newClient(ctx, rpc.NewConn(peer, peer, limitOf(opt)), opt)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// daemonFile is the file that a daemon's program is compared with; "" for none.
func daemonFile(named string) (string, error) {
	switch named {
	case AnyExecutable:
		return "", nil
	case "":
		found, err := exec.LookPath("hookd")
		if err != nil {
			return "", fmt.Errorf("which program the daemon must be: %w; set Options.Executable", err)
		}
		return filepath.Abs(found)
	}
	return named, nil
}
