package peer

import (
	"context"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Pending is a call of this side that waits for its answer.
type Pending struct {
	peer   *Peer
	id     []byte
	answer chan answer // holds one
}

type answer struct {
	result []byte
	err    error
}

// Notify sends a notification. It waits while the other side does not read.
func (p *Peer) Notify(ctx context.Context, method string, params any) error {
	text, err := protocol.Marshal(params)
	if err != nil {
		return err
	}
	return p.out.wait(ctx, rpc.AppendRequest(nil, nil, method, text))
}

// Begin sends a call, and returns when it has its place among what is sent.
func (p *Peer) Begin(ctx context.Context, method string, params any) (*Pending, error) {
	text, err := protocol.Marshal(params)
	if err != nil {
		return nil, err
	}
	c := &Pending{peer: p, answer: make(chan answer, 1)}
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return nil, ErrEnded
	}
	c.id = p.nextID()
	p.calls[string(c.id)] = c
	p.mu.Unlock()
	if err := p.out.wait(ctx, rpc.AppendRequest(nil, c.id, method, text)); err != nil {
		c.forget()
		return nil, err
	}
	return c, nil
}

// Wait returns the result of the call, an [*rpc.Error] if the other side answered with one, or
// the cause of the context's end: then the other side is told that nobody waits any more.
func (c *Pending) Wait(ctx context.Context) (result protocol.RawMessage, err error) {
	select {
	case a := <-c.answer:
		return a.result, a.err
	case <-ctx.Done():
	}
	if waited := c.forget(); waited && c.peer.options.Cancel != "" {
		c.peer.out.put(rpc.AppendRequest(nil, nil, c.peer.options.Cancel, append(append([]byte(`{"requestId":`), c.id...), '}')))
	}
	return nil, context.Cause(ctx)
}

// forget takes the call off those that wait, and reports whether it was one.
func (c *Pending) forget() bool {
	c.peer.mu.Lock()
	defer c.peer.mu.Unlock()
	waits := c.peer.calls[string(c.id)] != nil
	delete(c.peer.calls, string(c.id))
	return waits
}

// Call sends a call and waits for its answer; see [Pending.Wait].
func (p *Peer) Call(ctx context.Context, method string, params any) (protocol.RawMessage, error) {
	c, err := p.Begin(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return c.Wait(ctx)
}
