package engine

import (
	"slices"
	"sync"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

// LateRuns are the runs of hooks that nobody waits for: observers, and hooks in audit mode.
// Their runs are in no outcome.
type LateRuns struct {
	mu   sync.Mutex
	list []protocol.Run
}

// isLate reports whether nobody waits for a hook at an event.
func isLate(ev *protocol.Event, h *executor.Hook) bool {
	spec := ev.Spec()
	atNotice := spec != nil && spec.Kind == protocol.Notice
	return atNotice || h.Mode == protocol.Audit || h.Can == protocol.CanObserve && !h.Required
}

// Add keeps a run that is late.
func (l *LateRuns) Add(ev *protocol.Event, h *executor.Hook, run protocol.Run) {
	if !isLate(ev, h) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, run)
}

// Runs returns the runs so far.
func (l *LateRuns) Runs() []protocol.Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}
