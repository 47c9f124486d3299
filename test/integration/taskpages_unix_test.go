//go:build unix

package integration

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Each message that docs/troubleshooting.md has as a heading is one that the program prints:
// its parts between … stand in text of one source file.
func TestTheMessagesOfTroubleshootingExist(t *testing.T) {
	headings := regexp.MustCompile("(?m)^### `(.+)`$").FindAllStringSubmatch(pageText(t, "docs/troubleshooting.md"), -1)
	if len(headings) < 15 {
		t.Fatalf("only %d messages were found", len(headings))
	}
	sources := sourcesOfTheProgram(t)
	for _, found := range headings {
		if !slices.ContainsFunc(sources, func(source string) bool { return saysParts(source, found[1]) }) {
			t.Errorf("docs/troubleshooting.md: nothing prints %q", found[1])
		}
	}
	if saysParts("a b", "a … c") || saysParts("b a", "a … b") || !saysParts("xa yb", "… a … b …") {
		t.Error("parts of messages are not found as they should")
	}
}

// saysParts reports whether a source has the parts of a message, in their order.
func saysParts(source, message string) bool {
	for part := range strings.SplitSeq(message, "…") {
		if part = strings.Trim(part, " "); len(part) < 3 && part != "a" && part != "b" && part != "c" {
			continue // brackets and commas are everywhere
		}
		_, rest, found := strings.Cut(source, part)
		if !found {
			return false
		}
		source = rest
	}
	return true
}

// sourcesOfTheProgram are the texts that each source file of the program has in quotes,
// without verbs of formats, so that a message can be looked for in them.
func sourcesOfTheProgram(t *testing.T) (sources []string) {
	t.Helper()
	quoted := regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"")
	for _, folder := range []string{"agentloop", "cmd", "executor", "internal", "loader", "protocol", "schema"} {
		err := filepath.WalkDir(filepath.Join(root(t), folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var all strings.Builder
			for _, literal := range quoted.FindAllString(string(text), -1) {
				if plain, err := strconv.Unquote(literal); err == nil {
					all.WriteString(plain + "\n")
				}
			}
			sources = append(sources, all.String())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return sources
}

// The conditions of docs/matching.md do what the table says: the hook is asked at the one
// event and not at the other.
func TestTheConditionsOfThePageDecide(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `(.+?)` \\| `([a-z-]+)` \\| `(\\{.+?\\})` \\| `(\\{.+?\\})` \\|$").FindAllStringSubmatch(pageText(t, "docs/matching.md"), -1)
	if len(rows) < 10 {
		t.Fatalf("only %d conditions were found", len(rows))
	}
	type entry struct {
		Name    string            `json:"name"`
		Command []string          `json:"command"`
		Events  []string          `json:"events"`
		Can     string            `json:"can"`
		Match   map[string]string `json:"match"`
	}
	var entries []entry
	for i, row := range rows {
		entries = append(entries, entry{fmt.Sprintf("hook-%d", i), []string{"/bin/sh", "-c", ":"}, []string{row[2]}, "block", map[string]string{"when": row[1]}})
	}
	settings, err := json.Marshal(map[string]any{"hooks": map[string]any{"use": entries}})
	if err != nil {
		t.Fatal(err)
	}
	r := newReader(t)
	writeFile(t, filepath.Join(r.home, ".acai", "acai.json"), string(settings), 0o644)
	for i, row := range rows {
		for data, want := range map[string]bool{row[3]: true, row[4]: false} {
			var outcome struct {
				Runs []struct{ Hook, Failure string }
			}
			out := r.hookd(t, 0, "fire", row[2], "--json", "--data", data)
			if err := json.Unmarshal([]byte(out), &outcome); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			asked := false
			for _, run := range outcome.Runs {
				asked = asked || run.Hook == entries[i].Name && run.Failure == ""
			}
			if asked != want {
				t.Errorf("%s at %s: asked %v\n%s", row[1], data, asked, out)
			}
		}
	}
}
