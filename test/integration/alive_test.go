package integration

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/test/hooktest"
)

// alive lists the processes that belong to a folder: they work in it, or their
// environment names it. Processes that have ended and only wait to be reaped
// do not count. Only Linux can tell; elsewhere the list is empty.
func alive(folder string) []string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []string
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if belongs(entry.Name(), folder) && hooktest.Alive(entry.Name()) {
			found = append(found, fmt.Sprintf("%d %s", pid, commandOf(entry.Name())))
		}
	}
	return found
}

// aliveAfter waits up to a time for the list to become empty.
func aliveAfter(folder string, wait time.Duration) []string {
	for deadline := time.Now().Add(wait); ; time.Sleep(10 * time.Millisecond) {
		left := alive(folder)
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

func belongs(pid, folder string) bool {
	cwd, err := os.Readlink(filepath.Join("/proc", pid, "cwd"))
	if err == nil && (cwd == folder || strings.HasPrefix(cwd, folder+"/")) {
		return true
	}
	environ, err := os.ReadFile(filepath.Join("/proc", pid, "environ"))
	return err == nil && bytes.Contains(environ, []byte("="+folder+"/"))
}

func commandOf(pid string) string {
	line, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	return strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
}
