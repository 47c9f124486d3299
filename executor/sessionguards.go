package executor

import (
	"cmp"
	"slices"
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// maxSessions bounds the sessions whose guards are remembered.
const maxSessions = 4096

// sessionGuards remembers the guards that each session began with: removing a guard, or
// making it harmless, must not be a way past it. A guard that is missing
// altogether is asked as failure gone; one that is there but guards no more is asked as
// it was. A guard that a person switched off is not asked, one that only
// watches (monitor) refuses nothing.
type sessionGuards struct {
	mu       sync.Mutex
	sessions map[string]*guardsOfSession
	clock    int64
}

type guardsOfSession struct {
	guards   []*Hook // when the session began
	set      *Set    // the newest, for which vanished was worked out
	vanished map[hookKey]*Hook
	used     int64
}

// hooks returns the hooks of an event in running order. With hasVanished, guards of its session
// that the set no longer has are among them.
func (g *sessionGuards) hooks(set *Set, ev *protocol.Event) (hooks []*Hook, hasVanished bool) {
	listed := set.For(ev.Event)
	if ev.Session.ID == "" {
		return listed, false
	}
	vanished := g.vanished(set, ev)
	if len(vanished) == 0 {
		return listed, false
	}
	all := slices.DeleteFunc(slices.Clone(listed), func(h *Hook) bool { return vanished[keyOf(h)] != nil })
	for _, h := range vanished {
		if slices.Contains(h.Events, ev.Event) {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, compareHooks)
	return all, true
}

// vanished returns the guards of a session that set does not have as guards. A session
// that starts begins anew.
func (g *sessionGuards) vanished(set *Set, ev *protocol.Event) map[hookKey]*Hook {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clock++
	s := g.sessions[ev.Session.ID]
	if s == nil && set.Refuse != nil {
		return nil // not the hooks that this session is to be held to
	}
	if s == nil || (ev.Event == protocol.SessionStart && ev.Agent.Depth == 0) {
		if g.sessions == nil {
			g.sessions = map[string]*guardsOfSession{}
		}
		if s == nil && len(g.sessions) >= maxSessions {
			g.evict()
		}
		s = &guardsOfSession{set: set, guards: guardsOf(set)}
		g.sessions[ev.Session.ID] = s
	}
	s.used = g.clock
	if s.set != set {
		s.set, s.vanished = set, vanishedGuards(s.guards, set)
	}
	return s.vanished
}

// guardsOf returns the guards of a set.
func guardsOf(set *Set) []*Hook {
	var guards []*Hook
	for _, h := range set.Hooks {
		if h.runs() && h.Guards() {
			guards = append(guards, h)
		}
	}
	return guards
}

// vanishedGuards returns the guards that are asked in place of what set lists under their
// name.
func vanishedGuards(guards []*Hook, set *Set) map[hookKey]*Hook {
	vanished := map[hookKey]*Hook{}
	for _, h := range guards {
		switch now := set.index.byKey[keyOf(h)]; {
		case now == nil:
			vanished[keyOf(h)] = goneGuard(h)
		case now.SwitchedOff, now.Monitored, now.runs() && now.Guards():
		default:
			vanished[keyOf(h)] = h
		}
	}
	return vanished
}

// goneGuard returns the failure that stands in place of a guard.
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
func (g *sessionGuards) evict() {
	ids := make([]string, 0, len(g.sessions))
	for id := range g.sessions {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(g.sessions[a].used, g.sessions[b].used) })
	for _, id := range ids[:len(ids)/4] {
		delete(g.sessions, id)
	}
}

func (g *sessionGuards) forget(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sessions, session)
}
