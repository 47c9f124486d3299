package executor

import (
	"cmp"
	"slices"
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// maxSessions bounds the sessions whose guards are remembered.
const maxSessions = 4096

// memory holds the guards that each session began with: taking a guard away, or
// making it harmless, must not be a way past it (§7). One that is missing
// altogether is asked as failure gone, one that is there but guards no more is
// asked as it was. A guard that a person switched off is not asked.
type memory struct {
	mu       sync.Mutex
	sessions map[string]*remembered
	clock    int64
}

type remembered struct {
	guards []*Hook
	set    *Set              // the set that kept was worked out for
	kept   map[hookKey]*Hook // guards that stand in place of what the set lists
	used   int64
}

// hooks returns the hooks of an event in running order, with the guards of its
// session that the set no longer has; keeps says that there are such.
func (m *memory) hooks(set *Set, ev *protocol.Event) (hooks []*Hook, keeps bool) {
	listed := set.For(ev.Event)
	if ev.Session.ID == "" {
		return listed, false
	}
	kept := m.kept(set, ev)
	if len(kept) == 0 {
		return listed, false
	}
	all := slices.DeleteFunc(slices.Clone(listed), func(h *Hook) bool { return kept[keyOf(h)] != nil })
	for _, h := range kept {
		if slices.Contains(h.Events, ev.Event) {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, compareHooks)
	return all, true
}

// kept returns the guards of a session that set does not have as guards. A
// session that starts begins anew.
func (m *memory) kept(set *Set, ev *protocol.Event) map[hookKey]*Hook {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock++
	r := m.sessions[ev.Session.ID]
	if r == nil && set.Refuse != nil {
		return nil // not the hooks that this session is to be held to
	}
	if r == nil || (ev.Event == protocol.SessionStart && ev.Agent.Depth == 0) {
		if m.sessions == nil {
			m.sessions = map[string]*remembered{}
		}
		if r == nil && len(m.sessions) >= maxSessions {
			m.evict()
		}
		r = &remembered{set: set, guards: guardsOf(set)}
		m.sessions[ev.Session.ID] = r
	}
	r.used = m.clock
	if r.set != set {
		r.set, r.kept = set, keep(r.guards, set)
	}
	return r.kept
}

// keep works out which guards stand in place of what set lists under their name.
func keep(guards []*Hook, set *Set) map[hookKey]*Hook {
	kept := map[hookKey]*Hook{}
	for _, h := range guards {
		switch now := set.listed[keyOf(h)]; {
		case now == nil:
			kept[keyOf(h)] = goneGuard(h)
		case now.SwitchedOff || now.runs() && now.Guards():
		default:
			kept[keyOf(h)] = h
		}
	}
	return kept
}

func guardsOf(set *Set) []*Hook {
	var guards []*Hook
	for _, h := range set.Hooks {
		if h.runs() && h.Guards() {
			guards = append(guards, h)
		}
	}
	return guards
}

func goneGuard(h *Hook) *Hook {
	gone := *h
	gone.Asker, gone.Status = nil, Gone
	gone.Why = "it was there when the session began and is not any more"
	gone.Fault = &protocol.Failure{
		Kind: protocol.FailGone, Detail: gone.Why,
		Remedy: "put it back, or disable it with hookd disable, or begin a new session",
	}
	return &gone
}

// evict forgets the quarter of the sessions that was used longest ago.
func (m *memory) evict() {
	ids := make([]string, 0, len(m.sessions))
	for id := range m.sessions {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(m.sessions[a].used, m.sessions[b].used) })
	for _, id := range ids[:len(ids)/4] {
		delete(m.sessions, id)
	}
}

func (m *memory) forget(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, session)
}
