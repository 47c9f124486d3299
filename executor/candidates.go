package executor

import (
	"slices"
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// staged are hooks in running order, and the parts of it that the stages of an
// event's trip ask.
type staged struct{ all, modify, block, observe []*Hook }

// stage splits hooks that are in running order, whose first key is the stage.
func stage(hooks []*Hook) *staged {
	first := func(s stageNumber) int {
		at, _ := slices.BinarySearchFunc(hooks, s, func(h *Hook, s stageNumber) int { return int(stageOf(h) - s) })
		return at
	}
	block, observe := first(stageBlock), first(stageObserve)
	return &staged{hooks, hooks[:block], hooks[block:observe], hooks[observe:]}
}

// candidates remembers which hooks of a set are left for an event when all but
// their conditions has been compared. Agents call the same few tools over and
// over, so that an event costs one look-up however many hooks there are.
type candidates struct {
	looks map[protocol.EventName]bool // whether a hook of the event compares its data

	mu    sync.RWMutex
	lists map[traits]*staged
}

// Bounds of what is remembered: tools' names come from a model.
const (
	maxRemembered   = 256
	longestRemember = 200 // bytes of a name
)

func (c *candidates) of(f *facts, hooks []*Hook) *staged {
	key := f.traits
	c.mu.RLock()
	found := c.lists[key]
	c.mu.RUnlock()
	if found != nil {
		return found
	}
	found = stage(mayAsk(hooks, f))
	if len(key.tool)+len(key.kind)+len(key.source)+len(key.step) > longestRemember {
		return found
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lists == nil || len(c.lists) >= maxRemembered {
		c.lists = map[traits]*staged{}
	}
	c.lists[key] = found
	return found
}

// mayAsk returns the hooks that an event may be about: those that take part and
// that no trait of it rules out.
func mayAsk(hooks []*Hook, f *facts) []*Hook {
	var left []*Hook
	for _, h := range hooks {
		if h.takesPart() && h.match.fits(f) {
			left = append(left, h)
		}
	}
	return left
}

// takesPart reports whether a hook is asked, or recorded as one that a person
// has disabled. All others are only listed.
func (h *Hook) takesPart() bool { return h.runs() || h.Status == Disabled }

// asked are the hooks that the event may be about, by stage. With Explain they
// are all hooks of the event, so that those that do not match are named.
func (t *trip) asked() *staged {
	switch {
	case t.candidates != nil:
	case t.executor.options.Explain:
		t.candidates = stage(t.hooks)
	case t.keptGuards:
		t.candidates = stage(mayAsk(t.hooks, t.currentFacts()))
	case len(t.hooks) == 0:
		t.candidates = &nobody
	default:
		f := t.currentFacts()
		if t.set.candidates.looks[t.spec.Name] {
			f.scan()
		}
		t.candidates = t.set.candidates.of(f, t.hooks)
	}
	return t.candidates
}

var nobody staged

// looks reports whether the matcher compares a member of data at such events.
func (m *matcher) looks(spec *protocol.Spec) bool {
	return len(m.tool) > 0 && spec.Tool || len(m.source) > 0 && spec.Source || m.step != "" && spec.StepType
}
