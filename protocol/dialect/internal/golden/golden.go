package golden

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/test/golden"
)

// Limits are those of an event that hookd reads.
var Limits = protocol.DecodeLimits{Size: protocol.DefaultEventSize, Depth: protocol.DefaultDepth}

// Check compares what a test got with a file, or writes the file.
func Check(t *testing.T, path string, got []byte) {
	t.Helper()
	golden.Check(t, path, got)
}

// Inputs are the files in a folder that an agent wrote to a hook's stdin.
func Inputs(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Captured reports whether an input is what an agent wrote, and not made after its documents.
func Captured(path string) bool { return !strings.HasSuffix(path, ".documents.json") }

// EventOf returns the agent's name of the event that an input is about, which may have dots.
func EventOf(a *dialect.Agent, path string) string {
	file, name := filepath.Base(path), ""
	for i := range a.Rows {
		if row := a.Rows[i].Name; strings.HasPrefix(file, row+".") && len(row) > len(name) {
			name = row
		}
	}
	if name == "" {
		name, _, _ = strings.Cut(file, ".")
	}
	return name
}
