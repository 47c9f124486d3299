package daemon

import (
	"sync"

	"github.com/hookd-dev/hookd/protocol/rpc"
)

// outbox holds what is to be written to a client. Putting never waits: what
// lies here counts in the connection's budget, and so slows the reading down.
type outbox struct {
	budget *budget

	mu      sync.Mutex
	arrived sync.Cond
	lines   [][]byte
	closed  bool
	lost    int // notifications left out since the last one that was not
}

func (o *outbox) init(b *budget) {
	o.budget = b
	o.arrived.L = &o.mu
}

// put adds a line.
func (o *outbox) put(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(line)
}

// offer adds a line that may be left out when the client is slow. It returns
// how many were left out before this one.
func (o *outbox) offer(line []byte) (lost int, ok bool) {
	full := o.budget.full()
	o.mu.Lock()
	defer o.mu.Unlock()
	if full {
		o.lost++
		return 0, false
	}
	o.add(line)
	lost, o.lost = o.lost, 0
	return lost, true
}

func (o *outbox) add(line []byte) {
	if o.closed {
		return
	}
	o.budget.add(int64(len(line)))
	o.lines = append(o.lines, line)
	o.arrived.Signal()
}

// close lets writeTo return when it has written what is here.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.arrived.Signal()
}

// writeTo writes lines as they come. After an error it returns that, and what
// is put from then on is dropped.
func (o *outbox) writeTo(conn *rpc.Conn) error {
	for {
		line, ok := o.next()
		if !ok {
			return nil
		}
		err := conn.Send(line)
		o.budget.add(-int64(len(line)))
		if err != nil {
			o.drop()
			return err
		}
	}
}

func (o *outbox) next() ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.lines) == 0 && !o.closed {
		o.arrived.Wait()
	}
	if len(o.lines) == 0 {
		return nil, false
	}
	line := o.lines[0]
	o.lines[0] = nil
	o.lines = o.lines[1:]
	return line, true
}

func (o *outbox) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, line := range o.lines {
		o.budget.add(-int64(len(line)))
	}
	o.lines = nil
}
