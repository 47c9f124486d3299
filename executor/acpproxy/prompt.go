package acpproxy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

var errCancelled = errors.New("the turn was cancelled")

// betweenBlocks stands between the texts of a prompt that has several.
const betweenBlocks = "\n\n"

// prompt decides a prompt of the client.
func (g *guard) prompt(m *relay.Message, r *request) (relay.Decision, error) {
	p, err := readParams(m, "sessionId", "prompt")
	if err != nil {
		return relay.Decision{}, err
	}
	blocks := p.get("prompt")
	if jsonspan.Kind(blocks) != '[' {
		return relay.Decision{}, errors.New("the prompt is no list of content")
	}
	for _, block := range jsonspan.Elements(blocks) {
		if err := unambiguous(block, []string{"type", "text", "data", "mimeType", "resource", "uri"}); err != nil {
			return relay.Decision{}, err
		}
		if words := jsonspan.Get(block, "text"); words != nil && jsonspan.Kind(words) != '"' {
			return relay.Decision{}, errors.New("the prompt has a text that is " + jsonspan.KindName(words))
		}
	}
	s, err := g.session(p.text("sessionId"))
	if err != nil {
		return relay.Decision{}, err
	}
	t := s.newTurn(r)
	r.Call.answered, r.Call.gaveUp, r.Call.unsent, r.Call.knownAs = t.answered, t.gaveUp, t.unsent, t.knownAs
	data := protocol.PromptSubmitData{Source: "user", Attachments: []protocol.Part{}}
	data.Prompt, data.Attachments = readPrompt(jsonspan.Elements(blocks))
	decide := s.Begin(t.ctx, protocol.PromptSubmit, data)
	return relay.Later(r.Call.lane, func() relay.Decision { return t.judge(m, p, data.Prompt, decide) }), nil
}

// readPrompt returns what hooks read of a prompt: its texts, and the rest as attachments.
func readPrompt(blocks []protocol.RawMessage) (prompt string, attachments []protocol.Part) {
	var words []string
	attachments = []protocol.Part{}
	for _, block := range blocks {
		embedded := jsonspan.Find(block, "/resource/text")
		switch kind := jsonspan.Text(jsonspan.Get(block, "type")); {
		case kind == "text":
			words = append(words, jsonspan.Text(jsonspan.Get(block, "text")))
		case kind == "image" && jsonspan.Kind(jsonspan.Get(block, "data")) == '"':
			attachments = append(attachments, protocol.Part{Type: protocol.PartImage, MediaType: jsonspan.Text(jsonspan.Get(block, "mimeType")), Data: slices.Clone(jsonspan.Get(block, "data"))})
		case kind == "resource" && jsonspan.Kind(embedded) == '"':
			attachments = append(attachments, protocol.Part{Type: protocol.PartText, Text: jsonspan.Text(embedded)})
		default:
			attachments = append(attachments, protocol.Part{Type: protocol.PartOpaque, Provider: Host, Data: slices.Clone(block)})
		}
	}
	return strings.Join(words, betweenBlocks), attachments
}

// judge decides whether the prompt reaches the agent, and as what.
func (t *turn) judge(m *relay.Message, p *params, prompt string, decide func() (*protocol.Outcome, error)) relay.Decision {
	o, err := decide()
	if err != nil {
		return t.endHere(acp.Cancelled)
	}
	s := t.session
	s.mu.Lock()
	reason := s.start.refusing
	if reason == "" && s.guard.options.Mode != "" && !s.mode.on {
		reason = fmt.Sprintf("hookd has not seen this session begin, and cannot keep it in the mode %q (--mode): begin a new one", s.guard.options.Mode)
	}
	contexts := s.start.contexts
	s.mu.Unlock()
	if o.Refused() {
		reason = refusal(o)
	}
	if reason != "" {
		return t.refuse(reason, o)
	}
	line := p.line(m)
	changed := jsonspan.Text(jsonspan.Get(o.Event.Data, "prompt"))
	added := append(slices.Clone(contexts), proxied.Contexts(o)...)
	if changed != prompt || len(added) > 0 {
		blocks := jsonspan.Elements(p.get("prompt"))
		if changed != prompt {
			blocks = withText(blocks, changed)
		}
		for _, words := range added {
			blocks = append(blocks, textBlock(words))
		}
		line = m.With("params", relay.Replace(p.raw, "prompt", jsonspan.JoinList(blocks)))
	}
	return relay.Pass(line).Unless(func() bool { return !t.runs(len(contexts)) })
}

// withText returns the blocks of a prompt with another text: in place of the first text,
// while the other texts go. All other blocks stay as they are.
func withText(blocks []protocol.RawMessage, words string) (changed []protocol.RawMessage) {
	done := false
	for _, block := range blocks {
		switch isText := jsonspan.Text(jsonspan.Get(block, "type")) == "text"; {
		case isText && !done:
			changed, done = append(changed, relay.Replace(block, "text", jsonspan.Quote(words))), true
		case !isText:
			changed = append(changed, block)
		}
	}
	if !done {
		changed = append([]protocol.RawMessage{textBlock(words)}, changed...)
	}
	return changed
}

// runs has the agent begin with the prompt, unless it was cancelled. contexts are how many
// texts from the start of the session it has with it.
func (t *turn) runs(contexts int) bool {
	s := t.session
	s.mu.Lock()
	cancelled := t.cancelled
	t.running = !cancelled
	if !cancelled {
		s.mode.backs = 0
		s.start.contexts = s.start.contexts[min(contexts, len(s.start.contexts)):]
	}
	s.mu.Unlock()
	if cancelled {
		t.endHere(acp.Cancelled, s.guard.send)
	}
	return !cancelled
}

// endHere answers a prompt that the agent has not got. send, if any, sends the answer.
func (t *turn) endHere(reason acp.StopReason, send ...func(relay.Side, []byte)) relay.Decision {
	if !t.over() {
		return relay.Drop()
	}
	line := relay.ResultLine(t.request.ID, object(texts("stopReason", string(reason))))
	for _, send := range send {
		send(relay.Client, line)
	}
	return relay.Answer(line)
}

// refuse answers a prompt in the agent's place, with who refused it and why.
func (t *turn) refuse(reason string, o *protocol.Outcome) relay.Decision {
	who := "hookd"
	if o.Refused() {
		who = proxied.Who(o)
	}
	t.session.say(fmt.Sprintf("%s refused this prompt: %s", who, proxied.Explain(o, reason)))
	t.failed(reason, "blocked", o.By)
	return t.endHere(acp.Refusal)
}

// sessionCancel decides a notification that the turn of a session is cancelled: what hooks
// are asked about in it is given up, and a prompt that has not reached the agent ends here.
func (g *guard) sessionCancel(m *relay.Message) relay.Decision {
	s := g.sessions.get(jsonspan.Text(jsonspan.Get(m.Params, "sessionId")))
	if s == nil || !s.cancelled() {
		return relay.PassIn(lane(m), m.Line)
	}
	return relay.Drop()
}
