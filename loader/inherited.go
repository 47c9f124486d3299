package loader

import (
	"github.com/hookd-dev/hookd/loader/internal/records"
)

// What was allowed in the main checkout holds in its worktrees: what is the same there
// runs there, and what is not the same, or is missing, was changed or lost as in the
// main checkout itself. Or an agent that works in a worktree could rid itself of a
// guard by removing it.

// inherited is the record of something that was allowed in the main checkout, and
// that nobody decided about in the worktree; nil if there is none. Where the main
// checkout is one of the projects further up, it rules by itself.
func (s *scope) inherited(name string) *records.Record {
	if s.elsewhere == nil || s.decisions.Find(name) != nil || s.mainRules {
		return nil
	}
	if r := s.elsewhere.Find(name); r != nil && r.Decision == records.Allowed {
		return r
	}
	return nil
}

// recordOf is the decision about something of a scope, made there or inherited.
func (s *scope) recordOf(name string) *records.Record {
	if r := s.decisions.Find(name); r != nil {
		return r
	}
	return s.inherited(name)
}

// anyAllowed reports whether anything of a scope was allowed, there or in its main
// checkout.
func (s *scope) anyAllowed() bool {
	return s.decisions.AnyAllowed() || s.elsewhere != nil && s.elsewhere.AnyAllowed()
}

// deniedHere reports whether something was denied in a worktree that its main checkout
// allowed.
func (s *scope) deniedHere(name string) bool {
	if s.elsewhere == nil {
		return false
	}
	here, there := s.decisions.Find(name), s.elsewhere.Find(name)
	return here != nil && here.Decision == records.Denied && there != nil && there.Decision == records.Allowed
}

// inheritedGone takes in the hooks of the main checkout that the worktree lacks.
func (g *layerScan) inheritedGone() {
	if g.scope.elsewhere == nil {
		return
	}
	for i := range g.scope.elsewhere.Hooks {
		r := &g.scope.elsewhere.Hooks[i]
		if !r.IsMaterial() && g.byName[r.Hook] == nil && g.scope.inherited(r.Hook) != nil {
			g.recorded(r)
		}
	}
}
