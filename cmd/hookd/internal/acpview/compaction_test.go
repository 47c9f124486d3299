package acpview

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/protocol"
)

// A compaction is one thing in the client, from its begin to its end, whatever becomes of it.
func TestACompactionIsOneThing(t *testing.T) {
	begins := []*agentloop.Update{
		event(protocol.StepStart, 0, protocol.StepStartData{}, protocol.Outcome{}),
		event(protocol.CompactStart, 0, protocol.CompactStartData{}, protocol.Outcome{}),
		event(protocol.Notification, 0, protocol.NotificationData{Kind: "info", Text: "said by the session's own agent meanwhile"}, protocol.Outcome{}),
		event(protocol.MessageStart, 1, protocol.DeltaStartData{MessageID: "m"}, protocol.Outcome{}),
		event(protocol.ThinkingStart, 1, protocol.DeltaStartData{MessageID: "h"}, protocol.Outcome{}),
		event(protocol.MessageStart, 2, protocol.DeltaStartData{MessageID: "deeper"}, protocol.Outcome{}),
		{Kind: agentloop.UpdateDelta, Delta: agentloop.Delta{MessageID: "h", Thinking: true, Text: "hm"}},
		delta("deeper", "no summary"), delta("m", "a \u202esum"), delta("m", "mary"),
	}
	end := event(protocol.MessageEnd, 1, protocol.DeltaEndData{MessageID: "m", Content: "a summary"}, protocol.Outcome{})
	const begun = `{"sessionUpdate":"compaction_update","compactionId":"ID","status":"in_progress"}` + "\n" +
		`{"sessionUpdate":"notice","severity":"info","title":"said by the session's own agent meanwhile"}` + "\n" +
		`{"sessionUpdate":"compaction_summary_chunk","compactionId":"ID","content":{"type":"text","text":"a \\u202esum"}}` + "\n" +
		`{"sessionUpdate":"compaction_summary_chunk","compactionId":"ID","content":{"type":"text","text":"mary"}}`
	for name, test := range map[string]struct {
		goesOn    []*agentloop.Update
		cancelled bool
		want      []string
	}{
		"it ends with what hooks made of the summary": {
			[]*agentloop.Update{end, event(protocol.CompactEnd, 0, protocol.CompactEndData{Summary: "changed"}, protocol.Outcome{})}, false,
			[]string{`{"sessionUpdate":"compaction_update","compactionId":"ID","status":"completed","summary":[{"type":"text","text":"changed"}]}`},
		},
		"it ends, and the run with it": {
			[]*agentloop.Update{end, event(protocol.CompactEnd, 0, protocol.CompactEndData{Summary: "s"}, protocol.Outcome{Action: protocol.Stop})}, false,
			[]string{`{"sessionUpdate":"compaction_update","compactionId":"ID","status":"completed","summary":[{"type":"text","text":"s"}]}`},
		},
		"the text is written once more": {
			[]*agentloop.Update{
				{Kind: agentloop.UpdateDropped, Delta: agentloop.Delta{MessageID: "m"}},
				event(protocol.CompactEnd, 0, protocol.CompactEndData{Summary: "s"}, protocol.Outcome{}),
			}, false,
			[]string{
				`{"sessionUpdate":"compaction_update","compactionId":"ID","status":"in_progress","summary":[]}`,
				`{"sessionUpdate":"compaction_update","compactionId":"ID","status":"completed","summary":[{"type":"text","text":"s"}]}`,
			},
		},
		"it comes to nothing, and the run goes on": {
			[]*agentloop.Update{
				event(protocol.Notification, 0, protocol.NotificationData{Kind: "hook", Text: "it came to nothing"}, protocol.Outcome{}),
				event(protocol.StepStart, 0, protocol.StepStartData{}, protocol.Outcome{}),
				event(protocol.StepStart, 0, protocol.StepStartData{}, protocol.Outcome{}),
			}, false,
			[]string{
				`{"sessionUpdate":"notice","severity":"warning","title":"it came to nothing"}`,
				`{"sessionUpdate":"compaction_update","compactionId":"ID","status":"failed","error":"it came to nothing"}`,
			},
		},
		"the run ends":     {nil, false, []string{`{"sessionUpdate":"compaction_update","compactionId":"ID","status":"failed"}`}},
		"it is cancelled":  {nil, true, []string{`{"sessionUpdate":"compaction_update","compactionId":"ID","status":"cancelled"}`}},
		"a text goes late": {[]*agentloop.Update{event(protocol.StepStart, 0, protocol.StepStartData{}, protocol.Outcome{}), {Kind: agentloop.UpdateDropped, Delta: agentloop.Delta{MessageID: "m"}}}, false, []string{`{"sessionUpdate":"compaction_update","compactionId":"ID","status":"failed"}`}},
	} {
		v := New(Options{Notices: true, Compactions: true})
		var updates []any
		for _, y := range append(begins[:len(begins):len(begins)], test.goesOn...) {
			updates = append(updates, v.Updates(y)...)
		}
		updates = append(updates, v.End(test.cancelled)...)
		got := regexp.MustCompile(`"compactionId":"[^"]+"`).ReplaceAllString(strings.Join(told(updates), "\n"), `"compactionId":"ID"`)
		if diff := cmp.Diff(begun+"\n"+strings.Join(test.want, "\n"), got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// A compaction that hooks refuse never began, and one of an agent below is told in words.
func TestCompactionsThatAreNone(t *testing.T) {
	for name, test := range map[string]struct {
		shown []*agentloop.Update
		want  string
	}{
		"refused": {[]*agentloop.Update{event(protocol.CompactStart, 0, protocol.CompactStartData{}, protocol.Outcome{Action: protocol.Block, Reason: "keep it", By: ptr("guard.sh")})}, "keep it"},
		"of an agent below": {[]*agentloop.Update{
			event(protocol.StepStart, 0, protocol.StepStartData{}, protocol.Outcome{}),
			event(protocol.CompactStart, 1, protocol.CompactStartData{}, protocol.Outcome{}),
			event(protocol.CompactEnd, 1, protocol.CompactEndData{Summary: "s"}, protocol.Outcome{}),
		}, "the conversation was compacted"},
	} {
		v := New(Options{Compactions: true})
		var updates []any
		for _, y := range test.shown {
			updates = append(updates, v.Updates(y)...)
		}
		if got := strings.Join(told(append(updates, v.End(false)...)), "\n"); strings.Contains(got, "compaction_") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func ptr[T any](v T) *T { return &v }
