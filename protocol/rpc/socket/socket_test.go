//go:build unix

package socket_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/hookd-dev/hookd/protocol/rpc/socket"
	"github.com/hookd-dev/hookd/protocol/rpc/socket/meet"
)

// folder is a short folder of our own: the path of a socket may not be long.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestListenRefuses(t *testing.T) {
	open := folder(t)
	if err := os.Chmod(open, 0o770); err != nil {
		t.Fatal(err)
	}
	private := folder(t)
	if err := os.WriteFile(filepath.Join(private, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(private, filepath.Join(private, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"hookd.sock":                        "must be absolute",
		filepath.Join(open, "s"):            "open to others (mode 0770)",
		filepath.Join(private, "file"):      "not a socket",
		filepath.Join(private, "file", "s"): "not a directory",
		filepath.Join(private, "link", "s"): "is not a folder",
		"/" + strings.Repeat("x", 200):      "a socket's may have 103",
	} {
		l, err := socket.Listen(path)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if os.Geteuid() == 0 {
		other := folder(t)
		if err := os.Chown(other, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		if _, err := socket.Listen(filepath.Join(other, "s")); err == nil || !strings.Contains(err.Error(), "does not belong") {
			t.Errorf("another user's folder: %v", err)
		}
	}
}

// A second daemon is refused, one that died is replaced, and what is closed is
// gone, but never another's socket.
func TestListen(t *testing.T) {
	path := filepath.Join(folder(t), "deep", "er", "hookd.sock")
	first, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v %v", info.Mode(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v %v", info.Mode(), err)
	}
	if _, err := socket.Listen(path); !errors.Is(err, socket.ErrInUse) {
		t.Errorf("a second one: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after closing: %v", err)
	}

	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	second, err := socket.Listen(path)
	if err != nil {
		t.Fatalf("over a dead one: %v", err)
	}
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	third, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("closing one removed another's socket: %v", err)
	}
	third.Close()
	os.Remove(path + ".moved")
}

// Of many that start at once over a dead socket exactly one listens.
func TestListenRace(t *testing.T) {
	path := filepath.Join(folder(t), "s")
	for round := range 20 {
		dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		dead.SetUnlinkOnClose(false)
		dead.Close()
		var wg sync.WaitGroup
		listeners := make(chan net.Listener, 8)
		for range cap(listeners) {
			wg.Go(func() {
				l, err := socket.Listen(path)
				if err == nil {
					listeners <- l
				} else if !errors.Is(err, socket.ErrInUse) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		close(listeners)
		if len(listeners) != 1 {
			t.Errorf("round %d: %d listen", round, len(listeners))
		}
		for l := range listeners {
			l.Close()
		}
	}
}

func TestDialChecksThePeer(t *testing.T) {
	path := filepath.Join(folder(t), "s")
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	dial := func(executable string) error {
		c, err := socket.Dial(context.Background(), path, executable)
		if err == nil {
			c.Close()
		}
		return err
	}
	if err := dial(""); err != nil {
		t.Errorf("our own user: %v", err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells which program a peer runs")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := dial(self); err != nil {
		t.Errorf("the same program: %v", err)
	}
	link := filepath.Join(filepath.Dir(path), "link")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	if err := dial(link); err != nil {
		t.Errorf("the same program under another name: %v", err)
	}
	other, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	if err := dial(other); err == nil || !strings.Contains(err.Error(), "does not run "+other) {
		t.Errorf("another program: %v", err)
	}
	if err := dial(filepath.Join(filepath.Dir(path), "none")); err == nil {
		t.Error("a program that is not there")
	}
	if err := os.Chmod(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := dial(""); err == nil || !strings.Contains(err.Error(), "open to others") {
		t.Errorf("a folder open to others: %v", err)
	}
}

func TestCheckUser(t *testing.T) {
	if err := (meet.Peer{UID: os.Geteuid() + 1}).CheckUser(); err == nil {
		t.Error("another user is taken for ours")
	}
}
