package foreignhooks

import (
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// Known returns the event of that agent's own name, nil if it has none.
func (f *Agent) known(name string) *HookEvent {
	for i := range f.Events {
		if f.Events[i].Name == name {
			return &f.Events[i]
		}
	}
	return nil
}

// EventError says why hooks of this protocol cannot be asked about an event.
type EventError struct {
	Title string
	Name  string
	Near  string
	Known bool // the agent has the event, and hookd has none like it
}

func (e *EventError) Error() string {
	name := text.Shorten(e.Name, 60)
	switch {
	case e.Known:
		return fmt.Sprintf("%s has the event %q, and hookd has none like it: the hook is never asked about it", e.Title, name)
	case e.Near != "":
		return fmt.Sprintf("%s has no event %q; did you mean %q?", e.Title, name, e.Near)
	}
	return fmt.Sprintf("%s has no event %q", e.Title, name)
}

// Resolve returns our event for a name that a description gives: the agent's own name,
// or ours. The error is an [*EventError].
func (f *Agent) Resolve(name string) (protocol.EventName, error) {
	if e := f.known(name); e != nil {
		if e.Event == "" {
			return "", &EventError{Title: f.Title, Name: name, Known: true}
		}
		return e.Event, nil
	}
	var known []string
	for i := range f.Events {
		if string(f.Events[i].Event) == name {
			return f.Events[i].Event, nil
		}
		known = append(known, f.Events[i].Name)
	}
	return "", &EventError{Title: f.Title, Name: name, Near: text.Nearest(name, known)}
}

// eventsFor are the agent's own events that one of ours is, for a hook that names its
// events so. A hook that gives our name is asked about the first of them.
func (f *Agent) eventsFor(event protocol.EventName, named []string) (list []*HookEvent) {
	for _, name := range named {
		if e := f.known(name); e != nil && e.Event == event {
			list = append(list, e)
		}
	}
	if len(list) > 0 {
		return list
	}
	for i := range f.Events {
		if e := &f.Events[i]; e.Event == event && len(e.Only) == 0 {
			return []*HookEvent{e}
		}
	}
	return nil
}

// CanRefuse reports whether a hook for these events, named as its description does, can
// refuse one of them.
func (f *Agent) CanRefuse(events []protocol.EventName, named []string) bool {
	return slices.ContainsFunc(events, func(event protocol.EventName) bool {
		return slices.ContainsFunc(f.eventsFor(event, named), func(e *HookEvent) bool { return e.Refuses })
	})
}

// Rule is what a failure of a hook does at an event if nothing but its own agent says so.
// A hook that could not be asked at all refuses what it could have refused; for all else
// the agent's own rule counts.
func (f *Agent) Rule(event protocol.EventName, named []string, kind protocol.FailureKind) protocol.Rule {
	for _, e := range f.eventsFor(event, named) {
		if !e.Refuses {
			continue
		}
		switch kind {
		case protocol.FailTimeout, protocol.FailBudget, protocol.FailExit, protocol.FailSignal, protocol.FailReply, protocol.FailOutput:
			if f.closed != nil && f.closed(e, kind) {
				return protocol.RuleBlock
			}
		default:
			return protocol.RuleBlock
		}
	}
	return protocol.RuleContinue
}
