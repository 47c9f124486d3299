package chat

import (
	"sync"

	tea "charm.land/bubbletea/v2"
)

// printQueue hands messages to the program in order. The commands of the program itself
// run concurrently, and its update must not wait for itself.
type printQueue struct {
	mu     sync.Mutex
	some   *sync.Cond
	queue  []tea.Msg
	closed bool
}

func newPrintQueue() *printQueue {
	q := &printQueue{}
	q.some = sync.NewCond(&q.mu)
	return q
}

func (q *printQueue) add(msg tea.Msg) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = append(q.queue, msg)
	q.some.Signal()
}

func (q *printQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.some.Signal()
}

// run delivers until the queue is closed. A program that has ended takes
// everything at once.
func (q *printQueue) run(program *tea.Program) {
	for {
		q.mu.Lock()
		for len(q.queue) == 0 && !q.closed {
			q.some.Wait()
		}
		batch := q.queue
		q.queue = nil
		closed := q.closed
		q.mu.Unlock()
		for _, msg := range batch {
			program.Send(msg)
		}
		if closed && len(batch) == 0 {
			return
		}
	}
}
