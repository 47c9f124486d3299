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

	// YieldDropped names a message (Delta.MessageID) that will not be kept: its
	// try failed, the run ended while it streamed, or hooks refused it. What its
	// deltas told is void; a further try has another id.
	YieldDropped YieldKind = "dropped"

	// YieldOutput is a piece of what a tool puts out while it works (Output). The
	// result, in tool-call-end, holds it all the same, as far as results go.
	YieldOutput YieldKind = "output"
)

// Yield is one thing a run tells whoever watches it.
type Yield struct {
	Kind YieldKind

	// Event is the event as it was decided, hooks' changes included. An answer
	// or a result that was refused is not in it.
	Event protocol.Event
	// Outcome says who decided what and why. Its Event is the same.
	Outcome protocol.Outcome

	Delta  Delta
	Output Output
}

// Delta is a piece of the model's answer while it streams.
type Delta struct {
	AgentID   string // whose answer: sub-agents and recipes stream theirs here too
	MessageID string
	Thinking  bool // reasoning, not the answer itself
	Text      string
}

// Output is a piece of what a tool puts out while it works.
type Output struct {
	AgentID    string // whose tool
	ToolCallID string
	Text       string // valid UTF-8
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
	switch y.Kind {
	case YieldDelta, YieldDropped:
		y.Delta.AgentID = r.loop.options.Agent.ID
	case YieldOutput:
		y.Output.AgentID = r.loop.options.Agent.ID
	}
	if r.words != nil && r.words.keeps(y) {
		return
	}
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
