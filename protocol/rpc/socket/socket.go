package socket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Path is where the daemon of a project listens unless it is told otherwise:
// $XDG_RUNTIME_DIR/hookd/HASH.sock, or without such a folder of our own the
// same in stateDir. HASH stands for the project's absolute path.
func Path(project, stateDir string) (string, error) {
	sum := sha256.Sum256([]byte(project))
	name := hex.EncodeToString(sum[:8]) + ".sock"
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && checkOwn(dir) == nil {
		return filepath.Join(dir, "hookd", name), nil
	}
	if !filepath.IsAbs(stateDir) {
		return "", errors.New("neither XDG_RUNTIME_DIR nor a state folder is there for the socket")
	}
	return filepath.Join(stateDir, "run", name), nil
}

// maxPath is the longest socket path that every system takes.
const maxPath = 103

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
	if err := checkPath(path); err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := checkOwn(dir); err != nil {
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
	return &listener{UnixListener: l, path: path, made: made, unsign: sign()}, nil
}

func checkPath(path string) error {
	switch {
	case !filepath.IsAbs(path):
		return errors.New("the path must be absolute")
	case len(path) > maxPath:
		return fmt.Errorf("the path has %d bytes, and a socket's may have %d", len(path), maxPath)
	}
	return nil
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
	if err := checkPath(path); err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	if err := checkOwn(filepath.Dir(path)); err != nil {
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

// Peer is the process at the other end of a socket, as the kernel names it.
type Peer struct {
	UID int
	PID int // 0 where the system does not tell
}

// CheckUser fails unless the peer runs as our user.
func (p Peer) CheckUser() error {
	if own := os.Geteuid(); p.UID != own {
		return fmt.Errorf("the other end belongs to user %d, not to %d", p.UID, own)
	}
	return nil
}
