package protocol

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// memberOriginal is the member of a call's data in which hooks read the model's own
// args where other hooks changed them. No hook changes it. It is no part of the event
// as it is decided: the host has given these args itself.
const memberOriginal = "original"

// hideOriginal notes that a sensitive hook changed a call's args: what it took away is
// nobody's to read.
func (f Fold) hideOriginal(changes []Change, sensitive bool) Fold {
	if !sensitive || !slices.ContainsFunc(changes, changesArgs) {
		return f
	}
	f.hidden = true
	f.event.Data = jsonspan.Without(f.event.Data, memberOriginal) // one of an earlier event, from the host
	return f
}

// ForHooks is the event with the changes made so far as the next hook reads it: with
// the model's own args where they differ.
func (f Fold) ForHooks() Event { return f.forHooks(f.event) }

func (f Fold) forHooks(ev Event) Event {
	if len(f.changes) == 0 {
		return ev
	}
	if asked := f.ModelArgs(); asked != nil && !f.hidden && jsonspan.Get(ev.Data, memberOriginal) == nil {
		ev.Data = jsonspan.With(ev.Data, memberOriginal, asked)
	}
	return ev
}

// ObserversRead is an outcome's event as observers read it.
func (f Fold) ObserversRead(o *Outcome) Event {
	if o.Action == Block {
		return o.Event // as it came in
	}
	return f.forHooks(o.Event)
}

// ModelArgs are the args of a call as the model gave them, nil where no hook changed
// them. It tells them to hooks in Go also where a sensitive hook changed them.
func (f Fold) ModelArgs() RawMessage {
	if !f.spec.Tool {
		return nil
	}
	asked := jsonspan.Get(f.first.Data, memberOriginal)
	if asked == nil && len(f.changes) > 0 {
		asked = jsonspan.Get(f.first.Data, "args")
	}
	if asked == nil || jsonspan.Equal(asked, jsonspan.Get(f.event.Data, "args")) {
		return nil
	}
	return asked
}

func changesArgs(c Change) bool { return c.Path == "/args" || strings.HasPrefix(c.Path, "/args/") }
