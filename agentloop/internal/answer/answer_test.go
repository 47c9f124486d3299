package answer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

// listener writes down what it is told.
type listener struct {
	log    []string
	refuse error // of BeginBlock
	closed bool  // BeginBlock leaves the block closed
	delta  func()
}

func kind(thinking bool) string {
	if thinking {
		return "thinking"
	}
	return "text"
}

func (l *listener) BeginBlock(_ context.Context, thinking bool) (bool, error) {
	l.log = append(l.log, "begin "+kind(thinking))
	return !l.closed, l.refuse
}

func (l *listener) Delta(_ context.Context, thinking bool, text string) {
	l.log = append(l.log, kind(thinking)+" "+text)
	if l.delta != nil {
		l.delta()
	}
}

func (l *listener) EndBlock(_ context.Context, thinking bool, text string) {
	l.log = append(l.log, "end "+kind(thinking)+" "+text)
}

// stream gives chunks, then err if it is not nil.
func stream(err error, chunks ...model.Chunk) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(model.Chunk{}, err)
		}
	}
}

func text(s string) model.Chunk  { return model.Chunk{Type: model.Text, Text: s} }
func think(s string) model.Chunk { return model.Chunk{Type: model.Thinking, Text: s} }
func call(id string) model.Chunk {
	return model.Chunk{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartToolCall, ToolCallID: id, Name: "t"}}
}

var (
	done     = model.Chunk{Type: model.Finish, Reason: "stop"}
	someUsed = int64(7)
	usage    = model.Chunk{Type: model.Usage, Usage: &protocol.CallUsage{InputTokens: &someUsed}}
)

func check(t *testing.T, a *Answer, l *listener, wantLog, wantParts string) {
	t.Helper()
	if diff := cmp.Diff(wantLog, strings.Join(l.log, "|")); diff != "" {
		t.Errorf("the listener (-want +got):\n%s", diff)
	}
	var parts []string
	for _, p := range a.Message.Content {
		parts = append(parts, fmt.Sprintf("%s %s%s", p.Type, p.Text, p.ToolCallID))
	}
	if diff := cmp.Diff(wantParts, strings.Join(parts, "|")); diff != "" {
		t.Errorf("the message (-want +got):\n%s", diff)
	}
}

func TestStream(t *testing.T) {
	for name, c := range map[string]struct {
		chunks     []model.Chunk
		log, parts string
		finish     string
	}{
		"a text":          {[]model.Chunk{text("a"), text(""), text("b"), usage, done}, "begin text|text a|text b|end text ab", "text ab", "stop"},
		"reasoning first": {[]model.Chunk{think("hm"), text("a"), done}, "begin thinking|thinking hm|end thinking hm|begin text|text a|end text a", "thinking hm|text a", "stop"},
		"a call between":  {[]model.Chunk{text("a"), call("c1"), text("b"), done}, "begin text|text a|end text a|begin text|text b|end text b", "text a|tool_call c1|text b", "stop"},
		"nothing":         {[]model.Chunk{done}, "", "", "stop"},
		"text after end":  {[]model.Chunk{done, text("a")}, "begin text|text a|end text a", "text a", "stop"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &listener{}
			a := New(l)
			if err := a.Stream(t.Context(), stream(nil, c.chunks...)); err != nil {
				t.Fatal(err)
			}
			c.parts = strings.ReplaceAll(c.parts, "tool_call", string(protocol.PartToolCall))
			check(t, a, l, c.log, c.parts)
			if a.Finish != c.finish || !a.Begun || a.Message.ID == "" || a.Message.Role != protocol.RoleAssistant {
				t.Errorf("%+v", a)
			}
			if reported := strings.Contains(name, "a text"); (a.Usage != nil) != reported {
				t.Errorf("usage: %v", a.Usage)
			}
		})
	}
}

func TestStreamFails(t *testing.T) {
	broken := errors.New("broken pipe")
	l := &listener{}
	a := New(l)
	err := a.Stream(t.Context(), stream(broken, think("h"), text("half")))
	var failure *Failure
	if !errors.As(err, &failure) || !errors.Is(err, broken) || err.Error() != "the model failed: broken pipe" {
		t.Errorf("the model fails: %v", err)
	}
	check(t, a, l, "begin thinking|thinking h|end thinking h|begin text|text half|end text half", "thinking h|text half")

	a = New(&listener{})
	if err := a.Stream(t.Context(), stream(nil, text("a"))); !errors.As(err, &failure) || err.Error() != "the model's answer was cut off" {
		t.Errorf("no finish: %v", err)
	}
	a = New(&listener{})
	if err := a.Stream(t.Context(), stream(broken)); err == nil || a.Begun {
		t.Errorf("an answer that never began: %v, begun is %v", err, a.Begun)
	}

	refused := errors.New("refused")
	l = &listener{refuse: refused}
	a = New(l)
	if err := a.Stream(t.Context(), stream(nil, text("a"), text("b"), done)); err != refused {
		t.Errorf("the listener's error became %v", err)
	}
	check(t, a, l, "begin text|end text ", "text ")

	l = &listener{refuse: refused, closed: true}
	a = New(l)
	if err := a.Stream(t.Context(), stream(nil, text("a"), done)); err != refused {
		t.Errorf("the listener's error became %v", err)
	}
	check(t, a, l, "begin text", "") // the block never opened, so it does not end
}

// TestAbort: whatever the model says after the end of the context, the cause is the error.
func TestAbort(t *testing.T) {
	cause := errors.New("interrupted")
	for name, rest := range map[string]iter.Seq2[model.Chunk, error]{
		"more chunks": stream(nil, text("a"), text("b"), done),
		"an error":    stream(errors.New("connection closed"), text("a")),
		"the end":     stream(nil, text("a"), done),
		"a cut":       stream(nil, text("a")),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, abort := context.WithCancelCause(t.Context())
			l := &listener{delta: func() { abort(cause) }}
			a := New(l)
			if err := a.Stream(ctx, rest); err != cause {
				t.Errorf("%v, want %v", err, cause)
			}
			check(t, a, l, "begin text|text a|end text a", "text a")
		})
	}
	ctx, abort := context.WithCancelCause(t.Context())
	abort(cause)
	a := New(&listener{})
	if err := a.AddResponse(ctx, protocol.Response{}); err != cause {
		t.Errorf("AddResponse: %v", err)
	}
}

func TestAddResponse(t *testing.T) {
	tools := protocol.Part{Type: protocol.PartToolCall, ToolCallID: "c1", Name: "t"}
	for name, c := range map[string]struct {
		content              protocol.Content
		finish, log, wantEnd string
	}{
		"a text":    {protocol.Content{{Type: protocol.PartText, Text: "a"}}, "", "begin text|text a|end text a", "stop"},
		"a call":    {protocol.Content{{Type: protocol.PartThinking, Text: "h"}, tools}, "", "begin thinking|thinking h|end thinking h", "tools"},
		"it says":   {protocol.Content{tools}, "length", "", "length"},
		"two texts": {protocol.Content{{Type: protocol.PartText, Text: "a"}, {Type: protocol.PartText, Text: "b"}}, "", "begin text|text a|text b|end text ab", "stop"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &listener{}
			a := New(l)
			if err := a.AddResponse(t.Context(), protocol.Response{Message: protocol.Message{Content: c.content}, FinishReason: c.finish}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(l.log, "|"); got != c.log || a.Finish != c.wantEnd {
				t.Errorf("%s, finish %s", got, a.Finish)
			}
			want := c.content
			if name == "two texts" {
				want = protocol.TextContent("ab")
			}
			if diff := cmp.Diff(want, a.Message.Content, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	l := &listener{refuse: errors.New("refused")}
	if err := New(l).AddResponse(t.Context(), protocol.Response{Message: protocol.Message{Content: protocol.TextContent("a")}}); err != l.refuse {
		t.Errorf("the listener's error became %v", err)
	}
}

func TestKind(t *testing.T) {
	m := protocol.Message{Content: protocol.TextContent("a")}
	if Kind(m) != "final" || Kind(protocol.Message{}) != "final" {
		t.Error("an answer without calls is final")
	}
	m.Content = append(m.Content, protocol.Part{Type: protocol.PartToolCall})
	if Kind(m) != "tools" {
		t.Error("an answer with a call")
	}
}

func TestTooLarge(t *testing.T) {
	piece := strings.Repeat("x", 1<<20)
	data := protocol.RawMessage(`"` + piece + `"`)
	for name, chunk := range map[string]model.Chunk{
		"text": text(piece),
		"name": {Type: model.PartDone, Part: protocol.Part{Name: piece}},
		"id":   {Type: model.PartDone, Part: protocol.Part{ToolCallID: piece}},
		"args": {Type: model.PartDone, Part: protocol.Part{Args: data}},
		"part": {Type: model.PartDone, Part: protocol.Part{Text: piece}},
		"data": {Type: model.PartDone, Part: protocol.Part{Data: data}},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			err := New(&listener{}).Stream(t.Context(), func(yield func(model.Chunk, error) bool) {
				for n < 100 && yield(chunk, nil) {
					n++
				}
			})
			if err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") || !errors.As(err, new(*Failure)) || n > 16 || n < 15 {
				t.Errorf("after %d pieces of 1 MiB: %v", n, err)
			}
		})
	}
	n := 0
	err := New(&listener{}).Stream(t.Context(), func(yield func(model.Chunk, error) bool) {
		for n < 5000 && yield(call("c"), nil) {
			n++
		}
	})
	if err == nil || !strings.Contains(err.Error(), "more than 4096 parts") || n != 4096 {
		t.Errorf("after %d parts: %v", n, err)
	}
	if err := New(&listener{}).Stream(t.Context(), stream(nil, append([]model.Chunk{text(strings.Repeat("x", 16<<20))}, done)...)); err != nil {
		t.Errorf("16 MiB: %v", err)
	}
}
