package mcpproxy

import (
	"sync"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// mostPending bounds the requests of a client that have no answer.
const mostPending = 1 << 16

// mostCancelled is how many ids of cancelled requests are remembered: their answers may
// still come, and mean nothing.
const mostCancelled = 1 << 10

// request is a request of the client that has no answer yet.
type request struct {
	id     protocol.RawMessage
	method string
	call   *call // of tools/call, else nil
}

// pending are the requests of the client by their ids. The server's own requests have ids of
// their own, which are never looked at.
type pending struct {
	mu        sync.Mutex
	open      map[string]*request
	cancelled map[string]bool
	order     []string // of cancelled, the oldest first
}

func newPending() *pending {
	return &pending{open: map[string]*request{}, cancelled: map[string]bool{}}
}

// add returns why a request cannot be taken, "" if it is.
func (p *pending) add(r *request) (problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := relay.Key(r.id)
	switch {
	case p.open[key] != nil:
		return "another request with this id has no answer yet"
	case len(p.open) >= mostPending:
		return "too many requests have no answer yet"
	}
	delete(p.cancelled, key)
	p.open[key] = r
	return ""
}

// get returns the open request with an id, nil if there is none.
func (p *pending) get(id protocol.RawMessage) *request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open[relay.Key(id)]
}

// remove reports whether a request was open. It is not any more.
func (p *pending) remove(r *request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := relay.Key(r.id)
	if p.open[key] != r {
		return false
	}
	delete(p.open, key)
	return true
}

// cancel removes a request that the client has given up.
func (p *pending) cancel(r *request) {
	if !p.remove(r) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := relay.Key(r.id)
	if len(p.order) >= mostCancelled {
		delete(p.cancelled, p.order[0])
		p.order = p.order[1:]
	}
	p.cancelled[key] = true
	p.order = append(p.order, key)
}

// wasCancelled reports whether an answer is for a request that the client gave up.
func (p *pending) wasCancelled(id protocol.RawMessage) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cancelled[relay.Key(id)]
}

// takeAll returns the open requests and forgets them.
func (p *pending) takeAll() (list []*request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, r := range p.open {
		list = append(list, r)
		delete(p.open, key)
	}
	return list
}

func (p *pending) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}
