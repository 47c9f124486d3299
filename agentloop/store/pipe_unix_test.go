//go:build unix

package store

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/internal/fsutil"
)

// A named pipe in the place of a session's file, or of its lock, is no session: nothing waits for
// its writer.
func TestPipesInThePlaceOfASession(t *testing.T) {
	folder := t.TempDir()
	written(t, folder, "locked")
	lock := filepath.Join(folder, "locked"+lockExtension)
	if err := errors.Join(syscall.Mkfifo(filepath.Join(folder, "pipe"+extension), 0o600), syscall.Unlink(lock), syscall.Mkfifo(lock, 0o600)); err != nil {
		t.Fatal(err)
	}
	done := make(chan map[string]error, 1)
	go func() {
		of := map[string]error{}
		_, of["HeaderOf"] = HeaderOf(folder, "pipe")
		_, of["Read"] = Read(folder, "pipe")
		_, of["Open"] = Open(folder, "pipe")
		_, of["Open of a locked one"] = Open(folder, "locked")
		of["Remove"] = Remove(folder, "pipe")
		if list, err := List(folder); err != nil || len(list) != 1 || list[0].ID != "locked" {
			t.Errorf("%+v, %v", list, err)
		}
		done <- of
	}()
	select {
	case of := <-done:
		for name, err := range of {
			if _, is := errors.AsType[*fsutil.NotRegularError](err); !is {
				t.Errorf("%s: %v", name, err)
			}
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for a writer")
	}
}
