package fsutil

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestReplaceFile(t *testing.T) {
	for _, durability := range []Durability{Synced, Unsynced} {
		dir := t.TempDir()
		file, other := filepath.Join(dir, "f"), filepath.Join(t.TempDir(), "other")
		if err := os.WriteFile(other, []byte("other"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(other, file); err != nil {
			t.Skip("no links here:", err)
		}
		if err := ReplaceFile(file, []byte("new"), durability); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(file); string(text) != "new" {
			t.Errorf("%q, %v", text, err)
		}
		if text, _ := os.ReadFile(other); string(text) != "other" {
			t.Errorf("the link was followed: %q", text)
		}
		info, err := os.Lstat(file)
		if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		checkAlone(t, dir)
	}
}

// TestReplaceFails asserts that the old file stays and no other is left behind.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.MkdirAll(filepath.Join(file, "in it"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceFile(file, []byte("new"), Unsynced); err == nil {
		t.Error("a folder with files was replaced")
	}
	checkAlone(t, dir)
	if err := ReplaceFile(filepath.Join(dir, "none", "f"), nil, Synced); !os.IsNotExist(err) {
		t.Errorf("no folder: %v", err)
	}
}

func checkAlone(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v is in the folder, %v", entries, err)
	}
}
