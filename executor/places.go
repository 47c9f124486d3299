package executor

import (
	"container/list"
	"context"
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// places are the hook processes that may run at once (hooks.processes). All hooks
// share them, within what the settings of their own layer allow, and however many
// hang, a hook of a higher layer, or of a project above, finds one: each leaves one
// place to each above it that has hooks, and where the limit is too small for that, one
// process more may run. Those that nobody waits for have at most half of the
// places, so that slow observers do not hold up an event.
type places struct {
	mu      sync.Mutex
	taken   map[claim]int
	waiting list.List // of *applicant, in the order in which they came
}

// claim is who wants a place.
type claim struct {
	origin    protocol.Origin
	unhurried bool // nobody waits for it
}

type applicant struct {
	claim
	limit int // of all processes together, as the hook's own layer sees it
	kept  int // of these, places that are left to higher ones
	ready chan struct{}
}

// take waits for a place and returns what gives it back.
func (p *places) take(ctx context.Context, c claim, limit, kept int) (release func(), err error) {
	a := &applicant{claim: c, limit: limit, kept: kept, ready: make(chan struct{})}
	p.mu.Lock()
	place := p.waiting.PushBack(a)
	p.serve()
	p.mu.Unlock()
	select {
	case <-a.ready:
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		select {
		case <-a.ready: // in the same moment
			p.leave(c)
		default:
			p.waiting.Remove(place)
			p.serve() // others may wait after it
		}
		return nil, context.Cause(ctx)
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.leave(c)
	}, nil
}

// leave gives a place back. p.mu is held.
func (p *places) leave(c claim) {
	p.taken[c]--
	p.serve()
}

// serve gives places to those that may have one. p.mu is held.
func (p *places) serve() {
	if p.taken == nil {
		p.taken = map[claim]int{}
	}
	for e := p.waiting.Front(); e != nil; {
		next := e.Next()
		if a := e.Value.(*applicant); p.mayEnter(a) {
			p.taken[a.claim]++
			p.waiting.Remove(e)
			close(a.ready)
		}
		e = next
	}
}

// mayEnter reports whether a place is free for a hook. p.mu is held.
func (p *places) mayEnter(a *applicant) bool {
	all, unhurried, above := 0, 0, 0
	for c, n := range p.taken {
		all += n
		if c.unhurried {
			unhurried += n
		}
		if c.unhurried == a.unhurried && c.origin.Compare(a.origin) >= 0 {
			above += n
		}
	}
	// Nothing of its kind runs for its origin or one above: what stands in its way
	// belongs to lower ones.
	if above == 0 && a.origin.Compare(protocol.Origin{Layer: protocol.Project}) > 0 {
		return true
	}
	most := max(1, a.limit-a.kept)
	return all < most && (!a.unhurried || unhurried < max(1, a.limit/2))
}
