package gohooks

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hookd-dev/hookd/internal/hookvalues"
	"github.com/hookd-dev/hookd/protocol"
)

// states are what hooks remember, by session. They live as long as their gates.
type states struct {
	mu       sync.Mutex
	sessions map[string]hookvalues.Snapshot
}

func newStates() *states { return &states{sessions: map[string]hookvalues.Snapshot{}} }

// eventStates is what hooks remember, as one event's hooks see it. The rule is the
// executor's: events side by side see the same old values, what an event's hooks want kept
// is written when the event is decided, and of two events the later one's value stands.
type eventStates struct {
	gate   *states
	event  *protocol.Event
	before hookvalues.Snapshot
	writes []hookvalues.Write
}

// begin returns the states as an event finds them. A gate without hooks has none.
func (s *states) begin(event *protocol.Event) *eventStates {
	e := &eventStates{gate: s, event: event}
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		e.before = s.sessions[event.Session.ID]
	}
	return e
}

func keyOf(h *protocol.GoHook) hookvalues.Key { return hookvalues.Key{Layer: h.Layer, Name: h.Name} }

// of returns what a hook remembers.
func (e *eventStates) of(h *protocol.GoHook) protocol.RawMessage { return e.before.State(keyOf(h)) }

// maxState is the most that a hook may remember in one session.
const maxState = 64 << 10

// check returns what a reply wants the hook to remember, nil if that is nothing. What may
// not be kept becomes a warning: the rest of the reply counts all the same.
func (e *eventStates) check(h *protocol.GoHook, answer *protocol.Answer) *hookvalues.Write {
	if answer.Reply == nil || answer.Reply.State == nil {
		return nil
	}
	value, problem := answer.Reply.State, ""
	switch {
	case len(value) > maxState:
		problem = fmt.Sprintf("it has %d bytes, the limit is %d", len(value), maxState)
	case e.event.Session.ID == "":
		problem = "the event belongs to no session"
	}
	if problem != "" {
		answer.Warnings = append(answer.Warnings, "state is not kept: "+problem)
		return nil
	}
	return &hookvalues.Write{
		Key: keyOf(h), What: hookvalues.State, Value: value,
		Seq: e.event.Seq, Epoch: e.event.Epoch, Saw: e.before.Revision(keyOf(h), hookvalues.State),
	}
}

// commit writes what the hooks want kept, before the event goes on. Values that are lost by
// it are warnings of the hooks' runs.
func (e *eventStates) commit(outcome *protocol.Outcome) {
	if len(e.writes) == 0 {
		return
	}
	s := e.gate
	s.mu.Lock()
	next, lost := s.sessions[e.event.Session.ID].With(e.writes)
	s.sessions[e.event.Session.ID] = next
	s.mu.Unlock()
	for i := range outcome.Runs {
		run := &outcome.Runs[i]
		run.Warnings = append(slices.Clip(run.Warnings), hookvalues.Texts(lost, run.Hook)...)
	}
}
