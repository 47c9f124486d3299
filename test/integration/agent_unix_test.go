//go:build unix

package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The example with everything in it: skill, tasks, a compaction by a recipe, an
// MCP server, and hooks that change, refuse and watch, in one run of the real
// binary. Its script of a model fails the run where one of them does not work.
func TestExampleAgent(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	if err := os.CopyFS(b.project, os.DirFS(filepath.Join(root(t), "examples", "agent"))); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"releases.sh", ".acai/hooks/sign.sh", ".acai/hooks/no-tags.sh", ".acai/hooks/journal.sh"} {
		if err := os.Chmod(filepath.Join(b.project, program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := b.command("trust", "--yes").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("the settings, 3 hooks, 1 skill, 1 recipe and 1 MCP server allowed")) {
		t.Fatalf("trust: %v\n%s", err, out)
	}
	began := time.Now()
	c := b.command("run", "--allow", "bash,write,mcp", "--json", "--model", "scripted:agent.yaml", "Prepare the next release.")
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("run: %v\n%s\n%s", err, out, stderr.String())
	}
	if took := time.Since(began); took > 60*time.Second {
		t.Errorf("took %v", took)
	}
	events := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var line struct {
			Kind  string          `json:"kind"`
			Event json.RawMessage `json:"event"`
		}
		var event struct {
			Event  string  `json:"event"`
			Recipe *string `json:"recipe"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		if line.Kind != "event" {
			continue
		}
		if err := json.Unmarshal(line.Event, &event); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		name := event.Event
		if event.Recipe != nil {
			name += " in " + *event.Recipe
		}
		events[name]++
	}
	for event, want := range map[string]int{
		"prompt-submit": 1, "agent-end": 1, "tool-call-start": 4, "tool-call-end": 3, "tool-call-error": 1,
		"compact-start": 1, "compact-end": 1, "inference-start in handover": 1, "inference-start": 5,
	} {
		if events[event] != want {
			t.Errorf("%d times %s, want %d", events[event], event, want)
		}
	}
	for file, want := range map[string]string{
		"CHANGELOG.md": "2.4.0: hooks\n-- written by an agent\n",
		"journal.txt": "tool-call-start todo_write: observe\ntool-call-start mcp__releases__next_version: observe\n" +
			"tool-call-start bash: block\ntool-call-start write_file: modify\ncompact-end\n",
	} {
		text, err := os.ReadFile(filepath.Join(b.project, file))
		if err != nil || string(text) != want {
			t.Errorf("%s holds %q, want %q (%v)", file, text, want, err)
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s", out, stderr.String())
	}
	if left := aliveAfter(b.folder, 2*time.Second); len(left) > 0 {
		t.Errorf("still alive: %s", strings.Join(left, "; "))
	}
}
