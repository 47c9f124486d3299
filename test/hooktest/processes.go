package hooktest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Eventually waits until something holds, and fails the test after limit.
func Eventually(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for begin := time.Now(); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Since(begin) > limit {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// Alive reports whether a process runs. One that has ended and waits to be reaped does
// not. It is for systems with /proc.
func Alive(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

// Survivors lists the processes whose environment has a variable, each with its command
// line. It is for systems with /proc; elsewhere the list is empty.
func Survivors(variable string) (list []string) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environments {
		environ, err := os.ReadFile(file)
		if err == nil && slices.Contains(strings.Split(string(environ), "\x00"), variable) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			list = append(list, filepath.Base(filepath.Dir(file))+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return list
}
