package daemon

import (
	"sync"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc"
)

// outbox holds what is to be written to a client. Putting never waits: what
// lies here counts in the connection's budget, and so slows the reading down.
// There is no goroutine of its own: it is written by one of those that put.
type outbox struct {
	budget *budget
	conn   *rpc.Conn
	broken func() // called once, when a write has failed

	mu      sync.Mutex
	written sync.Cond // signalled when no goroutine writes any more
	lines   [][]byte
	writing bool // a goroutine writes what is queued
	closed  bool // nothing is taken any more
	dropped int  // notifications left out since the last one that was not
}

func (o *outbox) init(b *budget, conn *rpc.Conn, broken func()) {
	o.budget, o.conn, o.broken = b, conn, broken
	o.written.L = &o.mu
}

// put adds a line. The caller must see to it that it is written.
func (o *outbox) put(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(line)
}

// offer adds a line that may be left out when the client is slow. It returns
// how many were left out before this one.
func (o *outbox) offer(line []byte) (dropped int, ok bool) {
	full := o.budget.full()
	o.mu.Lock()
	defer o.mu.Unlock()
	if full {
		o.dropped++
		return 0, false
	}
	o.add(line)
	dropped, o.dropped = o.dropped, 0
	return dropped, true
}

func (o *outbox) add(line []byte) {
	if o.closed {
		return
	}
	o.budget.add(int64(len(line)))
	o.lines = append(o.lines, line)
}

// write writes what is queued, unless another goroutine does. It waits for a client that
// reads slowly.
func (o *outbox) write() {
	if o.begin() {
		o.writeAll()
	}
}

// writeInBackground is write for callers that must not wait.
func (o *outbox) writeInBackground() {
	if o.begin() {
		go o.writeAll()
	}
}

// begin reports whether the caller is the one to write.
func (o *outbox) begin() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing || len(o.lines) == 0 {
		return false
	}
	o.writing = true
	return true
}

func (o *outbox) writeAll() {
	for lines := o.take(); lines != nil; lines = o.take() {
		for i, line := range lines {
			err := o.conn.Send(line)
			o.budget.add(-int64(len(line)))
			if err != nil {
				o.drop(lines[i+1:])
				o.broken()
				break
			}
		}
	}
}

// take returns what is to be written, nil if that is nothing.
func (o *outbox) take() (lines [][]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if lines, o.lines = o.lines, nil; lines == nil {
		o.writing = false
		o.written.Broadcast()
	}
	return lines
}

// drop drops what is here, and what is put from now on.
func (o *outbox) drop(lines [][]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, line := range append(lines, o.lines...) {
		o.budget.add(-int64(len(line)))
	}
	o.lines = nil
}

// close waits until everything is written, but not for a client that does not read:
// after patience the connection is closed.
func (o *outbox) close(patience time.Duration) {
	o.writeInBackground()
	impatient := time.AfterFunc(patience, func() { _ = o.conn.Close() })
	defer impatient.Stop()
	stuck := false // a blocking descriptor cannot be woken
	given := time.AfterFunc(2*patience, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		stuck = true
		o.written.Broadcast()
	})
	defer given.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for o.writing && !stuck {
		o.written.Wait()
	}
}

// budget counts the bytes that a connection holds in memory: requests without a
// response, and responses not yet written. While it is used up
// nothing more is read, so a client that sends faster than hooks reply is
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
