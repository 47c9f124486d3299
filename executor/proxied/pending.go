package proxied

import (
	"sync"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Bounds of the requests of a side that have no answer.
const (
	mostPending      = 1 << 16
	mostPendingBytes = 256 << 20 // one request may be larger
)

// mostCancelled is how many ids of cancelled requests are remembered: their answers may
// still come, and mean nothing.
const mostCancelled = 1 << 10

// Request is a request of one side that has no answer yet.
type Request[C any] struct {
	ID     protocol.RawMessage
	Method string
	Call   *C  // what the proxy knows of it, nil of one that only passes
	Size   int // bytes that are kept for it

	givenUp bool
}

// Pending are the requests of one side by their ids. Those of the other side have ids of
// their own, which are never looked at.
type Pending[C any] struct {
	mu        sync.Mutex
	open      map[string]*Request[C]
	bytes     int           // of the open ones
	givenUp   []*Request[C] // the oldest first; some are not open any more
	waiting   int           // open ones that are not given up
	cancelled map[string]bool
	order     []string // of cancelled, the oldest first
}

// NewPending returns requests, none yet.
func NewPending[C any]() *Pending[C] {
	return &Pending[C]{open: map[string]*Request[C]{}, cancelled: map[string]bool{}}
}

// Add returns why a request cannot be taken, "" if it is.
func (p *Pending[C]) Add(r *Request[C]) (problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := relay.Key(r.ID)
	switch {
	case p.open[key] != nil:
		return "another request with this id has no answer yet"
	case len(p.open) >= mostPending, len(p.open) > 0 && p.bytes+r.Size > mostPendingBytes:
		return "too many requests have no answer yet"
	}
	delete(p.cancelled, key)
	p.open[key] = r
	p.bytes += r.Size
	p.waiting++
	r.givenUp = false
	return ""
}

// Get returns the open request with an id, nil if there is none.
func (p *Pending[C]) Get(id protocol.RawMessage) *Request[C] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open[relay.Key(id)]
}

// Remove reports whether a request was open. It is not any more.
func (p *Pending[C]) Remove(r *Request[C]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.remove(r)
}

func (p *Pending[C]) remove(r *Request[C]) bool {
	key := relay.Key(r.ID)
	if p.open[key] != r {
		return false
	}
	delete(p.open, key)
	p.bytes -= r.Size
	if !r.givenUp {
		p.waiting--
	}
	return true
}

// Cancel removes a request whose sender has given it up.
func (p *Pending[C]) Cancel(r *Request[C]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cancel(r)
}

func (p *Pending[C]) cancel(r *Request[C]) {
	if !p.remove(r) {
		return
	}
	key := relay.Key(r.ID)
	if len(p.order) >= mostCancelled {
		delete(p.cancelled, p.order[0])
		p.order = p.order[1:]
	}
	p.cancelled[key] = true
	p.order = append(p.order, key)
}

// GiveUp takes that the sender of a request waits no more for its answer, which may come all the
// same. It stays open, but many such do not: the oldest are cancelled then.
func (p *Pending[C]) GiveUp(r *Request[C]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.givenUp || p.open[relay.Key(r.ID)] != r {
		return
	}
	r.givenUp = true
	p.waiting--
	p.givenUp = append(p.givenUp, r)
	if len(p.givenUp) > mostCancelled {
		p.cancel(p.givenUp[0])
		p.givenUp[0] = nil
		p.givenUp = p.givenUp[1:]
	}
}

// WasCancelled reports whether an answer is for a request that was given up.
func (p *Pending[C]) WasCancelled(id protocol.RawMessage) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cancelled[relay.Key(id)]
}

// TakeAll returns the open requests and forgets them.
func (p *Pending[C]) TakeAll() (list []*Request[C]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, r := range p.open {
		list = append(list, r)
		delete(p.open, key)
	}
	p.bytes, p.waiting, p.givenUp = 0, 0, nil
	return list
}

// Count returns how many requests are open whose senders wait for their answers.
func (p *Pending[C]) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting
}
