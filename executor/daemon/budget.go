package daemon

import "sync"

// budget counts the bytes that a connection holds in memory: lines that were
// read and not yet answered, and answers not yet written. While it is used up
// nothing more is read, so a client that sends faster than hooks answer is
// slowed down by its own pipe. It bounds bytes and not requests, so that many
// small requests can be read ahead and a later $/cancelRequest is seen.
type budget struct {
	mu    sync.Mutex
	freed sync.Cond
	used  int64
	limit int64
	ended bool
}

func newBudget(limit int64) *budget {
	b := &budget{limit: limit}
	b.freed.L = &b.mu
	return b
}

// take waits until n more bytes fit. What is larger than the whole limit fits
// when nothing else is held. It reports false when the connection has ended.
func (b *budget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.ended && b.used > 0 && b.used+n > b.limit {
		b.freed.Wait()
	}
	b.used += n
	return !b.ended
}

// add counts n bytes that are held already, or with a negative n no longer.
func (b *budget) add(n int64) {
	b.mu.Lock()
	b.used += n
	b.mu.Unlock()
	b.freed.Broadcast()
}

// full reports whether something that may be left out should be.
func (b *budget) full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used >= b.limit
}

// end lets every take return.
func (b *budget) end() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.freed.Broadcast()
}
