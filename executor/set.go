package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Set is one immutable snapshot of everything that rules an event: the hooks in
// running order and the effective settings. An event uses one Set from begin to
// end. Build one with [NewSet].
type Set struct {
	Generation  int64
	Project     string // absolute path, "" without a project
	Settings    schema.Settings
	ManagedHash string           // hash of the managed layer, "" without one
	Hooks       []*Hook          // in running order, those that cannot run included
	Findings    []schema.Finding // what was wrong while it was built, for the record

	// Refuse, when set, refuses every gate: settings that could hold a guard
	// cannot be read.
	Refuse *protocol.Failure

	byEvent    map[protocol.EventName][]*Hook
	candidates *candidates
	listed     map[hookKey]*Hook
	ways       map[string]string        // what stands before the names of each project's hooks
	peopled    map[protocol.Origin]bool // where hooks come from that are programs
	hash       string                   // of the hooks, their status and order
}

// Source hands out the current Set. An event takes it once.
type Source interface{ Current() *Set }

// Current makes a Set its own Source, one that never changes.
func (s *Set) Current() *Set { return s }

// hookKey names a hook: equal names in different layers are different hooks.
type hookKey struct {
	layer protocol.Layer
	name  string
}

func keyOf(h *Hook) hookKey { return hookKey{h.Layer, h.Name} }

func originOf(h *Hook) protocol.Origin { return protocol.OriginOf(h.Layer, h.Name) }

// String is the key as it stands in files and messages: layer/name.
func (k hookKey) String() string { return string(k.layer) + "/" + k.name }

// MatchError is a matcher that does not compile.
type MatchError struct {
	Hook *Hook
	Key  string // tool, source, agent, step or when
	Err  error
}

func (e MatchError) Error() string {
	return fmt.Sprintf("hook %s: match.%s: %v", e.Hook.Name, e.Key, e.Err)
}

func (e MatchError) Unwrap() error { return e.Err }

// NewSet returns a copy of set with its hooks in running order, their matchers
// compiled and everything indexed by event. The order of set.Hooks does not
// matter, and neither set nor its hooks are changed or kept.
//
// A hook whose matcher does not compile is rejected and named in the errors. If
// it could be a guard it stays in place as failure settings at its events, so
// that a typing error never lets an event through.
func NewSet(set Set) (*Set, []MatchError) {
	var errs []MatchError
	set.Settings = filled(set.Settings)
	hooks := make([]*Hook, len(set.Hooks))
	for i, given := range set.Hooks {
		h := *given
		if h.Timeout <= 0 { // of a Go hook that states none
			h.Timeout = set.of(&h).Timeout
		}
		match := h.Match
		if h.Status == Untrusted {
			match.When = "" // it is not evaluated: it counts as a match
		}
		m, key, err := compileMatch(&match)
		h.match = m
		if err != nil {
			rejectMatch(&h, key, err)
			errs = append(errs, MatchError{&h, key, err})
		}
		hooks[i] = &h
	}
	slices.SortFunc(hooks, compareHooks)
	slices.SortStableFunc(errs, func(a, b MatchError) int { return compareHooks(a.Hook, b.Hook) })
	set.Hooks = hooks
	set.index()
	return &set, errs
}

func rejectMatch(h *Hook, key string, err error) {
	h.Status, h.Asker = Rejected, nil
	h.Why = fmt.Sprintf("match.%s: %v", key, err)
	if h.CouldGuard() && h.Enabled && h.Fault == nil {
		h.Fault = &protocol.Failure{
			Kind:   protocol.FailSettings,
			Detail: h.Why,
			Remedy: "correct the hook's match, then run hookd check",
		}
	}
}

// index builds the lookup tables. A hook that does not run and is no failure
// either is not in them: it is only listed.
func (s *Set) index() {
	s.byEvent = make(map[protocol.EventName][]*Hook, len(protocol.Table))
	s.listed = make(map[hookKey]*Hook, len(s.Hooks))
	s.ways = map[string]string{}
	s.peopled = map[protocol.Origin]bool{}
	s.candidates = &candidates{looks: map[protocol.EventName]bool{}}
	sum := sha256.New()
	for _, h := range s.Hooks {
		s.listed[keyOf(h)] = h
		if h.Home != "" {
			s.ways[h.Home] = wayOf(h)
		}
		if h.Asker != nil && !h.Info().InProcess {
			s.peopled[originOf(h)] = true
		}
		fmt.Fprintf(sum, "%q %q %q %q %q\n", h.Layer, h.Name, h.Hash, h.Status, h.Mode)
		for _, name := range h.Events {
			if list := s.byEvent[name]; len(list) == 0 || list[len(list)-1] != h {
				s.byEvent[name] = append(list, h)
			}
			if spec := protocol.Lookup(name); spec != nil && h.match.looks(spec) {
				s.candidates.looks[name] = true
			}
		}
	}
	s.hash = "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// For returns the hooks of an event in running order, those that cannot run
// included. The slice is shared and not to be changed.
func (s *Set) For(event protocol.EventName) []*Hook { return s.byEvent[event] }

// originsAbove counts the origins above one that have programs.
func (s *Set) originsAbove(origin protocol.Origin) int {
	n := 0
	for above := range s.peopled {
		if above.Compare(origin) > 0 {
			n++
		}
	}
	return n
}

// Hash names the set by content: its hooks, their bundles and their status.
func (s *Set) Hash() string { return s.hash }

// runs reports whether a hook takes part in events at all.
func (h *Hook) runs() bool { return h.Fault != nil || h.Asker != nil }
