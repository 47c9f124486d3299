package foreignhooks

import (
	"slices"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
	"github.com/hookd-dev/hookd/protocol/toolname"
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

// AskEach returns how the hook is asked about an event: once, or, about a call on several
// files that its agent has no tool for, once for each file. It is empty if the event does
// not concern the hook. project is the folder that the agent would call its project.
func (s *Selector) AskEach(ev *protocol.Event, project string) (list []*Asking) {
	first := s.ask(ev, project, "")
	if first == nil {
		return nil
	}
	files := first.call.files
	if len(files) < 2 {
		return []*Asking{first}
	}
	for _, file := range files {
		if a := s.ask(ev, project, file); a != nil {
			list = append(list, a)
		}
	}
	return list
}

// Ask is [Selector.AskEach] for an event that is asked about once.
func (s *Selector) Ask(ev *protocol.Event, project string) *Asking { return s.ask(ev, project, "") }

// ask asks about one file of a call that names several, or about the whole call.
func (s *Selector) ask(ev *protocol.Event, project, file string) *Asking {
	for _, e := range s.agent.eventsFor(ev.Event, s.named) {
		a := &Asking{agent: s.agent, event: e, ev: ev, project: project, data: object.Reader{JSON: ev.Data}, file: file}
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
	return len(a.event.Only) == 0 || a.call.name == "" || slices.ContainsFunc(a.event.Only, func(only string) bool {
		return only == a.call.name || toolname.MayBe(a.call.name, a.call.kind, protocol.ToolKind(only))
	})
}

// matches compares the matcher in the agent's own way. An event that names nothing to
// compare with matches, so that a guard is asked.
func (a *Asking) matches(fits fits) bool {
	if fits == nil {
		return true
	}
	subjects := a.call.names
	if a.agent.subject != nil {
		subjects = a.agent.subject(a)
	}
	return len(subjects) == 0 || slices.ContainsFunc(subjects, fits)
}
