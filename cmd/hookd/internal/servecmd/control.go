package servecmd

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
	"github.com/hookd-dev/hookd/protocol/rpc/socket/meet"
)

// endLimit is more than a daemon takes to end: its events, observers and engines.
const endLimit = 30 * time.Second

// status says which daemon listens on a socket.
func (cmd *Commands) status(ctx context.Context, path string) error {
	c, peer, err := cmd.find(ctx, path)
	if err != nil {
		return err
	}
	defer c.Close()
	note := ""
	if self := places.Program(); self != "" && peer.CheckExecutable(self) != nil {
		note = " (not of this program)"
	}
	cmd.Console.Out.Print("a daemon%s listens on %s, process %d\n", note, path, peer.PID)
	return nil
}

// end ends the daemon that listens on a socket, and waits for that.
func (cmd *Commands) end(ctx context.Context, path string) error {
	c, peer, err := cmd.find(ctx, path)
	if err != nil {
		return err
	}
	defer c.Close()
	if peer.PID <= 0 {
		return cli.Failed("socket", errors.New("this system does not tell which process listens on "+path), "end it by hand")
	}
	process, err := os.FindProcess(peer.PID)
	if err == nil {
		err = process.Signal(syscall.SIGTERM)
	}
	if err != nil {
		return cli.Failed("socket", err, "")
	}
	_ = c.SetReadDeadline(time.Now().Add(endLimit))
	defer context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Now()) })()
	// It closes its connections last, in good order or not.
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		return cli.Failed("socket", errors.New("the daemon was told to end and is still there"), "")
	}
	cmd.Console.Out.Print("the daemon on %s has ended, process %d\n", path, peer.PID)
	return nil
}

// find connects to the daemon on a socket.
func (cmd *Commands) find(ctx context.Context, path string) (*net.UnixConn, meet.Peer, error) {
	c, err := socket.Dial(ctx, path, "")
	if err != nil {
		return nil, meet.Peer{}, cli.Failed("no-daemon", errors.New("no daemon listens on "+path), "")
	}
	peer, err := socket.PeerOf(c)
	if err != nil {
		c.Close()
		return nil, peer, cli.Failed("socket", err, "")
	}
	return c, peer, nil
}
