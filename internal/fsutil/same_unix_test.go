//go:build unix

package fsutil

import (
	"os"
	"path/filepath"
	"testing"
)

// What a killed ReplaceSame has left goes; what a living one is writing, a file with another
// name, a link and a folder stay.
func TestRemoveLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	dead := filepath.Join(dir, leftPrefix+"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	others := []string{leftPrefix + "short", ".hookd-newABCDEFGHIJKLMNOPQRSTUVWXYZ", "mine"}
	for _, name := range append(others, filepath.Base(dead)) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link, folder := leftPrefix+"BBCDEFGHIJKLMNOPQRSTUVWXYZ", leftPrefix+"CBCDEFGHIJKLMNOPQRSTUVWXYZ"
	if err := os.Symlink("mine", filepath.Join(dir, link)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
		t.Fatal(err)
	}
	err := ReplaceSame(path, []byte("new"), nil, 0o600, func() error {
		RemoveLeft(dir) // another program's, while this one writes
		return nil
	})
	if text, _ := os.ReadFile(path); err != nil || string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Lstat(dead); err == nil {
		t.Error("the file of a killed one is there")
	}
	for _, name := range append(others, link, folder, "settings.json") {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != len(others)+3 {
		t.Errorf("%v", entries)
	}
}
