package chain

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// mostOpen bounds the requests of each direction that have no answer.
const mostOpen = 1 << 16

// received are the requests of the conductor that have no answer. Their ids are those of the
// connection, whichever side they are of.
type received struct {
	mu   sync.Mutex
	open map[string]receivedRequest // by the key of its id
}

type receivedRequest struct {
	side   relay.Side
	begins bool // it is the first request of the chain, whose answer may have a mark
}

// add returns why a request cannot be taken, "" if it is.
func (r *received) add(id json.RawMessage, request receivedRequest) (problem string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := relay.Key(id)
	switch _, is := r.open[key]; {
	case is:
		return "another request with this id has no answer yet"
	case len(r.open) >= mostOpen:
		return "too many requests have no answer yet"
	}
	r.open[key] = request
	return ""
}

// of returns the request with an id.
func (r *received) of(id json.RawMessage) (request receivedRequest, open bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	request, open = r.open[relay.Key(id)]
	return request, open
}

// answered forgets a request of a side, and returns it.
func (r *received) answered(side relay.Side, id json.RawMessage) (request receivedRequest, open bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := relay.Key(id)
	request, open = r.open[key]
	if !open || request.side != side {
		return receivedRequest{}, false
	}
	delete(r.open, key)
	return request, true
}

// sent are the requests of the proxy to both sides that have no answer. Each has an id of the
// connection.
type sent struct {
	mu   sync.Mutex
	last int
	open map[string]sentRequest // by the key of the id of the connection
	byID map[sentKey]json.RawMessage
}

type sentRequest struct {
	to relay.Side
	id json.RawMessage // that the proxy knows it by
}

type sentKey struct {
	to  relay.Side
	key string
}

// add returns the id of the connection for a request, nil if there are too many. An earlier
// request with the same id, which its sender has forgotten, is forgotten too.
func (s *sent) add(to relay.Side, id json.RawMessage) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= mostOpen {
		return nil
	}
	at := sentKey{to, relay.Key(id)}
	if earlier, is := s.byID[at]; is {
		delete(s.open, relay.Key(earlier))
	}
	s.last++
	ours := jsonspan.Quote("chain-" + strconv.Itoa(s.last))
	s.open[relay.Key(ours)] = sentRequest{to, slices.Clone(id)}
	s.byID[at] = ours
	return ours
}

// of returns the id of the connection of a request that has no answer, nil if there is none.
func (s *sent) of(to relay.Side, id json.RawMessage) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[sentKey{to, relay.Key(id)}]
}

// answered forgets the request with an id of the connection, and returns it.
func (s *sent) answered(id json.RawMessage) (request sentRequest, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := relay.Key(id)
	request, open = s.open[key]
	if open {
		delete(s.open, key)
		delete(s.byID, sentKey{request.to, relay.Key(request.id)})
	}
	return request, open
}
