//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What the tests of a user leave running is told and ended, and the folder goes.
func TestNothingIsLeft(t *testing.T) {
	u := &account{name: "us", box: t.TempDir(), credential: &syscall.Credential{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())}}
	left := exec.Command("sleep", "60")
	left.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(u.box, "tmp")}
	other := exec.Command("sleep", "61")
	for _, c := range []*exec.Cmd{left, other} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	ended := make(chan error)
	go func() { ended <- left.Wait() }()
	err := u.remove()
	if err == nil || !strings.Contains(err.Error(), "sleep 60") || strings.Contains(err.Error(), "sleep 61") {
		t.Errorf("it tells %v", err)
	}
	if err := <-ended; err == nil {
		t.Error("the process ended by itself")
	}
	if _, err := os.Stat(u.box); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	if other.Process.Signal(syscall.Signal(0)) != nil {
		t.Error("a process that has nothing to do with the tests was ended")
	}
}

// A folder is given without what git and builds keep in it.
func TestGive(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "tree")
	for name, mode := range map[string]os.FileMode{"a/run.sh": 0o755, "a/text": 0o644, ".git/config": 0o644, "bin/hookd": 0o755} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, name), []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	u := &account{credential: &syscall.Credential{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())}}
	if err := u.give(t.Context(), from, to, copyFile); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(to, "a", "run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("run.sh: %v, %v", info, err)
	}
	for _, name := range []string{".git", "bin"} {
		if _, err := os.Stat(filepath.Join(to, name)); !os.IsNotExist(err) {
			t.Errorf("%s was given: %v", name, err)
		}
	}
	if _, err := newAccount("root"); err == nil {
		t.Error("root counts as a user without rights")
	}
}
