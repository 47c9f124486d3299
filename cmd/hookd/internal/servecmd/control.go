package servecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	if err == nil && !speaksAsHookd(c, peer) {
		err = fmt.Errorf("what listens on %s is no hookd, or does not answer: process %d", path, peer.PID)
	}
	if err != nil {
		c.Close()
		return nil, peer, cli.Failed("socket", err, "")
	}
	return c, peer, nil
}

// askedWithin is how long a program that may not be hookd has to answer as it does.
const askedWithin = 2 * time.Second

// speaksAsHookd reports whether the other end is a hookd, of any version. One that hangs is
// known by its program file; where the system does not show that, it has to answer.
func speaksAsHookd(c *net.UnixConn, peer meet.Peer) bool {
	if self := places.Program(); self != "" && peer.CheckExecutable(self) == nil {
		return true
	}
	if program, err := os.Readlink("/proc/" + strconv.Itoa(peer.PID) + "/exe"); err == nil {
		return strings.HasPrefix(filepath.Base(program), "hookd")
	}
	_ = c.SetDeadline(time.Now().Add(askedWithin))
	defer c.SetDeadline(time.Time{})
	const question, answer = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n", `{"jsonrpc":"2.0","id":1,"result":`
	if _, err := io.WriteString(c, question); err != nil {
		return false
	}
	said := make([]byte, len(answer))
	_, err := io.ReadFull(c, said)
	return err == nil && string(said) == answer
}
