//go:build !concurrent

// These tests only compute: test/progress/goroutines.go says who runs them.

package conversation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/protocol"
)

// TestEncodings asserts that what is put together from kept pieces is what
// encoding it all would make, whatever happened to the conversation in between.
func TestEncodings(t *testing.T) {
	message := func(id, text string) protocol.Message {
		m := Text(protocol.RoleUser, text)
		m.ID = id
		return m
	}
	one, two := message("1", `say "messages":[] <&> `+"\u2028"), message("2", "bad \xff")
	call := protocol.Message{ID: "3", Role: protocol.RoleAssistant, Content: protocol.Content{
		{Type: protocol.PartToolCall, ToolCallID: "c", Name: "echo", Args: protocol.RawMessage(`{"n":1.0e400}`)},
	}}
	escaped := protocol.Message{ID: "5", Role: protocol.RoleAssistant, Content: protocol.Content{
		{Type: protocol.PartToolCall, ToolCallID: "c", Name: "echo", Args: protocol.RawMessage(`{"s":"\u00e9"}`)},
	}}
	changed := message("1", "other text, same id")
	left := 3
	var e encodings
	for i, messages := range [][]protocol.Message{
		{one}, {one, two}, {one, two, call}, {changed, two, call}, {call}, {one, escaped}, {}, nil, {two, one}, {{ID: "4", Role: protocol.RoleUser}},
	} {
		for _, data := range []any{
			protocol.AgentStartData{Prompt: `"messages":[]`, System: "messages", Messages: messages, Tools: []protocol.Tool{{Name: "t", Schema: protocol.RawMessage(`{}`)}}},
			protocol.StepStartData{Messages: messages, StepsLeft: &left},
			protocol.InferenceStartData{Messages: messages, Attempt: 2},
			protocol.StepStopData{Messages: messages, Type: "final"},
			protocol.AgentStopData{Response: "{", Messages: messages},
			protocol.AgentEndData{Response: "no messages"},
		} {
			got, err := e.data(data)
			if err != nil {
				t.Fatal(err)
			}
			want, err := protocol.Marshal(data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%d: %T (-want +got):\n%s", i, data, diff)
			}
		}
	}
}

// BenchmarkEvent encodes one event of a conversation of 200 messages of 1 KiB:
// each message anew, and put together from what was kept.
func BenchmarkEvent(b *testing.B) {
	var messages []protocol.Message
	for i := range 200 {
		m := Text(protocol.RoleUser, strings.Repeat(`some "text" `, 85))
		m.ID = fmt.Sprint(i)
		messages = append(messages, m)
	}
	data := protocol.StepStartData{Messages: messages}
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			if _, err := protocol.Marshal(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("kept", func(b *testing.B) {
		var e encodings
		for b.Loop() {
			if _, err := e.data(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
