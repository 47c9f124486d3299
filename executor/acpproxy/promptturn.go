package acpproxy

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// mostResponse bounds the agent's words of a turn that hooks read at its end.
const mostResponse = 1 << 20

// turn is a prompt of the client and what the agent does for it, until the client has its
// answer.
type turn struct {
	session *session
	request *request
	began   time.Time
	ctx     context.Context // of the hooks that judge the prompt and its end
	stop    context.CancelCauseFunc

	// The session's lock guards the rest.
	running   bool // the agent has it, and has not answered
	sending   bool // what it goes on with is on its way to the agent: a cancel waits for it
	cancelled bool
	done      bool
	asID      protocol.RawMessage // the id of the proxy's own prompt that it goes on with, nil: the client's
	continued int
	response  bytes.Buffer
}

func (s *session) newTurn(r *request) *turn {
	t := &turn{session: s, request: r, began: time.Now()}
	t.ctx, t.stop = context.WithCancelCause(s.guard.life)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work.turns = append(s.work.turns, t)
	return t
}

func (t *turn) unsent() bool {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	return !t.running || t.asID != nil
}

func (t *turn) knownAs() protocol.RawMessage {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	return t.asID
}

// gaveUp takes that the client gives the prompt up. It reports whether the agent need not be
// told: it has not got it, or is told after what is on its way.
func (t *turn) gaveUp() bool {
	s := t.session
	s.mu.Lock()
	defer s.mu.Unlock()
	t.cancelled = true
	if !t.running {
		t.stop(errCancelled)
	}
	return !t.running || t.sending
}

// cancelled takes that the client cancels what goes on in the session. It reports whether
// the agent need not be told: it has none of it, or is told after what is on its way.
func (s *session) cancelled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	running, waiting := false, false
	for _, t := range s.work.turns {
		t.cancelled = true
		told := t.running && !t.sending
		running, waiting = running || told, waiting || !told
		if !t.running {
			t.stop(errCancelled)
		}
	}
	s.stop(errCancelled)
	s.judging, s.stop = context.WithCancelCause(s.guard.life)
	return waiting && !running
}

// cancelTurn has the agent end what it does in the session, and tells why, after what the
// client reads first.
func (s *session) cancelTurn(why string, first ...<-chan struct{}) {
	s.mu.Lock()
	running, told := false, false
	for _, t := range s.work.turns {
		t.cancelled = true
		running, told = running || t.running, told || t.running && !t.sending
	}
	s.mu.Unlock()
	if told {
		s.guard.send(relay.Server, notification(acp.SessionCancel, object(texts("sessionId", s.id))))
	}
	for _, read := range first {
		select {
		case <-read:
		case <-s.guard.life.Done():
		}
	}
	if running {
		why += " (the turn was cancelled)"
	}
	s.tell(why)
}

// over ends the turn and reports whether it had not ended. The client's request is open no
// more.
func (t *turn) over() bool {
	s := t.session
	s.mu.Lock()
	was := !t.done
	t.done = true
	var open []*tool
	if was {
		s.work.turns = slices.DeleteFunc(s.work.turns, func(other *turn) bool { return other == t })
		open = s.work.toolsAtEnd()
		s.guard.asked[relay.Client].Remove(t.request)
		t.stop(nil)
	}
	s.mu.Unlock()
	lose(open, "the turn ended before the call did")
	return was
}

// toolsAtEnd forgets the calls that hooks know of if no turn goes on, and returns those that have
// not ended.
func (w *work) toolsAtEnd() (open []*tool) {
	if len(w.turns) > 0 {
		return nil
	}
	for id, tool := range w.tools {
		if tool.ended || tool.judged {
			delete(w.tools, id)
		}
		if tool.judged && !tool.ended {
			tool.ended = true
			open = append(open, tool)
		}
	}
	return open
}

// said collects the words of the agent.
func (s *session) said(words string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.work.turns {
		if t.running && t.response.Len() < mostResponse {
			t.response.WriteString(words[:min(len(words), mostResponse)])
		}
	}
}

// answered takes the agent's answer to the prompt: the turn ends, unless hooks have it go on.
func (t *turn) answered(m *relay.Message) relay.Decision {
	s := t.session
	s.mu.Lock()
	cancelled, response, continued := t.cancelled, t.response.String(), t.continued
	t.running = false // a second answer means nothing, and a cancel is for the hooks
	s.mu.Unlock()
	response = strings.ToValidUTF8(response, "")
	reason := acp.StopReason(jsonspan.Text(jsonspan.Get(m.Result, "stopReason")))
	natural := reason == acp.EndTurn || reason == acp.MaxTokens
	if m.Error != nil || !natural || cancelled {
		return relay.Later(t.request.Call.lane, func() relay.Decision { return t.end(m) })
	}
	data := protocol.AgentStopData{Reason: "done", Response: response, Messages: []protocol.Message{}, Continued: continued, ContinuedTotal: continued}
	if reason == acp.MaxTokens {
		data.Reason = "length"
	}
	decide := s.Begin(t.ctx, protocol.AgentStop, data)
	return relay.Later(t.request.Call.lane, func() relay.Decision {
		o, err := decide()
		if err == nil && o.Action == protocol.Continue && t.goOn(proxied.Who(o), goOnWith(o)) {
			return relay.Drop()
		}
		return t.end(m)
	})
}

// goOnWith is the text that a turn goes on with.
func goOnWith(o *protocol.Outcome) string {
	var words []string
	for _, m := range o.Messages {
		if text := m.Content.Text(); text != "" {
			words = append(words, text)
		}
	}
	if len(words) == 0 {
		words = append(words, o.RefusalText())
	}
	return strings.Join(append(words, proxied.Contexts(o)...), "\n\n")
}

// goOn has the agent go on with a prompt of the proxy's own. It reports false for a turn that
// the client has cancelled. One that is cancelled while the prompt is on its way, which may take
// as long as the agent does not read, is cancelled after it.
func (t *turn) goOn(who, words string) bool {
	s := t.session
	s.tell(who + " has the agent go on: " + words)
	prompt := object(texts("sessionId", s.id), member{"prompt", jsonspan.JoinList([]protocol.RawMessage{textBlock(words)})})
	s.mu.Lock()
	if t.cancelled {
		s.mu.Unlock()
		return false
	}
	t.continued++
	t.response.Reset()
	t.running, t.sending = true, true
	id, line := s.guard.ownRequest(relay.Server, acp.SessionPrompt, prompt, t.answered)
	t.asID = id
	s.mu.Unlock()
	s.guard.send(relay.Server, line)
	s.mu.Lock()
	t.sending = false
	cancelled := t.cancelled && t.running
	s.mu.Unlock()
	if cancelled {
		s.guard.send(relay.Server, notification(acp.SessionCancel, object(texts("sessionId", s.id))))
	}
	return true
}

// end tells hooks how the turn ended, and passes the agent's answer on as that to the client's
// prompt.
func (t *turn) end(m *relay.Message) relay.Decision {
	s := t.session
	s.mu.Lock()
	response, continued := strings.ToValidUTF8(t.response.String(), ""), t.continued
	line := m.Line
	if t.asID != nil {
		line = m.With("id", t.request.ID)
	}
	s.mu.Unlock()
	if !t.over() {
		return relay.Drop()
	}
	data := protocol.AgentEndData{Response: response, StopReason: "done", DurationMs: protocol.Milliseconds(time.Since(t.began)), Continued: continued}
	switch reason := jsonspan.Text(jsonspan.Get(m.Result, "stopReason")); {
	case m.Error != nil:
		t.failed(jsonspan.Text(jsonspan.Get(m.Error, "message")), "internal", nil)
		return relay.Pass(line)
	case reason == string(acp.Refusal):
		t.failed("the agent refused to go on", "model", nil)
		return relay.Pass(line)
	case reason == string(acp.MaxTokens):
		data.StopReason = "length"
	case reason == string(acp.MaxTurnRequests):
		data.StopReason = "steps"
	case reason == string(acp.Cancelled):
		data.StopReason = "aborted"
	}
	s.guard.background.observe(s.BeginDetached(s.guard.life, protocol.AgentEnd, data), nil)
	return relay.Pass(line)
}

// failed tells hooks that the turn ended with an error.
func (t *turn) failed(why, cause string, by *string) {
	s := t.session
	s.guard.background.observe(s.BeginDetached(s.guard.life, protocol.AgentError, protocol.AgentErrorData{Message: why, Cause: cause, By: by}), nil)
}
