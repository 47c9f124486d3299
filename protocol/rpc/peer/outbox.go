package peer

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc"
)

// How much may wait to be written, in bytes: above the first number what is sent waits, above
// the second nothing is read.
const (
	roomToSend = 1 << 20
	roomToRead = 64 << 20
)

// outbox writes lines in the order in which they came.
type outbox struct {
	writer *rpc.Writer
	failed chan struct{} // closed when a write has failed

	mu      sync.Mutex
	changed chan struct{} // closed and made anew when something was written
	queue   [][]byte
	size    int // of the queue and of what is being written
	closed  bool
	idle    bool // no goroutine writes
	err     error
}

func newOutbox(w io.Writer) *outbox {
	return &outbox{writer: rpc.NewWriter(w), failed: make(chan struct{}), changed: make(chan struct{}), idle: true}
}

// put adds a line without waiting.
func (o *outbox) put(text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(text)
}

// add adds a line. The lock must be held.
func (o *outbox) add(text []byte) {
	if o.closed || o.err != nil {
		return
	}
	o.queue = append(o.queue, text)
	o.size += len(text)
	if o.idle {
		o.idle = false
		go o.write()
	}
}

// wait adds a line when there is room for it.
func (o *outbox) wait(ctx context.Context, text []byte) error {
	o.mu.Lock()
	for o.size > roomToSend && !o.closed && o.err == nil {
		changed := o.changed
		o.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		o.mu.Lock()
	}
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return o.err
	case o.closed:
		return ErrEnded
	}
	o.add(text)
	return nil
}

// waitForAnswers returns when there is room to answer what is read next.
func (o *outbox) waitForAnswers() {
	o.mu.Lock()
	for o.size > roomToRead && !o.closed && o.err == nil {
		changed := o.changed
		o.mu.Unlock()
		<-changed
		o.mu.Lock()
	}
	o.mu.Unlock()
}

// write writes until nothing waits.
func (o *outbox) write() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) > 0 && o.err == nil {
		text := o.queue[0]
		o.queue = o.queue[1:]
		o.mu.Unlock()
		err := o.writer.Write(text)
		o.mu.Lock()
		o.size -= len(text)
		if err != nil {
			o.err = err
			close(o.failed)
		}
		close(o.changed)
		o.changed = make(chan struct{})
	}
	o.idle = true
}

func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Close takes nothing more to be sent, and waits until all is written, but no longer than
// patience. It returns why something was not written.
func (p *Peer) Close(patience time.Duration) error {
	o := p.out
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.size > 0 && o.err == nil {
		changed := o.changed
		o.mu.Unlock()
		select {
		case <-changed:
			o.mu.Lock()
		case <-timeout.C:
			o.mu.Lock()
			o.close()
			return context.DeadlineExceeded
		}
	}
	o.close()
	return o.err
}

// close wakes all that wait. The lock must be held.
func (o *outbox) close() {
	if !o.closed {
		o.closed = true
		close(o.changed)
		o.changed = make(chan struct{})
	}
}
