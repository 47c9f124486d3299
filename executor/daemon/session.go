package daemon

import (
	"container/list"
	"context"
	"fmt"
	"runtime/debug"

	"github.com/hookd-dev/hookd/executor/daemon/internal/outbox"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// session is one conversation of a host.
type session struct {
	openParams
	key     string
	owner   *conn    // the connection that opened it; it ends with this one
	project *project // set once open has run, before any later call of it runs

	// Guarded by scheduler.mu.
	waiting  list.List // of *request
	running  int       // begun and not ended
	tools    map[string]bool
	seq      int64
	opening  int64    // when it was opened
	closed   bool     // takes no more calls
	waitsFor *session // begins when this one has ended: it has the same id and was opened before
}

// openParams are the params of session/open.
type openParams struct {
	ID      string `json:"id"`
	Project string `json:"project"`
	Cwd     string `json:"cwd"`
	Host    string `json:"host"`
}

// mayBegin reports whether the first call that waits may begin.
func (s *session) mayBegin() bool {
	if s.waitsFor != nil || s.waiting.Len() == 0 {
		return false
	}
	tool := s.waiting.Front().Value.(*request).tool
	return s.running == 0 || tool != "" && len(s.tools) == s.running && !s.tools[tool]
}

// over reports whether a session is closed and has ended all its calls.
func (s *session) over() bool {
	return s.closed && s.running == 0 && s.waiting.Len() == 0 && s.waitsFor == nil
}

// leaveProject ends the session's use of its project, which may then forget what it
// kept of the session.
func (s *session) leaveProject(ps *projects) {
	p := s.project
	if p == nil {
		return
	}
	s.project = nil
	if engine, ok := p.engine.(Forgetter); ok {
		engine.Forget(s.ID)
	}
	ps.release(p)
}

// request is one request or notification from its receipt to its end.
type request struct {
	conn *conn
	id   protocol.RawMessage // nil for a notification
	key  string
	cost int64 // bytes of the connection's budget
	plan

	ctx    context.Context
	cancel context.CancelCauseFunc

	// Guarded by scheduler.mu.
	queue *list.List // in which it stands; nil when it runs or has ended
	place *list.Element
	begun bool
	done  bool
	seq   int64
}

// plan is what a method makes of its params: what to do, and where to wait.
type plan struct {
	method  string
	event   protocol.EventName // that is fired, else ""
	session *session
	opens   bool   // session is new
	closes  bool   // session takes no call after this one
	counts  bool   // gets a seq
	tool    string // the tool call it is about; "" waits for all before it
	run     func(ctx context.Context, r *request) (protocol.RawMessage, *rpc.Error)
}

func (r *request) enterQueue(queue *list.List) { r.queue, r.place = queue, queue.PushBack(r) }

func (r *request) leaveQueue() {
	if r.queue != nil {
		r.queue.Remove(r.place)
		r.queue, r.place = nil, nil
	}
}

// do runs the call. A panic ends the call with an error, and never the daemon.
func (r *request) do() (result protocol.RawMessage, failure *rpc.Error) {
	defer func() {
		if p := recover(); p != nil {
			r.conn.server.log.Error("panic in a handler", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			result, failure = nil, rpc.Errorf(rpc.InternalError, "internal error")
		}
	}()
	if r.ctx.Err() != nil {
		return nil, cancelled(r.ctx)
	}
	return r.run(r.ctx, r)
}

// respond sends the response to a request, once. It does not wait until that is written.
func (r *request) respond(result protocol.RawMessage, failure *rpc.Error) {
	r.putResponse(r.encode(result, failure))
	r.conn.out.WriteInBackground()
}

// subject returns what the log says of the request when its answer is lost.
func (r *request) subject() outbox.Subject {
	s := outbox.Subject{Method: r.method, Event: r.event, Seq: r.seq}
	if r.session != nil {
		s.Session = r.session.ID
	}
	return s
}

// encode returns the line of a response, nil for a notification, which has none.
func (r *request) encode(result protocol.RawMessage, failure *rpc.Error) []byte {
	switch {
	case r.id == nil && failure != nil && failure.Code != rpc.Cancelled:
		r.conn.server.log.Warn("a notification came to nothing", "error", failure.Error())
		return nil
	case r.id == nil:
		return nil
	case failure != nil:
		return rpc.AppendError(nil, r.id, failure)
	}
	return rpc.AppendResult(make([]byte, 0, len(result)+len(r.id)+64), r.id, result)
}

func (r *request) putResponse(line []byte) {
	if line != nil {
		r.conn.out.Put(line, r.subject())
	}
	r.conn.budget.Add(-r.cost)
	r.cancel(nil)
}

// refuse responds with an error and no id.
func (r *request) refuse(failure *rpc.Error) {
	r.putResponse(rpc.AppendError(nil, nil, failure))
	r.conn.out.WriteInBackground()
}
