package executor

import (
	"cmp"
	"slices"

	"github.com/hookd-dev/hookd/protocol"
)

// explain completes the runs of an event so that every hook is among them which
// somebody may look for, in running order: with the hooks that take part in no event,
// because nobody allowed them or something is wrong with them. Of some it is not even
// known what events they are for.
func (t *trip) explain() {
	for _, h := range t.set.Hooks {
		if h.takesPart() || len(h.Events) > 0 && !slices.Contains(h.Events, t.spec.Name) {
			continue
		}
		run := skippedRun(h, protocol.SkipAbsent)
		run.Detail = string(h.Status)
		if h.Why != "" {
			run.Detail += ": " + h.Why
		}
		t.runs = append(t.runs, run)
	}
	place := make(map[hookKey]int, len(t.set.Hooks))
	for i, h := range t.set.Hooks {
		place[keyOf(h)] = i + 1
	}
	slices.SortStableFunc(t.runs, func(a, b protocol.Run) int {
		return cmp.Compare(place[hookKey{a.Source, a.Hook}], place[hookKey{b.Source, b.Hook}])
	})
}
