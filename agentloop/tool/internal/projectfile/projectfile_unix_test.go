//go:build unix

package projectfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/internal/protect"
)

// TestLockOnAFile asserts that a file stands for a folder which cannot be locked, and
// that it is the same for all who name that folder.
func TestLockOnAFile(t *testing.T) {
	folder := Folder{Project: t.TempDir(), Locks: filepath.Join(t.TempDir(), "locks")}
	one, err := folder.lockFile("/p/sub")
	if err != nil {
		t.Fatal(err)
	}
	if taken, err := one.try(); !taken || err != nil {
		t.Fatal(err)
	}
	two, err := folder.lockFile("/p/sub")
	if err != nil {
		t.Fatal(err)
	}
	if taken, err := two.try(); taken || err != nil {
		t.Errorf("taken twice (%v)", err)
	}
	one.release()
	if taken, err := two.try(); !taken || err != nil {
		t.Errorf("not given back (%v)", err)
	}
	two.release()
}

// TestFreshLeftoversStayWhereTheLockIsAFile asserts that what another machine may still
// write is not swept away.
func TestFreshLeftoversStayWhereTheLockIsAFile(t *testing.T) {
	project := t.TempDir()
	fresh, stale := newTemporary(), newTemporary()
	write(t, project, fresh, "half")
	write(t, project, stale, "half")
	before := time.Now().Add(-2 * staleAfter)
	if err := os.Chtimes(filepath.Join(project, stale), before, before); err != nil {
		t.Fatal(err)
	}
	dir, err := os.OpenRoot(project)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	(&LockedFile{dir: dir, lock: &folderLock{onFile: true}}).sweep()
	entries, err := os.ReadDir(project)
	if err != nil || len(entries) != 1 || entries[0].Name() != fresh {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestALinkSwappedIn asserts that what takes the place of a folder or file between
// the look and the opening is not followed.
func TestALinkSwappedIn(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, swap := range map[string]func(p string) error{
		"the folder becomes a link":  func(p string) error { return errors.Join(os.RemoveAll(p+"/d"), os.Symlink(".acai", p+"/d")) },
		"the file becomes a link":    func(p string) error { return errors.Join(os.Remove(p+"/d/f"), os.Symlink("../.acai/f", p+"/d/f")) },
		"the file becomes another":   func(p string) error { return errors.Join(os.Remove(p+"/d/f"), os.Link(p+"/.acai/f", p+"/d/f")) },
		"the folder becomes another": func(p string) error { return errors.Join(os.RemoveAll(p+"/d"), os.Rename(p+"/.acai", p+"/d")) },
	} {
		t.Run(name, func(t *testing.T) {
			p := filepath.Join(base, strings.ReplaceAll(name, " ", "-"))
			write(t, p, ".acai/f", "old")
			write(t, p, "d/f", "old")
			folder := Folder{Project: p}
			target, err := folder.Resolve("d/f", true)
			if err != nil {
				t.Fatal(err)
			}
			if err := swap(p); err != nil {
				t.Fatal(err)
			}
			dir, err := target.enter("d", true)
			if err == nil {
				defer dir.Close()
				_, _, err = target.open(dir, "f", os.O_WRONLY)
			}
			if !errors.Is(err, errMoved) && !errors.As(err, new(*protect.RefusedError)) {
				t.Errorf("opened: %v", err)
			}
		})
	}
}

func write(t *testing.T, project, name, text string) {
	t.Helper()
	path := filepath.Join(project, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}
