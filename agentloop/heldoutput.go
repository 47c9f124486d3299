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

// UpdateKind says which members of a [Update] are set.
type UpdateKind string

const (
	UpdateEvent UpdateKind = "event" // Event, Outcome: an event that was decided
	UpdateDelta UpdateKind = "delta" // Delta: a piece of the model's answer

	// UpdateDropped names a message (Delta.MessageID) that will not be kept: its try
	// failed, the run ended while it streamed, or hooks refused it. Its deltas are void;
	// a further try has another id.
	UpdateDropped UpdateKind = "dropped"

	// UpdateOutput is a piece of what a tool writes while it works (Output). The result,
	// in tool-call-end, holds it all the same, as far as results go.
	UpdateOutput UpdateKind = "output"
)

// Update is one thing that a run shows to its watcher: an event, or a piece of text.
type Update struct {
	Kind UpdateKind

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
	watcher chan<- Update
	agent   string // its id

	holds   func(*Update) bool // whether it is held back; nil: nothing is
	message string             // id of the answer that is held back
	pending []Update
}

// show shows an update, or holds it back.
func (s *stream) show(ctx context.Context, u Update) {
	if s.holds != nil && s.holds(&u) {
		s.pending = append(s.pending, u)
		return
	}
	s.send(ctx, u)
}

// send waits for the watcher, but no longer than the context lives.
func (s *stream) send(ctx context.Context, u Update) {
	switch u.Kind {
	case UpdateDelta, UpdateDropped:
		u.Delta.AgentID = s.agent
	case UpdateOutput:
		u.Output.AgentID = s.agent
	}
	select {
	case s.watcher <- u: // also after the context's end, if the watcher is there
		return
	default:
	}
	select {
	case s.watcher <- u:
	case <-ctx.Done():
	}
}

// holdAnswer holds back the pieces of the answer that begins.
func (s *stream) holdAnswer(message string) { s.holds, s.message = ofAnswer, message }

// holdAll holds back what follows a sub-agent's final answer, too, but notifications,
// which are for the person at once.
func (s *stream) holdAll(message string) {
	s.message = message
	s.holds = func(u *Update) bool { return u.Kind != UpdateEvent || u.Event.Event != protocol.Notification }
}

// ofAnswer reports whether u shows a piece of an answer's text.
func ofAnswer(u *Update) bool {
	switch u.Event.Event {
	case protocol.MessageStart, protocol.MessageEnd, protocol.ThinkingStart, protocol.ThinkingEnd:
		return true
	}
	return u.Kind == UpdateDelta
}

// flush shows what was held back, and holds nothing back any more.
func (s *stream) flush(ctx context.Context) {
	pending := s.pending
	s.pending, s.holds = nil, nil
	for _, u := range pending {
		s.send(ctx, u)
	}
}

// replace puts another text, "" for none, into the place of the answer that is held back.
// The text comes in one piece. That hooks heard of the answer's blocks is shown in any
// case.
func (s *stream) replace(text string) {
	if s.holds == nil {
		return
	}
	var list []Update
	placed, end := text == "", 0 // end: of the answer's pieces
	for _, u := range s.pending {
		piece := ofAnswer(&u)
		switch {
		case u.Kind != UpdateDelta:
			u = u.redacted(text)
		case placed || u.Delta.Thinking:
			continue
		default:
			u.Delta.Text, placed = text, true
		}
		list = append(list, u)
		if piece {
			end = len(list)
		}
	}
	if !placed {
		list = slices.Insert(list, end, Update{Kind: UpdateDelta, Delta: Delta{MessageID: s.message, Text: text}})
	}
	s.pending = list
}

// drop shows that an answer is void. What was held back of its text is not shown.
func (s *stream) drop(ctx context.Context, message string) {
	s.replace("")
	s.flush(ctx)
	s.send(ctx, Update{Kind: UpdateDropped, Delta: Delta{MessageID: message}})
}

// toolOutput shows what a tool writes, for as long as it works: what a tool writes after
// its return is not shown. The loop makes one only if no hook may still change the result.
type toolOutput struct {
	stream *stream
	ctx    context.Context
	id     string

	mu     sync.Mutex // pieces of one call come one at a time
	closed bool
}

func (o *toolOutput) write(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || text == "" {
		return
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	o.stream.show(o.ctx, Update{Kind: UpdateOutput, Output: Output{ToolCallID: o.id, Text: text}})
}

func (o *toolOutput) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

// shown returns what a watcher sees of a decided event. A refused answer or result is not
// in it.
func shown(v *verdict) Update {
	outcome := v.Outcome.Shown()
	u := Update{Kind: UpdateEvent, Event: outcome.Event, Outcome: outcome}
	if v.passed() {
		return u
	}
	switch {
	case v.name == protocol.InferenceEnd:
		return rewritten(u, func(d *protocol.InferenceEndData) { d.Message.Content = protocol.Content{} })
	case v.name == protocol.ToolCallEnd && !v.keepsResult():
		return rewritten(u, func(d *protocol.ToolCallEndData) { d.Result = conversation.ErrorResult(v.RefusalText()) })
	case v.name == protocol.SubagentStop && v.Failure != "":
		return rewritten(u, func(d *protocol.SubagentStopData) { d.Response = v.RefusalText() })
	}
	return u
}

// redacted returns an event with another text in the place of the final answer in it.
func (u Update) redacted(text string) Update {
	switch u.Event.Event {
	case protocol.MessageEnd, protocol.ThinkingEnd: // the deltas have it
		return rewritten(u, func(d *protocol.DeltaEndData) { d.Content = "" })
	case protocol.InferenceEnd:
		return rewritten(u, func(d *protocol.InferenceEndData) { d.Message = withText(d.Message, text) })
	case protocol.StepStop:
		return rewritten(u, func(d *protocol.StepStopData) { d.Messages = lastWithText(d.Messages, text) })
	case protocol.AgentStop:
		return rewritten(u, func(d *protocol.AgentStopData) {
			d.Response, d.Messages = text, lastWithText(d.Messages, text)
		})
	case protocol.AgentEnd:
		return rewritten(u, func(d *protocol.AgentEndData) { d.Response = text })
	}
	return u
}

// rewritten returns an event with other data. An event whose data cannot be read is shown
// without any.
func rewritten[T any](u Update, change func(*T)) Update {
	var data T
	encoded := protocol.RawMessage("{}")
	if json.Unmarshal(u.Event.Data, &data, decodeOptions) == nil {
		change(&data)
		if text, err := protocol.Marshal(data); err == nil {
			encoded = text
		}
	}
	u.Event.Data, u.Outcome.Event.Data = encoded, encoded
	return u
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
