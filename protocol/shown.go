package protocol

import (
	"slices"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// Shows reports whether a screen may show a change with its values, from what to
// what: only of a call's arguments, which a person must see as they run, and only
// while no sensitive hook took part. All else that a hook changed (a tool's result, a
// prompt, the model's words) it may have changed because something in it was to be
// seen by nobody: of that a screen tells who changed what, and how much.
func (o *Outcome) Shows(c *Change) bool {
	if o.Event.Event != ToolCallStart || !changesArgs(*c) {
		return false
	}
	for i := range o.Changes {
		if o.Changes[i].Sensitive {
			return false
		}
	}
	return true
}

// Shown is the outcome as a screen may show it. A refused event is as it came in, so
// that what hooks had taken out before the refusal would be in it again: Shown has it
// as they changed it.
func (o Outcome) Shown() Outcome {
	for i := range o.Changes {
		if o.Action == Block && !o.Shows(&o.Changes[i]) {
			o.Event = o.changed
			break
		}
	}
	return o
}

// Redacted is a refused call's args as hooks had changed them, where a sensitive one
// took part: the host goes on with these, for what that hook took away is nobody's to
// read, also of a call that does not run. It is nil in any other outcome.
func (o *Outcome) Redacted() RawMessage {
	sensitive := slices.ContainsFunc(o.Changes, func(c Change) bool { return c.Sensitive && changesArgs(c) })
	if o.Action != Block || !sensitive {
		return nil
	}
	return jsonspan.Get(o.changed.Data, "args")
}
