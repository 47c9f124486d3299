package mcpproxy

import (
	"slices"
	"sync"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// mostUnfinished is how many calls are remembered whose server has asked for input.
const mostUnfinished = 256

// unfinished are the calls whose server has asked for input in place of a result. The client
// sends such a call again, with the input and a new id: it is the same call, which hooks have
// judged, and its server may hold it against the args that it saw first.
type unfinished struct {
	mu    sync.Mutex
	list  map[string]*call
	order []string
}

// key is the same for a call and for the one that goes on with it, which the client writes
// with the same args.
func (a *asked) key(state protocol.RawMessage) string {
	return jsonspan.Canonical(jsonspan.Get(a.params, "name")) + jsonspan.Canonical(a.given()) + jsonspan.Canonical(orNull(state))
}

func orNull(value protocol.RawMessage) protocol.RawMessage {
	if value == nil {
		return protocol.RawMessage("null")
	}
	return value
}

// add remembers a call whose server has asked for input.
func (u *unfinished) add(key string, c *call) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.order) >= mostUnfinished {
		delete(u.list, u.order[0])
		u.order = u.order[1:]
	}
	u.list[key] = c
	u.order = append(u.order, key)
}

// take returns the call that another one goes on with, nil if it is a call of its own.
func (u *unfinished) take(c *call) *call {
	if jsonspan.Get(c.asked.params, "inputResponses") == nil && jsonspan.Get(c.asked.params, "requestState") == nil {
		return nil
	}
	key := c.asked.key(jsonspan.Get(c.asked.params, "requestState"))
	u.mu.Lock()
	defer u.mu.Unlock()
	before := u.list[key]
	if before != nil {
		delete(u.list, key)
		u.order = slices.DeleteFunc(u.order, func(k string) bool { return k == key })
	}
	return before
}
