package agentloop

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// passGate lets everything pass and costs nothing.
type passGate struct {
	fakeGate
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
		loop, err := New(Options{Gate: &passGate{}, Model: &callsFor{n: 100}, Tools: []tool.Tool{echo}, NoDefaults: true})
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
