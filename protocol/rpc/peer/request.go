package peer

import (
	"context"
	"sync"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Request is a request or a notification of the other side.
type Request struct {
	Method string
	Params protocol.RawMessage

	id     []byte // nil: a notification
	key    string
	peer   *Peer
	ctx    context.Context
	cancel context.CancelCauseFunc
	once   sync.Once
}

// IsNotification reports whether no answer is expected.
func (r *Request) IsNotification() bool { return r.id == nil }

// Context ends when the other side takes the request back, and with the connection.
func (r *Request) Context() context.Context { return r.ctx }

// Cancel ends the request's context.
func (r *Request) Cancel(cause error) { r.cancel(cause) }

// Answer sends the result. Of several answers the first counts; one to a notification is
// dropped.
func (r *Request) Answer(result any) {
	text, err := protocol.Marshal(result)
	if err != nil {
		r.Fail(rpc.Errorf(rpc.InternalError, "the result cannot be written: %v", err))
		return
	}
	r.end(text, nil)
}

// Fail sends an error in place of a result.
func (r *Request) Fail(failure *rpc.Error) { r.end(nil, failure) }

func (r *Request) end(result []byte, failure *rpc.Error) {
	if r.id == nil {
		return
	}
	r.once.Do(func() {
		r.peer.mu.Lock()
		delete(r.peer.requests, r.key)
		r.peer.mu.Unlock()
		r.peer.answer(r.id, result, failure)
		r.cancel(nil)
	})
}
