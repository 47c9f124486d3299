package loader

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/protocol"
)

// noExecFolder is a file system mounted noexec.
func noExecFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", dir, "tmpfs", unix.MS_NOEXEC, "mode=0755"); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// TestNoExec: from a file system mounted noexec nothing is started, and that is what
// is said; what runs from a private copy elsewhere runs.
func TestNoExec(t *testing.T) {
	t.Run("a project whose copies lie elsewhere", func(t *testing.T) {
		w := worldAt(t, filepath.Join(noExecFolder(t), "project"))
		w.hook("guard.sh", blocks)
		w.allow()
		if got := status(w.load(), "guard.sh"); got != "ready" {
			t.Fatalf("status %s", got)
		}
		if o := w.fire(w.load().Set); o.Action != protocol.Block || o.Reason != "no" {
			t.Errorf("%s: %s", o.Action, o.Reason)
		}
		os.Chmod(w.hookPath("guard.sh"), 0o644)
		if s := w.load(); status(s, "guard.sh") == "ready" {
			t.Error("a mode without x is taken for the mount's doing")
		}
	})
	for name, place := range map[string]func(*world, string){
		"the user's hooks": func(w *world, dir string) {
			w.home = dir
			w.userHook("guard.sh", blocks)
		},
		"the copies": func(w *world, dir string) {
			w.state = dir
			os.Chmod(dir, 0o700)
			w.hook("guard.sh", blocks)
			w.allow()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			place(w, noExecFolder(t))
			h := find(w.load(), "guard.sh")
			if h == nil || h.Fault == nil || h.Fault.Kind != protocol.FailSpawn || !strings.Contains(h.Fault.Detail, "noexec") || strings.Contains(h.Fault.Remedy, "chmod") || h.Fault.Remedy == "" {
				t.Errorf("%+v", h)
			}
			if o := w.fire(w.load().Set); o.Action != protocol.Block || !strings.Contains(o.Reason, "spawn") {
				t.Errorf("%s: %s", o.Action, o.Reason)
			}
		})
	}
}
