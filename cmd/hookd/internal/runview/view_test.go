package runview

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// sees is what is printed of what a run shows.
func sees(t *testing.T, updates ...agentloop.Update) string {
	t.Helper()
	var out bytes.Buffer
	v := New(&show.Printer{W: &out}, Options{})
	for _, y := range updates {
		if err := v.See(y); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// A model call that is tried again is told of once: what failed, then that a try
// follows. What the failed try said is marked, though its message has ended.
func TestViewOfARetry(t *testing.T) {
	try := func(n int, o protocol.Outcome) agentloop.Update {
		return eventYield(t, protocol.InferenceStart, protocol.InferenceStartData{Attempt: n}, o)
	}
	retries := "retries"
	refused := protocol.Outcome{Action: protocol.Block, By: &retries, Reason: "the model call failed 2 times"}
	part := deltaYield("half an")
	part.Delta.MessageID = "m1"
	got := sees(t, try(1, protocol.Outcome{}), part,
		eventYield(t, protocol.MessageEnd, protocol.DeltaEndData{MessageID: "m1", Content: "half an"}, protocol.Outcome{}),
		agentloop.Update{Kind: agentloop.UpdateDropped, Delta: agentloop.Delta{MessageID: "m1"}},
		try(2, protocol.Outcome{}),
		eventYield(t, protocol.Notification, protocol.NotificationData{Kind: "info", Text: "the model failed: cut off; try 2 follows in 300ms"}, protocol.Outcome{}),
		agentloop.Update{Kind: agentloop.UpdateDropped, Delta: agentloop.Delta{MessageID: "m2"}}, // said nothing
		try(3, refused))
	want := `● half an
  (dropped)
  ! the model failed: cut off; try 2 follows in 300ms
    ✗ blocked by retries: the model call failed 2 times
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

// What the program's own features answer is the tool's work, and no decision of
// a hook that a person wrote.
func TestViewOfAnAnswerOfOurs(t *testing.T) {
	replaced := func(source protocol.Layer) protocol.Outcome {
		return protocol.Outcome{
			Replaced: []byte(`{"content":[{"type":"text","text":"kept k"}],"isError":false}`), ReplacedBy: "notes",
			Runs: []protocol.Run{{Hook: "notes", Source: source, Changed: []string{"/result"}}},
		}
	}
	for source, told := range map[protocol.Layer]bool{protocol.Builtin: false, protocol.User: true} {
		got := sees(t, eventYield(t, protocol.ToolCallStart, protocol.ToolCallStartData{Call: callOfBash("c1", "ls")}, replaced(source)))
		if has := bytes.Contains([]byte(got), []byte("answered in its place")); has != told {
			t.Errorf("%s: printed\n%s", source, got)
		}
	}
}

// In a conversation, too, every warning is a line once, and what a hook took away is
// neither in a call's line nor after its number.
func TestFoldedViewWarnsOnceAndKeepsSecrets(t *testing.T) {
	var out bytes.Buffer
	v := New(&show.Printer{W: &out}, Options{Folded: true})
	call := callOfBash("c1", "cat f")
	started := protocol.Outcome{
		Event: protocol.Event{Event: protocol.ToolCallStart}, Action: protocol.Modify,
		Changes: []protocol.Change{{Path: "/args/command", By: "vault.sh", Source: protocol.User, Sensitive: true, Before: []byte(`"cat CANARY"`), After: []byte(`"cat f"`)}},
		Runs:    []protocol.Run{{Hook: "vault.sh", Source: protocol.User, Warnings: []string{"state of 70000 bytes is not kept"}}},
	}
	ended := protocol.Outcome{
		Event: protocol.Event{Event: protocol.ToolCallEnd}, Action: protocol.Modify,
		Changes: []protocol.Change{{Path: "/result/content", By: "clean.sh", Source: protocol.Project, Before: []byte(`"one\nCANARY"`), After: []byte(`"one\n***"`)}},
		Runs:    []protocol.Run{{Hook: "clean.sh", Source: protocol.Project, Warnings: []string{"context cut from 98000 to 65536 bytes"}}},
	}
	result := protocol.Result{Content: protocol.TextContent("one\n***")}
	for _, y := range []agentloop.Update{
		eventYield(t, protocol.ToolCallStart, protocol.ToolCallStartData{Call: call}, started),
		eventYield(t, protocol.ToolCallEnd, protocol.ToolCallEndData{Call: call, Result: result}, ended),
	} {
		if err := v.See(y); err != nil {
			t.Fatal(err)
		}
	}
	shown := out.String()
	for _, want := range []string{"! vault.sh (user): state of 70000 bytes is not kept", "! clean.sh (project): context cut from 98000 to 65536 bytes"} {
		if n := strings.Count(shown, want); n != 1 {
			t.Errorf("%q is seen %d times:\n%s", want, n, shown)
		}
	}
	for _, d := range v.calls.details {
		shown += d.title + d.body
	}
	if strings.Contains(shown, "CANARY") {
		t.Errorf("what was taken away is shown:\n%s", shown)
	}
	for _, who := range []string{"vault.sh changed args.command", "clean.sh changed result.content: 1 of 2 lines"} {
		if !strings.Contains(shown, who) {
			t.Errorf("%q is not said:\n%s", who, shown)
		}
	}
}

func eventYield(t *testing.T, name protocol.EventName, data any, outcome protocol.Outcome) agentloop.Update {
	t.Helper()
	text, err := protocol.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return agentloop.Update{
		Kind: agentloop.UpdateEvent, Outcome: outcome,
		Event: protocol.Event{Event: name, Data: text, Time: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)},
	}
}

func deltaYield(text string) agentloop.Update {
	return agentloop.Update{Kind: agentloop.UpdateDelta, Delta: agentloop.Delta{MessageID: "m1", Text: text}}
}

func callOfBash(id, command string) protocol.Call {
	args, _ := protocol.Marshal(map[string]string{"command": command})
	return protocol.Call{ToolCallID: id, Name: "bash", Kind: protocol.KindShell, Args: args}
}
