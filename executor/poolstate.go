package executor

import (
	"github.com/hookd-dev/hookd/schema"
)

// PoolState is what is kept for one hook.
type PoolState struct {
	Size     int   `json:"size"`     // processes that may be kept
	Ready    int   `json:"ready"`    // that wait
	Started  int64 `json:"started"`  // since the hook began to rule
	Used     int64 `json:"used"`     // events that a kept process answered
	Restarts int64 `json:"restarts"` // processes that were no use
}

// PoolState tells what is kept for the hook, nil for one that runs once per event.
func (h *Hook) PoolState() *PoolState {
	holder, ok := h.Asker.(interface{ of() *standing })
	if !ok {
		return nil
	}
	s := holder.of()
	state := &PoolState{Size: s.config.Pool}
	if s.config.Mode == schema.Resident {
		state.Size = seatsMost
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if l := s.pool.lines[s.id]; l != nil {
		state.Ready, state.Started, state.Used, state.Restarts = len(l.spares), l.started, l.uses, l.restarts
		for _, seat := range l.seats {
			if seat.users == 0 && seat.holds != nil {
				state.Ready++
			}
		}
	}
	return state
}
