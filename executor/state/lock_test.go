package state

import (
	"errors"
	"os"
	"runtime"
	"testing"
)

// A lock whose file stays open still excludes others when somebody has cleared
// the folder away in between.
func TestFileLockSurvivesItsFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed there")
	}
	dir := t.TempDir() + "/records"
	one, other := NewFileLock(dir, "s"), NewFileLock(dir, "s")
	defer one.Close()
	defer other.Close()
	if err := one.Lock(); err != nil {
		t.Fatal(err)
	}
	if err := other.Lock(); !errors.Is(err, ErrLocked) {
		t.Fatalf("taken twice: %v", err)
	}
	one.Unlock()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	if err := one.Lock(); !errors.Is(err, ErrLocked) {
		t.Fatalf("taken twice after the folder was removed: %v", err)
	}
	other.Unlock()
	if err := one.Lock(); err != nil {
		t.Fatal(err)
	}
	one.Unlock()
}
