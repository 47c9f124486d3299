package meet

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSign: a daemon that hides what it runs is known by the lock on its program
// file, as long as it listens, and for no other program.
func TestSign(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	check := func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return Peer{PID: os.Getpid()}.checkSign(path, info)
	}
	if check(self) == nil {
		t.Error("known before it listens")
	}
	dir := t.TempDir()
	off := Sign()
	if err := check(self); err != nil {
		t.Error(err)
	}
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if check(other) == nil {
		t.Error("taken for another program")
	}
	off()
	if check(self) == nil {
		t.Error("known after it listens")
	}
}
