package agentloop

import (
	"context"

	"github.com/hookd-dev/hookd/protocol"
)

// heldBack keeps the streamed answer while a hook may still refuse or change
// it. It is used by the run's own goroutine only, while no tool runs.
type heldBack struct{ kept []Yield }

// keeps takes what would tell the answer's text.
func (h *heldBack) keeps(y Yield) bool {
	tells := y.Kind == YieldDelta || streams(y.Event.Event)
	if tells {
		h.kept = append(h.kept, y)
	}
	return tells
}

func streams(name protocol.EventName) bool {
	switch name {
	case protocol.MessageStart, protocol.MessageEnd, protocol.ThinkingStart, protocol.ThinkingEnd:
		return true
	}
	return false
}

// holds reports whether the answer is to be held back while it streams.
func (r *Run) holds() bool {
	return r.holdsWords() || r.loop.options.Gate.MayChange(r.envelope(protocol.InferenceEnd, nil))
}

// show lets go what was held back: as it was streamed if hooks left it so, in
// one piece if they changed it, not at all if they refused it. That hooks heard
// of its beginning and end is told in any case.
func (r *Run) show(ctx context.Context, v *verdict, message protocol.Message) {
	switch {
	case !v.passed():
		r.dropAnswer(ctx, message.ID)
	case r.held == nil:
	case v.changes("message"):
		r.release(ctx, message)
	default:
		held := r.held
		r.held = nil
		for _, y := range held.kept {
			r.send(ctx, y)
		}
	}
	r.tell(ctx, v)
}

// dropAnswer says that what was streamed of an answer is void. What was held
// back of it is not told.
func (r *Run) dropAnswer(ctx context.Context, id string) {
	r.release(ctx, protocol.Message{})
	r.send(ctx, Yield{Kind: YieldDropped, Delta: Delta{MessageID: id}})
}

// release tells what was held back without its text, and with that of the
// message in its place.
func (r *Run) release(ctx context.Context, message protocol.Message) {
	held := r.held
	r.held = nil
	if held == nil {
		return
	}
	instead := Yield{Kind: YieldDelta, Delta: Delta{MessageID: message.ID, Text: message.Content.Text()}}
	last := len(held.kept) - 1
	for i, y := range held.kept {
		if instead.Delta.Text != "" && i == last {
			r.send(ctx, instead) // inside its block
			instead.Delta.Text = ""
		}
		if y.Kind == YieldEvent {
			r.send(ctx, y.retold(""))
		}
	}
	if instead.Delta.Text != "" {
		r.send(ctx, instead)
	}
}
