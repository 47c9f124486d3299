package worker

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFileStamp: two changes within one tick of the file system's clock look alike,
// so nothing is stamped that has just changed.
func TestFileStamp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	paths := []string{path, filepath.Join(filepath.Dir(path), "none")}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		write("a")
		stamp := stampOf(paths)
		if !stamp.current(paths) {
			t.Error("not current though nothing changed")
		}
		write("b")
		if stamp.current(paths) {
			t.Error("current after a change")
		}
	}
}
