//go:build unix

package integration

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// callEnds are calls and how each of them ends: by which event, and what it says.
var callEnds = []struct{ name, call, event, says string }{
	{"done", `{id: done, name: bash, args: {command: "echo hi"}}`, "tool-call-end", `"isError":false,"exitCode":0`},
	{"exit code", `{id: exit, name: bash, args: {command: "exit 3"}}`, "tool-call-end", `"isError":true,"exitCode":3`},
	{"killed", `{id: killed, name: bash, args: {command: "kill -9 $$"}}`, "tool-call-end", `ended by SIGKILL`},
	{"timed out", `{id: late, name: bash, args: {command: "sleep 30", timeout: 1}}`, "tool-call-error", `"kind":"timeout"`},
	{"file missing", `{id: missing, name: read_file, args: {path: nowhere.txt}}`, "tool-call-end", `"isError":true`},
	{"edit does not fit", `{id: edit, name: edit_file, args: {path: there.txt, oldText: absent, newText: x}}`, "tool-call-end", `"isError":true`},
	{"unknown tool", `{id: unknown, name: no_such_tool, args: {}}`, "tool-call-error", `"kind":"unknownTool"`},
	{"bad args", `{id: bad, name: read_file, args: {path: 7}}`, "tool-call-error", `"kind":"badArgs"`},
	{"blocked", `{id: blocked, name: bash, args: {command: "echo BLOCKED"}}`, "tool-call-error", `"kind":"blocked"`},
	{"denied", `{id: denied, name: bash, args: {command: "echo ASKED"}}`, "tool-call-error", `"kind":"denied"`},
}

// TestEachCallEndsOnce: each call ends with exactly one of tool-call-end and
// tool-call-error, which says how.
func TestEachCallEndsOnce(t *testing.T) {
	b := newBox(t)
	b.script(t, "guard.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block\ncase $(cat) in\n"+
		"*BLOCKED*) echo '{\"action\":\"block\",\"reason\":\"no\"}' ;;\n*ASKED*) echo '{\"action\":\"ask\",\"reason\":\"sure?\"}' ;;\nesac\n")
	if err := os.WriteFile(filepath.Join(b.project, "there.txt"), []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	script := "turns:\n- toolCalls:\n"
	for _, c := range callEnds {
		script += "  - " + c.call + "\n"
	}
	ended := b.callEnds(t, script+"- text: done\n")
	for _, c := range callEnds {
		t.Run(c.name, func(t *testing.T) {
			_, after, _ := strings.Cut(c.call, "id: ")
			id, _, _ := strings.Cut(after, ",")
			got := ended[id]
			if len(got) != 1 || got[0].Event != protocol.EventName(c.event) || !bytes.Contains(got[0].Data, []byte(c.says)) {
				t.Errorf("want one %s with %s, got %d: %s", c.event, c.says, len(got), got)
			}
		})
	}
}

// TestAbortedCallsEndOnce is the same for calls that the end of the run met.
func TestAbortedCallsEndOnce(t *testing.T) {
	b := newBox(t)
	b.settings(t, `{"agent":{"limits":{"time":"700ms"}}}`)
	ended := b.callEnds(t, "turns:\n- toolCalls:\n  - {id: one, name: bash, args: {command: sleep 30}}\n  - {id: two, name: bash, args: {command: sleep 31}}\n")
	for _, id := range []string{"one", "two"} {
		if got := ended[id]; len(got) != 1 || got[0].Event != protocol.ToolCallError {
			t.Errorf("call %s ended with %s", id, got)
		}
	}
}

type callEvent struct {
	Event protocol.EventName
	Data  json.RawMessage
}

// callEnds runs a script and returns by which events its calls ended.
func (b *box) callEnds(t *testing.T, script string) map[string][]callEvent {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.project, "model.yaml"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	out, stderr, _ := b.runs(t, nil, "run", "go", "--json", "--allow", "bash,write", "--model", "scripted:model.yaml")
	ended := map[string][]callEvent{}
	for line := range strings.Lines(out) {
		var read struct {
			Kind  string
			Event callEvent
		}
		var data struct{ ToolCallID string }
		// In a line of a hook the event is but a name.
		if json.Unmarshal([]byte(line), &read) != nil || read.Kind != "event" {
			continue
		}
		if e := read.Event; e.Event == protocol.ToolCallEnd || e.Event == protocol.ToolCallError {
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			ended[data.ToolCallID] = append(ended[data.ToolCallID], e)
		}
	}
	if len(ended) == 0 {
		t.Fatalf("no call ended: %s", stderr)
	}
	return ended
}
