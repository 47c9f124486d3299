package agentloop

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// TestEncodings asserts that what is put together from kept pieces is what
// encoding it all would make, whatever happened to the conversation in between.
func TestEncodings(t *testing.T) {
	message := func(id, text string) protocol.Message {
		m := textMessage(protocol.RoleUser, text)
		m.ID = id
		return m
	}
	one, two := message("1", `say "messages":[] <&> `+"\u2028"), message("2", "bad \xff")
	call := protocol.Message{ID: "3", Role: protocol.RoleAssistant, Content: protocol.Content{
		{Type: protocol.PartToolCall, ToolCallID: "c", Name: "echo", Args: raw(`{"n":1.0e400}`)},
	}}
	escaped := protocol.Message{ID: "5", Role: protocol.RoleAssistant, Content: protocol.Content{
		{Type: protocol.PartToolCall, ToolCallID: "c", Name: "echo", Args: raw(`{"s":"\u00e9"}`)},
	}}
	changed := message("1", "other text, same id")
	left := 3
	var e encodings
	for i, messages := range [][]protocol.Message{
		{one}, {one, two}, {one, two, call}, {changed, two, call}, {call}, {one, escaped}, {}, nil, {two, one}, {{ID: "4", Role: protocol.RoleUser}},
	} {
		for _, data := range []any{
			protocol.AgentStartData{Prompt: `"messages":[]`, System: "messages", Messages: messages, Tools: []protocol.Tool{{Name: "t", Schema: raw(`{}`)}}},
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

// passGate lets everything pass and costs nothing.
type passGate struct {
	foldGate
	bytes int
}

func (g *passGate) Begin(_ context.Context, e protocol.Event) func() (protocol.Outcome, error) {
	g.bytes += len(e.Data)
	return func() (protocol.Outcome, error) { return protocol.Outcome{Action: protocol.Observe, Event: e}, nil }
}

// callsFor is a model that calls a tool so many times and is done.
type callsFor struct{ n, calls int }

func (c *callsFor) Name() string { return "calls" }

func (c *callsFor) Generate(context.Context, model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		c.calls++
		if c.calls%c.n == 0 {
			_ = yield(model.Chunk{Type: model.Text, Text: "done"}, nil) && yield(model.Chunk{Type: model.Finish, Reason: "stop"}, nil)
			return
		}
		part := protocol.Part{Type: protocol.PartToolCall, ToolCallID: fmt.Sprint("c", c.calls), Name: "echo", Args: raw(`{"text":"hi"}`)}
		_ = yield(model.Chunk{Type: model.PartDone, Part: part}, nil) && yield(model.Chunk{Type: model.Finish, Reason: "tools"}, nil)
	}
}

// BenchmarkRun is a run of 100 steps: its conversation grows to 200 messages of
// 1 KiB each.
func BenchmarkRun(b *testing.B) {
	text := strings.Repeat("some text ", 100)
	for b.Loop() {
		echo := &fakeTool{name: "echo", run: func(context.Context, string) (protocol.Result, error) {
			return protocol.Result{Content: protocol.TextContent(text)}, nil
		}}
		loop, err := New(Options{Gate: &passGate{}, Model: &callsFor{n: 100}, Tools: []tool.Tool{echo}, Providers: []Provider{}})
		if err != nil {
			b.Fatal(err)
		}
		run, err := loop.Run(b.Context(), "go!")
		if err != nil {
			b.Fatal(err)
		}
		for range run.Events() {
		}
		if err := run.Wait(); err != nil || len(loop.Messages()) != 200 {
			b.Fatalf("%d messages: %v", len(loop.Messages()), err)
		}
	}
}

// BenchmarkEvent encodes one event of a conversation of 200 messages of 1 KiB:
// each message anew, and put together from what was kept.
func BenchmarkEvent(b *testing.B) {
	var messages []protocol.Message
	for i := range 200 {
		m := textMessage(protocol.RoleUser, strings.Repeat(`some "text" `, 85))
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
