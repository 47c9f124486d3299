package agentloop

import (
	"context"

	"github.com/hookd-dev/hookd/protocol"
)

// YieldKind says which members of a [Yield] are set.
type YieldKind string

const (
	YieldEvent YieldKind = "event" // Event, Outcome: an event that was decided
	YieldDelta YieldKind = "delta" // Delta: a piece of the model's answer
)

// Yield is one thing a run tells whoever watches it.
type Yield struct {
	Kind YieldKind

	// Event is the event as it was decided, hooks' changes included. An answer
	// or a result that was refused is not in it.
	Event protocol.Event
	// Outcome says who decided what and why. Its Event is the same.
	Outcome protocol.Outcome

	Delta Delta
}

// Delta is a piece of the model's answer while it streams.
type Delta struct {
	MessageID string
	Thinking  bool // reasoning, not the answer itself
	Text      string
}

// yield hands y to the watcher. It waits for the watcher, but no longer than
// the context lives.
func (r *Run) yield(ctx context.Context, y Yield) {
	if r.held != nil && r.held.keeps(y) {
		return
	}
	r.send(ctx, y)
}

func (r *Run) send(ctx context.Context, y Yield) {
	select {
	case r.events <- y: // also behind the context's end, if the watcher is there
		return
	default:
	}
	select {
	case r.events <- y:
	case <-ctx.Done():
	}
}

// heldBack keeps the streamed answer while a hook may still refuse or change
// it. It is used by the run's own goroutine only, while no tool runs.
type heldBack struct{ kept []Yield }

// keeps takes what would tell the answer's text.
func (h *heldBack) keeps(y Yield) bool {
	tells := y.Kind == YieldDelta
	switch y.Event.Event {
	case protocol.MessageStart, protocol.MessageEnd, protocol.ThinkingStart, protocol.ThinkingEnd:
		tells = true
	}
	if tells {
		h.kept = append(h.kept, y)
	}
	return tells
}
