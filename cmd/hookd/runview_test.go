//go:build !lean

package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// sees is what is printed of what a run yields.
func sees(t *testing.T, yields ...yieldMsg) string {
	t.Helper()
	var out bytes.Buffer
	v := newRunView(&show.Printer{W: &out})
	for _, y := range yields {
		if err := v.see(y.Yield); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// A model call that is tried again is told of once: what failed, then that a try
// follows. What the failed try said is marked, though its message has ended.
func TestViewOfARetry(t *testing.T) {
	try := func(n int, o protocol.Outcome) yieldMsg {
		return event(t, protocol.InferenceStart, protocol.InferenceStartData{Attempt: n}, o)
	}
	retries := "retries"
	refused := protocol.Outcome{Action: protocol.Block, By: &retries, Reason: "the model call failed 2 times"}
	part := delta("half an")
	part.Delta.MessageID = "m1"
	got := sees(t, try(1, protocol.Outcome{}), part,
		event(t, protocol.MessageEnd, protocol.DeltaEndData{MessageID: "m1", Content: "half an"}, protocol.Outcome{}),
		yieldMsg{agentloop.Yield{Kind: agentloop.YieldDropped, Delta: agentloop.Delta{MessageID: "m1"}}},
		try(2, protocol.Outcome{}),
		event(t, protocol.Notification, protocol.NotificationData{Kind: "info", Text: "the model failed: cut off; try 2 follows in 300ms"}, protocol.Outcome{}),
		yieldMsg{agentloop.Yield{Kind: agentloop.YieldDropped, Delta: agentloop.Delta{MessageID: "m2"}}}, // said nothing
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
		got := sees(t, event(t, protocol.ToolCallStart, protocol.ToolCallStartData{Call: bashCall("c1", "ls")}, replaced(source)))
		if has := bytes.Contains([]byte(got), []byte("answered in its place")); has != told {
			t.Errorf("%s: printed\n%s", source, got)
		}
	}
}
