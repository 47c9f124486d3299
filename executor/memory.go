package executor

import (
	"cmp"
	"slices"
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// maxSessions bounds the sessions whose guards are remembered.
const maxSessions = 4096

// memory holds the guards that each session began with. A guard that is later
// missing altogether is asked as failure gone: taking its file away must not be
// a way past it. One that is listed as disabled or denied is missing by a
// person's decision, and not asked.
type memory struct {
	mu       sync.Mutex
	sessions map[string]*remembered
	clock    int64
}

type remembered struct {
	guards  []*Hook
	set     *Set    // the set that missing was worked out for
	missing []*Hook // guards that it does not list, as failures
	used    int64
}

// hooks returns the hooks of an event in running order, with the guards of its
// session that are gone.
func (m *memory) hooks(set *Set, ev *protocol.Event) []*Hook {
	listed := set.For(ev.Event)
	if ev.Session.ID == "" {
		return listed
	}
	missing := m.missing(set, ev)
	if len(missing) == 0 {
		return listed
	}
	all := slices.Clone(listed)
	for _, h := range missing {
		if slices.Contains(h.Events, ev.Event) {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, compareHooks)
	return all
}

// missing returns the guards of a session that set does not list. A session that
// starts begins anew.
func (m *memory) missing(set *Set, ev *protocol.Event) []*Hook {
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
		r.set, r.missing = set, nil
		for _, h := range r.guards {
			if !set.present[keyOf(h)] {
				r.missing = append(r.missing, goneGuard(h))
			}
		}
	}
	return r.missing
}

func guardsOf(set *Set) []*Hook {
	var guards []*Hook
	for _, h := range set.Hooks {
		if h.CouldGuard() && h.runs() && h.Mode != protocol.Audit {
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
