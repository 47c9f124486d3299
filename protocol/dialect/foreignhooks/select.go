package foreignhooks

import (
	"slices"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// Selector says which events a foreign hook is asked about, and as what.
type Selector struct {
	agent *Agent
	named []string
	fits  fits // nil: all
}

// Select compiles what a hook's description says: the names of its events as they stand
// there, and its matcher in the agent's own form. A matcher that hookd cannot compare
// selects all events, so that a guard is asked, and is an error besides.
func (f *Agent) Select(named []string, matcher string) (*Selector, error) {
	s := &Selector{agent: f, named: named}
	if matcher == "" || matcher == "*" {
		return s, nil
	}
	compile := f.matcher
	if f.claudeNames && slices.ContainsFunc(named, isClaudeName) {
		compile = claudeMatcher
	}
	var err error
	s.fits, err = compile(matcher)
	return s, err
}

// Ask returns how the hook is asked about an event, nil if the event does not concern it.
// project is the folder that the agent would call its project.
func (s *Selector) Ask(ev *protocol.Event, project string) *Asking {
	for _, e := range s.agent.eventsFor(ev.Event, s.named) {
		a := &Asking{Agent: s.agent, Event: e, ev: ev, project: project, data: object.Reader{JSON: ev.Data}}
		a.readCall()
		if host := a.data.At("host"); ev.Agent.Host == s.agent.Name && jsonspan.Kind(host) == '{' {
			a.host = host
		}
		if a.concerns() && a.matches(s.fits) {
			return a
		}
	}
	return nil
}

// concerns reports whether the event is about such a call, where it is about one.
func (a *Asking) concerns() bool {
	return len(a.Event.Only) == 0 || a.call.name == "" || slices.Contains(a.Event.Only, string(a.call.kind)) || slices.Contains(a.Event.Only, a.call.name)
}

// matches compares the matcher in the agent's own way. An event that names nothing to
// compare with matches, so that a guard is asked.
func (a *Asking) matches(fits fits) bool {
	if fits == nil {
		return true
	}
	subjects := a.call.names
	if a.Agent.subject != nil {
		subjects = a.Agent.subject(a)
	}
	return len(subjects) == 0 || slices.ContainsFunc(subjects, fits)
}
