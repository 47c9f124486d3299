package agentloop

import (
	"sync"

	"github.com/hookd-dev/hookd/agentloop/store"
)

// numbers gives the events of a session their numbers. The loops that work in
// one session share it.
type numbers struct {
	keep func(store.Entry) error

	mu       sync.Mutex
	last     int64 // the last number given out
	reserved int64 // the session's file says that numbers up to here may be in use
}

// seqBlock is how many event numbers are reserved in the session's file at a
// time: after a crash the numbers rise on behind the block.
const seqBlock = 1000

// next hands out the next number. No other is handed out before use has returned.
func (n *numbers) next(use func(seq int64)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == n.reserved {
		n.reserved += seqBlock
		if err := n.keep(store.Entry{Kind: store.Reserve, Seq: n.reserved}); err != nil {
			return err // the run ends, and its last event still gets a number
		}
	}
	n.last++
	use(n.last)
	return nil
}

func (n *numbers) latest() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last
}
