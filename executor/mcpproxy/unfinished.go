package mcpproxy

import (
	"slices"
	"sync"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Bounds of the calls that are remembered because their server, or a hook, has asked for
// input. The oldest is forgotten first.
const (
	mostUnfinished      = 256
	mostUnfinishedBytes = 64 << 20
)

// unfinished are the calls whose server has asked for input in place of a result. The client
// sends such a call again, with the input and a new id: it is the same call, which hooks have
// judged, and its server may hold it against the args that it saw first.
type unfinished struct {
	mu    sync.Mutex
	list  map[string]*call
	order []string
	bytes int // of the keys, which have the args in them
}

// key is the same for a call and for the one that goes on with it, which the client writes
// with the same args.
func (a *asked) key(state protocol.RawMessage) string {
	return a.method.name + jsonspan.Canonical(orNull(jsonspan.Get(a.params, "name"))) + jsonspan.Canonical(a.args) + jsonspan.Canonical(orNull(state))
}

func orNull(value protocol.RawMessage) protocol.RawMessage {
	if value == nil {
		return protocol.RawMessage("null")
	}
	return value
}

// waits remembers a call until the client sends it again, with a state. asking, if not nil, is the
// question that it waits for.
func (g *guard) waits(c *call, state protocol.RawMessage, asking *asking) {
	waits := &call{Call: c.Call, told: c.told, guard: g, contexts: c.contexts, asking: asking}
	for _, forgotten := range g.unfinished.add(c.asked.key(state), waits) {
		forgotten.lost(proxied.Aborted("other calls wait for input in its place"))
		forgotten.asking.giveUp()
	}
}

// add remembers a call whose server has asked for input. It returns those that it forgets.
func (u *unfinished) add(key string, c *call) (forgotten []*call) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if before := u.remove(key); before != nil {
		forgotten = append(forgotten, before)
	}
	for len(u.order) > 0 && (len(u.order) >= mostUnfinished || u.bytes+len(key) > mostUnfinishedBytes) {
		forgotten = append(forgotten, u.remove(u.order[0]))
	}
	u.list[key] = c
	u.order = append(u.order, key)
	u.bytes += len(key)
	return forgotten
}

// take returns the call that another one goes on with, nil if it is a call of its own.
func (u *unfinished) take(c *call) *call {
	if jsonspan.Get(c.asked.params, "inputResponses") == nil && jsonspan.Get(c.asked.params, "requestState") == nil {
		return nil
	}
	key := c.asked.key(jsonspan.Get(c.asked.params, "requestState"))
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.remove(key)
}

// remove forgets the call of a key and returns it, nil if there is none.
func (u *unfinished) remove(key string) *call {
	c := u.list[key]
	if c != nil {
		delete(u.list, key)
		u.order = slices.DeleteFunc(u.order, func(k string) bool { return k == key })
		u.bytes -= len(key)
	}
	return c
}
