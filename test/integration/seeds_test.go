package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/internal/seeds.md names every mechanism of the documents that hookd comes from.
// Each row must name where it lives, which must exist, and a test that shows it.
func TestEveryMechanismHasItsTest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "internal", "seeds.md"))
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	rows := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 4 || cells[0] == "section" {
			continue
		}
		rows++
		tests := quoted.FindAllStringSubmatch(cells[3], -1)
		if len(tests) == 0 {
			t.Errorf("%s: no test is named", cells[1])
		}
		for _, name := range tests {
			if err := findTest(root(t), name[1]); err != nil {
				t.Errorf("%s: %v", cells[1], err)
			}
		}
		for _, place := range quoted.FindAllStringSubmatch(cells[2], -1) {
			path := place[1]
			if strings.HasPrefix(path, "builtin/") {
				path = "agentloop/" + path
			}
			if !strings.Contains(path, "/") {
				continue // a name of the protocol or of Go, not a path
			}
			if _, err := os.Stat(filepath.Join(root(t), filepath.FromSlash(path))); err != nil {
				t.Errorf("%s: %v", cells[1], err)
			}
		}
	}
	if rows < 60 {
		t.Errorf("only %d rows were read", rows)
	}
}
