//go:build !concurrent

// These tests only compute: test/progress/goroutines.go says who runs them.

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: a fault that only one system has is found there, in a program and in
// a test, and told once.
func TestCheck(t *testing.T) {
	module := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":               "module example.com/m\n\ngo 1.26\n",
		"m.go":                 "package m\n\nfunc Twice(n int) int { return 2 * n }\n",
		"m_darwin.go":          "package m\n\nvar wrong int = Twice\n",
		"m_windows_test.go":    "package m\n\nvar missing = Thrice(1)\n",
		"below/go_on_linux.go": "package below\n",
	} {
		path := filepath.Join(module, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string]string{"linux/amd64": "", "darwin/arm64": "m_darwin.go:3:17", "windows/amd64": "m_windows_test.go:3:15"} {
		found, err := check(module, system)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || !strings.Contains(found[0], want)) {
			t.Errorf("%s: found %q, want %q", system, found, want)
		}
	}
	if _, err := check(module, "darwin"); err == nil {
		t.Error("a system without an architecture was accepted")
	}
}
