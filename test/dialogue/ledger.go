package dialogue

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Ledger is hooks without a project that count the calls of which they are told: how often each
// started, and how often it ended.
type Ledger struct {
	Gate

	mu           sync.Mutex
	starts, ends map[string]int // by the id of the call
	unsure       []string       // ends that would not reach hooks if the connection ended first
}

// NewLedger returns hooks that count.
func NewLedger(hooks Gate) *Ledger {
	return &Ledger{Gate: hooks, starts: map[string]int{}, ends: map[string]int{}}
}

// Begin counts a start at once, and an end when it is told.
func (l *Ledger) Begin(ctx context.Context, event protocol.Event) func() (protocol.Outcome, error) {
	decide := l.Gate.Begin(ctx, event)
	id := jsonspan.Text(jsonspan.Get(event.Data, "toolCallId"))
	switch event.Event {
	case protocol.ToolCallStart:
		l.count(l.starts, id)
	case protocol.ToolCallEnd, protocol.ToolCallError:
		if !event.Due && !event.Detached {
			l.mu.Lock()
			l.unsure = append(l.unsure, id)
			l.mu.Unlock()
		}
		return func() (protocol.Outcome, error) {
			l.count(l.ends, id)
			return decide()
		}
	}
	return decide
}

func (l *Ledger) count(what map[string]int, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what[id]++
}

// Started is how many starts there were.
func (l *Ledger) Started() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, times := range l.starts {
		n += times
	}
	return n
}

// Settled fails the test unless each call ended as often as it started. The proxy has returned.
func (l *Ledger) Settled(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(l.starts)) {
		if l.starts[id] != l.ends[id] {
			t.Errorf("the call %s started %d times for hooks, and ended %d times", id, l.starts[id], l.ends[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(l.ends)) {
		if l.starts[id] == 0 {
			t.Errorf("the call %s ended %d times for hooks, and never started", id, l.ends[id])
		}
	}
	if len(l.unsure) > 0 {
		t.Errorf("ends that hooks may not hear of: %q", l.unsure)
	}
}
