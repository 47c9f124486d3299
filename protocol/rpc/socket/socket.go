package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc/socket/meet"
)

// ErrInUse says that another daemon listens on the path.
var ErrInUse = errors.New("another hookd listens there")

// Listen makes the folder of path if it is missing, removes a socket that a
// dead daemon left behind, and listens. It fails with [ErrInUse] when one is
// alive. Closing the listener removes the socket.
func Listen(path string) (net.Listener, error) {
	l, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return l, nil
}

func listen(path string) (net.Listener, error) {
	if err := meet.CheckPath(path); err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := meet.CheckOwn(dir); err != nil {
		return nil, err
	}
	// Looking for a live daemon, removing its dead socket and taking the name
	// must be one step, or two that start at once remove each other's.
	unlock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // by name: it could be another's by then
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	made, err := os.Lstat(path)
	if err != nil {
		l.Close()
		return nil, err
	}
	return &listener{UnixListener: l, path: path, made: made, unsign: meet.Sign()}, nil
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("there is something that is not a socket")
	}
	peer, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		peer.Close()
		return ErrInUse
	}
	if !refused(err) {
		return fmt.Errorf("%w, or so it seems: %w", ErrInUse, err)
	}
	return os.Remove(path)
}

type listener struct {
	*net.UnixListener
	path   string
	made   fs.FileInfo
	unsign func()
}

func (l *listener) Close() error {
	err := l.UnixListener.Close()
	l.unsign()
	unlock, lockErr := lockFolder(filepath.Dir(l.path))
	if lockErr != nil {
		return errors.Join(err, lockErr)
	}
	defer unlock()
	if now, statErr := os.Lstat(l.path); statErr == nil && os.SameFile(now, l.made) {
		err = errors.Join(err, os.Remove(l.path))
	}
	return err
}

// Dial connects to the daemon at path and checks that it runs as our user and
// from the program file executable; an empty executable is not checked. Where
// a check fails nothing was sent, and the caller works without the daemon.
func Dial(ctx context.Context, path, executable string) (*net.UnixConn, error) {
	if err := meet.CheckPath(path); err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	if err := meet.CheckOwn(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.UnixConn)
	if err := checkPeer(conn, executable); err != nil {
		conn.Close()
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	return conn, nil
}

func checkPeer(conn *net.UnixConn, executable string) error {
	peer, err := PeerOf(conn)
	if err != nil {
		return err
	}
	if err := peer.CheckUser(); err != nil || executable == "" {
		return err
	}
	return peer.CheckExecutable(executable)
}

// Peer is the process at the other end of a socket.
type Peer = meet.Peer

// PeerOf asks the kernel who is at the other end.
func PeerOf(conn *net.UnixConn) (peer meet.Peer, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return peer, err
	}
	if failed := raw.Control(func(fd uintptr) { peer, err = meet.PeerOf(int(fd)) }); failed != nil {
		return peer, failed
	}
	return peer, err
}
