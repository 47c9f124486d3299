package foreignhooks

import (
	"fmt"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// Agent is the hook protocol of one agent from the other side: hookd stands in the
// agent's place, and asks hooks that were written for it.
type Agent struct {
	Name   string // as the field dialect of a hook says it
	Title  string
	Events []HookEvent

	// Unit is what a bare number of a time-out means there, and Limit how long a hook may
	// take that states nothing.
	Unit  time.Duration
	Limit time.Duration

	// Arg is the word that the hook's program gets after its own arguments, "" for none.
	Arg string

	// ProjectVariables are the variables in which the agent names the project's folder.
	ProjectVariables []string

	// claudeNames says that it has events by Claude Code's names besides its own, and asks
	// hooks of those in Claude Code's way.
	claudeNames bool

	// FailsOpen says in words what goes on although a hook failed, for the person who
	// relies on the hook. "" if nothing does.
	FailsOpen string

	env     func(a *Asking) []string
	input   func(a *Asking) object.Object
	reply   func(a *Asking, end *Ending) said
	matcher func(matcher string) (fits, error)
	subject func(a *Asking) []string                           // what a matcher is compared with; nil: the tool's names
	closed  func(e *HookEvent, kind protocol.FailureKind) bool // whether such a failure refuses there; nil: it passes
}

// HookEvent is one event that an agent asks its hooks about.
type HookEvent struct {
	Name  string             // the agent's own name of it
	Event protocol.EventName // ours, "" if hookd has none like it

	// Refuses says that a hook can refuse there what the event announces. A hook that
	// cannot be asked refuses it.
	Refuses bool

	// Only are the kinds or names of tools that the event is about, empty for all.
	Only []string
}

// Own is the name of hookd's own protocol.
const Own = "hookd"

// Known returns the event of that agent's own name, nil if it has none.
func (f *Agent) Known(name string) *HookEvent {
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
	if e := f.Known(name); e != nil {
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
		if e := f.Known(name); e != nil && e.Event == event {
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

// ShellLine is the command line that runs a command as the agents do that write it as one
// string.
func ShellLine(command string) []string { return []string{"/bin/sh", "-c", command} }

// ShellText is the command of [ShellLine]. ok is false for any other command line.
func ShellText(command []string) (text string, ok bool) {
	if len(command) != 3 || command[0] != "/bin/sh" || command[1] != "-c" {
		return "", false
	}
	return command[2], true
}
