package agentloop

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
)

// lastWords keeps what is told of a sub-agent from its final answer on, while a
// hook of its parent may still change what it answers: until subagent-stop was
// decided, or the sub-agent goes on. Only the sub-agent's own goroutine uses it,
// while no tool of its runs.
type lastWords struct{ kept []Yield }

// keeps takes what is told. Notifications are for the person at once.
func (w *lastWords) keeps(y Yield) bool {
	if y.Kind == YieldEvent && y.Event.Event == protocol.Notification {
		return false
	}
	w.kept = append(w.kept, y)
	return true
}

// holdsWords reports whether a hook may still change what the run answers, which
// is a sub-agent's then.
func (r *Run) holdsWords() bool {
	if !r.delegated {
		return false
	}
	return r.loop.options.Gate.MayChange(r.parent.envelope(protocol.SubagentStop, nil))
}

// sayWords lets go what was kept, as it was told.
func (r *Run) sayWords(ctx context.Context) {
	r.wordsInstead(ctx, func(y Yield) Yield { return y })
}

// changeWords lets go what was kept with another text in the place of the answer;
// "" is none.
func (r *Run) changeWords(ctx context.Context, text string) {
	told := text == ""
	r.wordsInstead(ctx, func(y Yield) Yield {
		if y.Kind != YieldDelta {
			return y.retold(text)
		}
		y.Delta.Text = ""
		if !told && !y.Delta.Thinking {
			y.Delta.Text, told = text, true // in one piece
		}
		return y
	})
}

func (r *Run) wordsInstead(ctx context.Context, change func(Yield) Yield) {
	words := r.words
	r.words = nil
	if words == nil {
		return
	}
	for _, y := range words.kept {
		if y = change(y); y.Kind != YieldDelta || y.Delta.Text != "" {
			r.send(ctx, y)
		}
	}
}

// retold is an event with another text in the place of the final answer it tells.
func (y Yield) retold(text string) Yield {
	switch y.Event.Event {
	case protocol.MessageEnd, protocol.ThinkingEnd: // the deltas have it
		return rewritten(y, func(d *protocol.DeltaEndData) { d.Content = "" })
	case protocol.InferenceEnd:
		return rewritten(y, func(d *protocol.InferenceEndData) { d.Message = saying(d.Message, text) })
	case protocol.StepStop:
		return rewritten(y, func(d *protocol.StepStopData) { d.Messages = lastSaying(d.Messages, text) })
	case protocol.AgentStop:
		return rewritten(y, func(d *protocol.AgentStopData) {
			d.Response, d.Messages = text, lastSaying(d.Messages, text)
		})
	case protocol.AgentEnd:
		return rewritten(y, func(d *protocol.AgentEndData) { d.Response = text })
	}
	return y
}

// rewritten is an event with other data. One that cannot be read tells nothing.
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

func saying(m protocol.Message, text string) protocol.Message {
	m.Content = protocol.Content{}
	if text != "" {
		m.Content = protocol.TextContent(text)
	}
	return m
}

// lastSaying are messages with another text in the last answer.
func lastSaying(messages []protocol.Message, text string) []protocol.Message {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == protocol.RoleAssistant {
			messages[i] = saying(messages[i], text)
			break
		}
	}
	return messages
}
