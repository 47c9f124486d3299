package executor

import "github.com/hookd-dev/hookd/protocol"

// MayChange reports whether a hook that may block or change an event could match
// it, so that a host keeps back what the event is about until it was decided
// (§1.1). Only what is known before the event counts: its name, the agent, and the
// tool where the data names one; a condition on anything else may come true.
func (e *Executor) MayChange(ev protocol.Event) bool {
	return e.source.Current().mayChange(&ev)
}

func (set *Set) mayChange(ev *protocol.Event) bool {
	if set == nil || set.Refuse != nil {
		return true
	}
	for _, h := range set.For(ev.Event) {
		if h.Decides() && !h.Watches && h.match.mayMatch(ev) {
			return true
		}
	}
	return false
}

// Decides reports whether the hook's answer can refuse or change an event.
func (h *Hook) Decides() bool {
	return h.runs() && h.Mode != protocol.Audit && (h.Can != protocol.CanObserve || h.Required)
}
