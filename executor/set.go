package executor

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/executor/internal/match"
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

	index index
}

// index is what NewSet works out of a set's hooks.
type index struct {
	byEvent    map[protocol.EventName][]*Hook
	byKey      map[hookKey]*Hook
	candidates *candidates
	prefixes   map[string]string        // by project: what stands before the names of its hooks
	programs   map[protocol.Origin]bool // where hooks come from that are programs
	hash       string                   // of the hooks, their status and order
}

// Source hands out the current Set. An event takes it once.
type Source interface{ Current() *Set }

// Current makes a Set its own Source, one that never changes.
func (s *Set) Current() *Set { return s }

// refusingSet is the set of a source that has none: nothing is known about the guards,
// so no gate is passed.
var refusingSet = sync.OnceValue(func() *Set {
	set, _ := NewSet(Set{Refuse: &protocol.Failure{
		Kind: protocol.FailSettings, Detail: "no set of hooks was ever loaded",
	}})
	return set
})

// ImportedFrom returns the hooks that were read from the settings of one agent. That agent
// runs them itself, so a bridge does not have them asked about its events.
func (s *Set) ImportedFrom(agent string) (hooks []protocol.HookRef) {
	for _, h := range s.Hooks {
		if h.Imported != nil && h.Imported.Agent == agent {
			hooks = append(hooks, protocol.HookRef{Layer: h.Layer, Name: h.Name})
		}
	}
	return hooks
}

// MatchError is a matcher that does not compile.
type MatchError struct {
	Hook *Hook
	Key  string // tool, source, agent, step, command, path or when
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
	set.Settings = withDefaults(set.Settings)
	hooks := make([]*Hook, len(set.Hooks))
	for i, given := range set.Hooks {
		h := *given
		if h.Timeout <= 0 { // of a Go hook that states none
			h.Timeout = set.settingsOf(&h).Timeout
		}
		wanted := h.Match
		if h.Status == Untrusted {
			wanted.When, wanted.Command, wanted.Path = "", nil, nil // not evaluated: they count as a match
		}
		if f := h.Foreign(); f != nil {
			h.selector, _ = f.Select(h.Named, h.Matcher) // one that cannot be compared selects all
		}
		m, key, err := match.Compile(&wanted)
		m.Whole = h.Reply != nil && h.Reply.Grants()
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
	set.index = newIndex(hooks)
	return &set, errs
}

func rejectMatch(h *Hook, key string, err error) {
	h.Status, h.Asker = Rejected, nil
	h.Why = fmt.Sprintf("match.%s: %v", key, err)
	if (h.CouldGuard() || h.ByDialect) && h.Enabled && h.Fault == nil {
		h.Fault = &protocol.Failure{
			Kind:   protocol.FailSettings,
			Detail: h.Why,
			Remedy: "correct the hook's match, then run hookd check",
		}
	}
}

// newIndex builds the lookup tables of hooks that are in running order.
func newIndex(hooks []*Hook) index {
	x := index{
		byEvent: make(map[protocol.EventName][]*Hook, len(protocol.Table)), byKey: make(map[hookKey]*Hook, len(hooks)),
		prefixes: map[string]string{}, programs: map[protocol.Origin]bool{},
		candidates: &candidates{compares: map[protocol.EventName]bool{}},
	}
	sum := sha256.New()
	for _, h := range hooks {
		x.byKey[keyOf(h)] = h
		if h.Home != "" {
			x.prefixes[h.Home] = projectPrefix(h)
		}
		if h.Asker != nil && !h.Info().InProcess {
			x.programs[originOf(h)] = true
		}
		fmt.Fprintf(sum, "%q %q %q %q %q\n", h.Layer, h.Name, h.Hash, h.Status, h.Mode)
		for _, name := range h.Events {
			if list := x.byEvent[name]; len(list) == 0 || list[len(list)-1] != h {
				x.byEvent[name] = append(list, h)
			}
			if spec := protocol.Lookup(name); spec != nil && h.match.Compares(spec) {
				x.candidates.compares[name] = true
			}
		}
	}
	x.hash = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	return x
}

// For returns the hooks of an event in running order, those that cannot run
// included. The slice is shared and not to be changed.
func (s *Set) For(event protocol.EventName) []*Hook { return s.index.byEvent[event] }

// Hash names the set by content: its hooks, their bundles and their status.
func (s *Set) Hash() string { return s.index.hash }

// originsAbove counts the origins above one that have programs.
func (s *Set) originsAbove(origin protocol.Origin) int {
	n := 0
	for above := range s.index.programs {
		if above.Compare(origin) > 0 {
			n++
		}
	}
	return n
}

// mayChange reports whether a hook that may block or change an event could match it.
func (s *Set) mayChange(ev *protocol.Event) bool {
	if s == nil || s.Refuse != nil {
		return true
	}
	for _, h := range s.For(ev.Event) {
		if h.Decides() && !h.Watches && h.match.MayFit(ev) {
			return true
		}
	}
	return false
}

// refusing returns the hook that refuses an event and every other one with the same agent
// and tool, nil if none is known to.
func (s *Set) refusing(ev *protocol.Event) *Hook {
	if s == nil || s.Refuse != nil {
		return nil
	}
	in := match.NewInput(ev, nil)
	for _, h := range s.For(ev.Event) {
		always := h.Status == Ready && h.Fault == nil && h.Mode != protocol.Audit && h.Info().Refuses
		if always && !h.match.HasCondition() && h.match.Fits(&in.Input) {
			return h
		}
	}
	return nil
}

// settingsOf returns the settings that bind a hook: those of its own layer and the
// layers above. What a lower layer writes changes nothing of what the hook is asked,
// may answer, keeps, or may take.
func (s *Set) settingsOf(h *Hook) *schema.HookSettings {
	if h.Own != nil {
		return h.Own
	}
	return &s.Settings.Hooks
}

// SettingsOf returns the settings that bind the hooks of an origin. For an origin
// without hooks they are the effective ones.
func (s *Set) SettingsOf(origin protocol.Origin) schema.HookSettings {
	for _, h := range s.Hooks {
		if originOf(h) == origin {
			return *s.settingsOf(h)
		}
	}
	return s.Settings.Hooks
}

// layers are those that hooks come from, from the highest to the lowest.
var layers = []protocol.Layer{protocol.Managed, protocol.User, protocol.Project, protocol.Builtin}

// drainOf returns how long the observers of a layer may still run at the end: the
// longest that its hooks have, so that an inner project takes nothing from an outer
// one.
func (s *Set) drainOf(layer protocol.Layer) time.Duration {
	drain, hooks := time.Duration(0), false
	for _, h := range s.Hooks {
		if h.Layer == layer {
			drain, hooks = max(drain, s.settingsOf(h).Drain), true
		}
	}
	if !hooks {
		return s.Settings.Hooks.Drain
	}
	return drain
}

// longestKeep returns how long what hooks remember of old sessions is kept: as long as
// the layer of any hook keeps records, 0 for ever. A lower layer that keeps its
// records for a day takes no memory from a hook of a higher one.
func (s *Set) longestKeep() time.Duration {
	keep := s.Settings.Hooks.Records.Keep
	for _, h := range s.Hooks {
		own := s.settingsOf(h).Records.Keep
		if own == 0 || keep == 0 {
			return 0
		}
		keep = max(keep, own)
	}
	return keep
}

// withDefaults returns settings with a value for every key. Settings that were never
// made are the defaults. In all others 0 means 0, but for the keys whose range has
// no 0: those are the default then.
func withDefaults(s schema.Settings) schema.Settings {
	if reflect.ValueOf(s).IsZero() {
		return schema.DefaultSettings()
	}
	s.Complete()
	return s
}

// stage is the part of an event in which a hook is asked.
type stage int

const (
	stageModify stage = iota
	stageBlock
	stageObserve
)

// stageOf returns the stage in which a hook is asked. An audit hook is asked like an
// observer whatever its class: its answer has no effect, so nothing waits for it.
func stageOf(h *Hook) stage {
	if h.Mode == protocol.Audit {
		return stageObserve
	}
	return classRank(h.Can)
}

func classRank(c protocol.Class) stage {
	switch c {
	case protocol.CanBlock:
		return stageBlock
	case protocol.CanObserve:
		return stageObserve
	default:
		return stageModify
	}
}

// compareHooks is the running order: stage, class, layer, an outer project after
// the inner ones, priority with the higher first, natural name. The last three keys
// only make the order total, so that it never depends on where a list of hooks came
// from.
func compareHooks(a, b *Hook) int {
	return cmp.Or(
		cmp.Compare(stageOf(a), stageOf(b)),
		cmp.Compare(classRank(a.Can), classRank(b.Can)),
		cmp.Compare(a.Layer.Rank(), b.Layer.Rank()),
		cmp.Compare(a.Outer, b.Outer),
		cmp.Compare(b.Priority, a.Priority),
		compareNatural(a.Name, b.Name),
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Hash, b.Hash),
		cmp.Compare(a.Status, b.Status),
	)
}

// compareNatural is the order of names: runs of digits compare as numbers
// of any length, all else by bytes, and equal numbers by their bytes. Locale
// plays no part.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		if isDigit(a[0]) && isDigit(b[0]) {
			runA, runB := a[:digits(a)], b[:digits(b)]
			if c := compareNumbers(runA, runB); c != 0 {
				return c
			}
			a, b = a[len(runA):], b[len(runB):]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func compareNumbers(a, b string) int {
	valueA, valueB := strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(
		cmp.Compare(len(valueA), len(valueB)),
		strings.Compare(valueA, valueB),
		strings.Compare(a, b),
	)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}
