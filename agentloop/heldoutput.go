package agentloop

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/agentloop/internal/conversation"
	"github.com/hookd-dev/hookd/protocol"
)

// YieldKind says which members of a [Yield] are set.
type YieldKind string

const (
	YieldEvent YieldKind = "event" // Event, Outcome: an event that was decided
	YieldDelta YieldKind = "delta" // Delta: a piece of the model's answer

	// YieldDropped names a message (Delta.MessageID) that will not be kept: its try
	// failed, the run ended while it streamed, or hooks refused it. Its deltas are void;
	// a further try has another id.
	YieldDropped YieldKind = "dropped"

	// YieldOutput is a piece of what a tool writes while it works (Output). The result,
	// in tool-call-end, holds it all the same, as far as results go.
	YieldOutput YieldKind = "output"
)

// Yield is one thing that a run shows to its watcher.
type Yield struct {
	Kind YieldKind

	// Event is the event as it was decided, hooks' changes included. An answer or a
	// result that was refused is not in it.
	Event protocol.Event
	// Outcome says who decided what and why. Its Event is the same.
	Outcome protocol.Outcome

	Delta  Delta
	Output Output
}

// Delta is a piece of the model's answer while it streams.
type Delta struct {
	AgentID   string // whose answer: those of sub-agents and recipes are among them
	MessageID string
	Thinking  bool // reasoning, not the answer itself
	Text      string
}

// Output is a piece of what a tool writes while it works.
type Output struct {
	AgentID    string // whose tool
	ToolCallID string
	Text       string // valid UTF-8
}

// stream shows what a run does to its watcher. What hooks may still change waits in it,
// and is shown once as it was decided: a streamed answer until inference-end, a sub-agent's
// final answer and all that follows it until subagent-stop.
//
// Only the run's own goroutine holds, changes and flushes, while no tool runs.
type stream struct {
	watcher chan<- Yield
	agent   string // its id

	waits   func(*Yield) bool // whether it is held back; nil: nothing is
	message string            // id of the answer that is held back
	pending []Yield
}

// yield shows y, or holds it back.
func (s *stream) yield(ctx context.Context, y Yield) {
	if s.waits != nil && s.waits(&y) {
		s.pending = append(s.pending, y)
		return
	}
	s.send(ctx, y)
}

// send waits for the watcher, but no longer than the context lives.
func (s *stream) send(ctx context.Context, y Yield) {
	switch y.Kind {
	case YieldDelta, YieldDropped:
		y.Delta.AgentID = s.agent
	case YieldOutput:
		y.Output.AgentID = s.agent
	}
	select {
	case s.watcher <- y: // also after the context's end, if the watcher is there
		return
	default:
	}
	select {
	case s.watcher <- y:
	case <-ctx.Done():
	}
}

// holdAnswer holds back the pieces of the answer that begins.
func (s *stream) holdAnswer(message string) { s.waits, s.message = ofAnswer, message }

// holdAll holds back what follows a sub-agent's final answer, too, but notifications,
// which are for the person at once.
func (s *stream) holdAll(message string) {
	s.message = message
	s.waits = func(y *Yield) bool { return y.Kind != YieldEvent || y.Event.Event != protocol.Notification }
}

// ofAnswer reports whether y shows a piece of an answer's text.
func ofAnswer(y *Yield) bool {
	switch y.Event.Event {
	case protocol.MessageStart, protocol.MessageEnd, protocol.ThinkingStart, protocol.ThinkingEnd:
		return true
	}
	return y.Kind == YieldDelta
}

// flush shows what was held back, and holds nothing back any more.
func (s *stream) flush(ctx context.Context) {
	pending := s.pending
	s.pending, s.waits = nil, nil
	for _, y := range pending {
		s.send(ctx, y)
	}
}

// replace puts another text, "" for none, into the place of the answer that is held back.
// The text comes in one piece. That hooks heard of the answer's blocks is shown in any
// case.
func (s *stream) replace(text string) {
	if s.waits == nil {
		return
	}
	var list []Yield
	placed, end := text == "", 0 // end: of the answer's pieces
	for _, y := range s.pending {
		piece := ofAnswer(&y)
		switch {
		case y.Kind != YieldDelta:
			y = y.redacted(text)
		case placed || y.Delta.Thinking:
			continue
		default:
			y.Delta.Text, placed = text, true
		}
		list = append(list, y)
		if piece {
			end = len(list)
		}
	}
	if !placed {
		list = slices.Insert(list, end, Yield{Kind: YieldDelta, Delta: Delta{MessageID: s.message, Text: text}})
	}
	s.pending = list
}

// drop shows that an answer is void. What was held back of its text is not shown.
func (s *stream) drop(ctx context.Context, message string) {
	s.replace("")
	s.flush(ctx)
	s.send(ctx, Yield{Kind: YieldDropped, Delta: Delta{MessageID: message}})
}

// toolOutput shows what a tool writes, for as long as it works: what a tool writes after
// its return is not shown. The loop makes one only if no hook may still change the result.
type toolOutput struct {
	stream *stream
	ctx    context.Context
	id     string

	mu   sync.Mutex // pieces of one call come one at a time
	over bool
}

func (o *toolOutput) write(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over || text == "" {
		return
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	o.stream.yield(o.ctx, Yield{Kind: YieldOutput, Output: Output{ToolCallID: o.id, Text: text}})
}

func (o *toolOutput) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
}

// shown returns what a watcher sees of a decided event. A refused answer or result is not
// in it.
func shown(v *verdict) Yield {
	outcome := v.Outcome.Shown()
	y := Yield{Kind: YieldEvent, Event: outcome.Event, Outcome: outcome}
	if v.passed() {
		return y
	}
	switch {
	case v.name == protocol.InferenceEnd:
		return rewritten(y, func(d *protocol.InferenceEndData) { d.Message.Content = protocol.Content{} })
	case v.name == protocol.ToolCallEnd && !v.keepsResult():
		return rewritten(y, func(d *protocol.ToolCallEndData) { d.Result = conversation.ErrorResult(v.text()) })
	case v.name == protocol.SubagentStop && v.Failure != "":
		return rewritten(y, func(d *protocol.SubagentStopData) { d.Response = v.text() })
	}
	return y
}

// redacted returns an event with another text in the place of the final answer in it.
func (y Yield) redacted(text string) Yield {
	switch y.Event.Event {
	case protocol.MessageEnd, protocol.ThinkingEnd: // the deltas have it
		return rewritten(y, func(d *protocol.DeltaEndData) { d.Content = "" })
	case protocol.InferenceEnd:
		return rewritten(y, func(d *protocol.InferenceEndData) { d.Message = withText(d.Message, text) })
	case protocol.StepStop:
		return rewritten(y, func(d *protocol.StepStopData) { d.Messages = lastWithText(d.Messages, text) })
	case protocol.AgentStop:
		return rewritten(y, func(d *protocol.AgentStopData) {
			d.Response, d.Messages = text, lastWithText(d.Messages, text)
		})
	case protocol.AgentEnd:
		return rewritten(y, func(d *protocol.AgentEndData) { d.Response = text })
	}
	return y
}

// rewritten returns an event with other data. An event whose data cannot be read is shown
// without any.
func rewritten[T any](y Yield, change func(*T)) Yield {
	var data T
	encoded := protocol.RawMessage("{}")
	if json.Unmarshal(y.Event.Data, &data, decodeOptions) == nil {
		change(&data)
		if text, err := protocol.Marshal(data); err == nil {
			encoded = text
		}
	}
	y.Event.Data, y.Outcome.Event.Data = encoded, encoded
	return y
}

func withText(m protocol.Message, text string) protocol.Message {
	m.Content = protocol.Content{}
	if text != "" {
		m.Content = protocol.TextContent(text)
	}
	return m
}

// lastWithText returns messages with another text in the last answer.
func lastWithText(messages []protocol.Message, text string) []protocol.Message {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == protocol.RoleAssistant {
			messages[i] = withText(messages[i], text)
			break
		}
	}
	return messages
}
