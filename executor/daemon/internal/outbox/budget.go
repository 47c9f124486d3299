package outbox

import "sync"

// Budget counts the bytes that a connection holds in memory: lines that were
// read and without a response, and responses not yet written. While it is used up
// nothing more is read, so a client that sends faster than hooks reply is
// slowed down by its own pipe. It bounds bytes and not requests, so that many
// small requests can be read ahead and a later $/cancelRequest is seen.
type Budget struct {
	mu    sync.Mutex
	freed sync.Cond
	used  int64
	limit int64
	ended bool
}

// NewBudget returns the budget of a connection that may hold limit bytes.
func NewBudget(limit int64) *Budget {
	b := &Budget{limit: limit}
	b.freed.L = &b.mu
	return b
}

// Take waits until n more bytes fit. What is larger than the whole limit fits
// when nothing else is held. It reports false when the connection has ended.
func (b *Budget) Take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.ended && b.used > 0 && b.used+n > b.limit {
		b.freed.Wait()
	}
	b.used += n
	return !b.ended
}

// Add counts n bytes that are held already, or with a negative n no longer.
func (b *Budget) Add(n int64) {
	b.mu.Lock()
	b.used += n
	b.mu.Unlock()
	b.freed.Broadcast()
}

// Full reports whether something that may be left out should be.
func (b *Budget) Full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used >= b.limit
}

// End lets every Take return.
func (b *Budget) End() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.freed.Broadcast()
}
