package loader

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// side is work in pieces that goes on beside whoever began it.
type side struct {
	pieces int
	work   func(i int)
	next   atomic.Int64
	others sync.WaitGroup
}

// beginSide begins n pieces of work on the other processors. Another processor is
// only woken for more than few pieces: by then the caller would have done so many.
func beginSide(n, few int, work func(i int)) *side {
	s := &side{pieces: n, work: work}
	for range min(runtime.GOMAXPROCS(0)-1, (n-1)/few) {
		s.others.Go(s.take)
	}
	return s
}

// take does what nobody has begun yet.
func (s *side) take() {
	for i := int(s.next.Add(1)) - 1; i < s.pieces; i = int(s.next.Add(1)) - 1 {
		s.work(i)
	}
}

// finish takes part and returns when each piece is done.
func (s *side) finish() {
	s.take()
	s.others.Wait()
}

// sideBySide does n pieces of work on all processors.
func sideBySide(n, few int, work func(i int)) { beginSide(n, few, work).finish() }
