//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/test/picture"
)

const pictureColumns = 92

// The picture on the first page shows the commands that stand below it, and what the
// program prints for them now. `make docs` draws it again.
func TestThePictureOnTheFirstPageIsCurrent(t *testing.T) {
	var commands []string
	for _, b := range blocksOf("README.md", pageText(t, "README.md")) {
		if b.isCommands() {
			commands = strings.Split(strings.TrimSpace(b.text), "\n")
			break
		}
	}
	if len(commands) != 3 {
		t.Fatalf("the first block of README.md has %d commands: %q", len(commands), commands)
	}
	screen, err := picture.Record(binary, pictureColumns, append(commands, "hookd list"))
	if err != nil {
		t.Fatal(err)
	}
	now := picture.Draw(screen, pictureColumns, "A terminal: hookd init, hookd new guard.sh, and an event that the guard refuses")
	file := filepath.Join(root(t), "docs", "first.svg")
	was, err := os.ReadFile(file)
	switch {
	case err == nil && string(was) == now:
	case *update:
		if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("docs/first.svg is not what hookd prints now (%v): run make docs\n%s", err, now)
	}
	if !strings.Contains(now, "refused by") {
		t.Error("nothing was refused in the picture")
	}
}
