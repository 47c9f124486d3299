package guarded

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// A program has its own variables in place of ours, and is found on its own PATH alone.
func TestOwnVariables(t *testing.T) {
	if got := withVariables([]string{"A=1", "PATH=/bin", "B=2"}, []string{"PATH=/own", "C=3"}); !slices.Equal(got, []string{"A=1", "B=2", "PATH=/own", "C=3"}) {
		t.Errorf("%q", got)
	}
	folder, name := t.TempDir(), "program"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	own := []string{"A=1", "PATH=" + t.TempDir() + string(filepath.ListSeparator) + folder}
	if got, err := lookPath("program", own); got != path {
		t.Errorf("%q, %v", got, err)
	}
	for _, list := range []string{"", ".", t.TempDir()} {
		if got, err := lookPath("program", []string{"PATH=" + list}); err == nil {
			t.Errorf("on %q: %q", list, got)
		}
	}
	t.Setenv("PATH", folder)
	if got, err := lookPath("program", nil); got != path {
		t.Errorf("%q, %v", got, err)
	}
}
