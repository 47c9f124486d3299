package agentloop

import (
	"sync"
	"time"
)

// numbers gives the events of a session their numbers, from 1 on each time that it is
// opened. The loops that work in one session share it.
type numbers struct {
	opening int64 // when the session was opened

	mu   sync.Mutex
	last int64 // the last number given out
}

func newNumbers() *numbers { return &numbers{opening: time.Now().UnixNano()} }

// next hands out the next number. No other is handed out before use has returned.
func (n *numbers) next(use func(seq int64)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last++
	use(n.last)
}

func (n *numbers) latest() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last
}
