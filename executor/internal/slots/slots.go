package slots

import (
	"container/list"
	"context"
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// Slots are the slots of one executor. The zero value is ready to use.
type Slots struct {
	mu      sync.Mutex
	taken   map[holder]int
	waiting list.List // of *Request, in the order in which they came
}

// holder is on whose account a slot is taken.
type holder struct {
	origin     protocol.Origin
	background bool
}

// Request asks for a slot.
type Request struct {
	Origin     protocol.Origin // of the hook
	Background bool            // no event waits for the hook
	Limit      int             // of all processes together, by the settings of the hook's own layer
	Reserved   int             // of these, slots that are left to the layers above

	granted chan struct{}
}

// Acquire waits for a slot and returns the function that gives it back. The error
// is the cause of ctx.
func (s *Slots) Acquire(ctx context.Context, r Request) (release func(), err error) {
	r.granted = make(chan struct{})
	s.mu.Lock()
	place := s.waiting.PushBack(&r)
	s.grant()
	s.mu.Unlock()
	select {
	case <-r.granted:
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		select {
		case <-r.granted: // in the same moment
			s.release(r.holder())
		default:
			s.waiting.Remove(place)
			s.grant() // others may wait after it
		}
		return nil, context.Cause(ctx)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.release(r.holder())
	}, nil
}

func (r *Request) holder() holder { return holder{r.Origin, r.Background} }

// release gives a slot back. s.mu is held.
func (s *Slots) release(h holder) {
	s.taken[h]--
	s.grant()
}

// grant gives slots to the requests that may have one. s.mu is held.
func (s *Slots) grant() {
	if s.taken == nil {
		s.taken = map[holder]int{}
	}
	for e := s.waiting.Front(); e != nil; {
		next := e.Next()
		if r := e.Value.(*Request); s.mayRun(r) {
			s.taken[r.holder()]++
			s.waiting.Remove(e)
			close(r.granted)
		}
		e = next
	}
}

// mayRun reports whether a slot is free for a request. s.mu is held.
func (s *Slots) mayRun(r *Request) bool {
	all, background, sameOrAbove := 0, 0, 0
	for h, n := range s.taken {
		all += n
		if h.background {
			background += n
		}
		if h.background == r.Background && h.origin.Compare(r.Origin) >= 0 {
			sameOrAbove += n
		}
	}
	// Where nothing of its kind runs for its origin or one above, only lower ones
	// stand in its way.
	if sameOrAbove == 0 && r.Origin.Compare(protocol.Origin{Layer: protocol.Project}) > 0 {
		return true
	}
	most := max(1, r.Limit-r.Reserved)
	return all < most && (!r.Background || background < max(1, r.Limit/2))
}
