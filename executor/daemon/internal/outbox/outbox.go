package outbox

import (
	"sync"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Outbox holds what is to be written to a client. Putting never waits: what
// lies here counts in the connection's budget, and so slows the reading down.
// There is no goroutine of its own: it is written by one of those that put.
type Outbox struct {
	budget *Budget
	conn   *rpc.Conn
	broken func()

	mu      sync.Mutex
	written sync.Cond  // signalled when no goroutine writes any more
	lines   []outgoing // the first is being written while writing is true
	writing bool       // a goroutine writes what is queued
	closed  bool       // nothing is taken any more
	dropped int        // notifications left out since the last one that was not
	unsent  Unsent
}

// outgoing is a line for a client.
type outgoing struct {
	line []byte
	to   *Subject // the request that it answers, nil for a notification
}

// New returns the outbox of a connection. broken is called once, when a write has failed.
func New(b *Budget, conn *rpc.Conn, broken func()) *Outbox {
	o := &Outbox{budget: b, conn: conn, broken: broken}
	o.written.L = &o.mu
	return o
}

// Put adds a response. The caller must see to it that it is written.
func (o *Outbox) Put(line []byte, to Subject) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(outgoing{line, &to})
}

// Offer adds a notification, which is left out when the client is slow. It returns
// how many were left out before this one.
func (o *Outbox) Offer(line []byte) (dropped int, ok bool) {
	full := o.budget.Full()
	o.mu.Lock()
	defer o.mu.Unlock()
	if full {
		o.dropped++
		return 0, false
	}
	o.add(outgoing{line, nil})
	dropped, o.dropped = o.dropped, 0
	return dropped, true
}

func (o *Outbox) add(out outgoing) {
	if o.closed {
		o.unsent.add(out)
		return
	}
	o.budget.Add(int64(len(out.line)))
	o.lines = append(o.lines, out)
}

// Write writes what is queued, unless another goroutine does. It waits for a client that
// reads slowly.
func (o *Outbox) Write() {
	if o.begin() {
		o.writeAll()
	}
}

// WriteInBackground is [Outbox.Write] for callers that must not wait.
func (o *Outbox) WriteInBackground() {
	if o.begin() {
		go o.writeAll()
	}
}

// begin reports whether the caller is the one to write.
func (o *Outbox) begin() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing || len(o.lines) == 0 {
		return false
	}
	o.writing = true
	return true
}

func (o *Outbox) writeAll() {
	for line := o.first(); line != nil; line = o.next() {
		if err := o.conn.Send(line); err != nil {
			o.drop(err)
			o.broken()
			return
		}
	}
}

// first returns the line that is to be written now. There is one.
func (o *Outbox) first() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lines[0].line
}

// next takes the line away that has been written, and returns the one to write now, nil
// if there is none.
func (o *Outbox) next() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.budget.Add(-int64(len(o.lines[0].line)))
	o.lines[0] = outgoing{}
	if o.lines = o.lines[1:]; len(o.lines) > 0 {
		return o.lines[0].line
	}
	o.lines = nil
	o.idle()
	return nil
}

func (o *Outbox) idle() {
	o.writing = false
	o.written.Broadcast()
}

// drop drops what is here, and what is put from now on: a write has failed.
func (o *Outbox) drop(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.unsent = true, o.unsent.after(o.lines)
	o.unsent.Err = err
	for _, out := range o.lines {
		o.budget.Add(-int64(len(out.line)))
	}
	o.lines = nil
	o.idle()
}

// Close waits until everything is written, but not for a client that does not read:
// after patience the connection is closed. It returns what was not written.
func (o *Outbox) Close(patience time.Duration) Unsent {
	o.WriteInBackground()
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
	return o.unsent.after(o.lines) // which are there if it is stuck
}
