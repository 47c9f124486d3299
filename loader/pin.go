package loader

import (
	"sync"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

// Pin returns a source for one run: the current set, and with it every guard
// that the run began with. A guard that vanishes or weakens while the run goes
// on is asked as it was; one that was made stricter, or corrected, counts as it
// is now. What a person switches off with hookd disable stays off.
func Pin(source executor.Source) executor.Source {
	return &pinned{source: source, began: source.Current()}
}

type pinned struct {
	source executor.Source
	began  *executor.Set

	mu     sync.Mutex
	of     *executor.Set // the set that merged was made of
	merged *executor.Set
}

func (p *pinned) Current() *executor.Set {
	now := p.source.Current()
	if now == p.began {
		return now
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of != now {
		p.of, p.merged = now, keepGuards(p.began, now)
	}
	return p.merged
}

type hookName struct {
	layer protocol.Layer
	name  string
}

func keepGuards(began, now *executor.Set) *executor.Set {
	stands := map[hookName]bool{}
	for _, h := range now.Hooks {
		if h.Status == executor.Disabled && h.Why != "" && isDisabledByPerson(h.Why) || active(h) && guards(&h.Hook) {
			stands[hookName{h.Layer, h.Name}] = true
		}
	}
	var kept []*executor.Hook
	for _, h := range began.Hooks {
		if active(h) && guards(&h.Hook) && !stands[hookName{h.Layer, h.Name}] {
			kept = append(kept, h)
			stands[hookName{h.Layer, h.Name}] = false
		}
	}
	if len(kept) == 0 {
		return now
	}
	merged := *now
	merged.Hooks = kept
	for _, h := range now.Hooks {
		if keep, known := stands[hookName{h.Layer, h.Name}]; keep || !known {
			merged.Hooks = append(merged.Hooks, h)
		}
	}
	set, _ := executor.NewSet(merged)
	return set
}

func active(h *executor.Hook) bool { return h.Asker != nil || h.Fault != nil }
