package protocol

import (
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// TestTouchedFollowsTheArgs asserts that a hook reads where the args lead as they are
// now, and never where they led before.
func TestTouchedFollowsTheArgs(t *testing.T) {
	data := `{"toolCallId":"c","name":"read_file","kind":"read","args":{"path":"a"}, "realPath":"/p/a","links":2,"otherPaths":["/p/b"],"x":1.0,"parallel":1}`
	ev := Event{Protocol: Version, Event: ToolCallStart, Data: RawMessage(data)}
	const changed = `{"changes":{"args":{"path":"c"}}}`

	after, _, err := apply(t, ev, changed)
	want := `{"toolCallId":"c","name":"read_file","kind":"read","args":{"path":"c"},"x":1.0,"parallel":1}`
	if err != nil || string(after.Data) != want {
		t.Errorf("where nobody knows: %s, %v", after.Data, err)
	}

	asked := ""
	ev.Touches = func(args RawMessage) Touched {
		asked = string(args)
		return Touched{RealPath: "/p/<c>"}
	}
	after, changes, err := apply(t, ev, changed)
	if err != nil || jsonspan.Text(jsonspan.Get(after.Data, "realPath")) != "/p/<c>" || jsonspan.Get(after.Data, "links") != nil || strings.Count(string(after.Data), "realPath") != 1 {
		t.Errorf("where the host knows: %s, %v", after.Data, err)
	}
	if asked != `{"path":"c"}` || len(changes) != 1 || changes[0].Path != "/args/path" {
		t.Errorf("asked about %s, changes %v", asked, changes)
	}
	if err := CheckData(Lookup(ToolCallStart), after.Data); err != nil {
		t.Error(err)
	}

	for _, reply := range []string{
		`{"changes":{"realPath":"/etc/passwd"}}`, `{"changes":{"links":1}}`, `{"changes":{"otherPaths":[]}}`,
		`{"patch":[{"op":"remove","path":"/realPath"}]}`, `{"patch":[{"op":"replace","path":"/realPath","value":"/p/x"}]}`,
	} {
		if after, _, err := apply(t, ev, reply); err == nil || string(after.Data) != data {
			t.Errorf("%s: %s", reply, after.Data)
		}
	}

	plain := Event{Protocol: Version, Event: ToolCallStart, Data: RawMessage(`{ "toolCallId":"c", "name":"x","kind":"other","args":{"path":"a"},"parallel":1 }`)}
	if after, _, err := apply(t, plain, changed); err != nil || string(after.Data) != `{ "toolCallId":"c", "name":"x","kind":"other","args":{"path":"c"},"parallel":1 }` {
		t.Errorf("bytes of another tool's event changed: %s, %v", after.Data, err)
	}
}
