package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingBuiltIsCommitted: a program built beside its source by mistake weighs
// on every clone for ever. What is written by hand is far smaller than the limit.
func TestNothingBuiltIsCommitted(t *testing.T) {
	lookAtSources(t)
	const most = 256 << 10
	list := exec.Command("git", "ls-files", "-z", "../..")
	out, err := list.Output()
	if err != nil {
		t.Skipf("nothing is committed here, git knows no work tree: %v", err)
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(names) < 100 {
		t.Fatalf("git knows of %d files only", len(names))
	}
	for _, name := range names {
		info, err := os.Stat(filepath.FromSlash(name))
		if err == nil && info.Size() > most {
			t.Errorf("%s has %d bytes; what is built does not belong here", name, info.Size())
		}
	}
}
