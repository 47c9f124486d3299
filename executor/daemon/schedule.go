package daemon

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// scheduler says when each call begins. Calls of a session wait in one line in
// the order in which they were received and only the first of it may begin: if
// it names a tool call, as soon as all that still run name other ones; if not,
// as soon as none runs. What may begin goes to the ready line of its
// connection, which runs a bounded number at once. Nothing here waits, and a
// waiting call costs no goroutine.
type scheduler struct {
	server *Server

	mu       sync.Mutex // guards all sessions, and the fields of conn and request that say so
	changed  sync.Cond  // a call has ended
	sessions map[string]*session
	live     int // calls that have begun or wait, on all connections
}

// session is one conversation of a host.
type session struct {
	id, key string
	owner   *conn // the connection that opened it; it ends with this one
	host    string
	cwd     string
	project *project // set once open has run, before anything behind it runs

	// Guarded by scheduler.mu.
	waiting list.List // of *request
	running int       // begun and not ended
	tools   map[string]bool
	seq     int64
	opening int64    // when it was opened
	closed  bool     // takes no more calls
	behind  *session // the one to begin when this has ended: the same id opened anew
	held    bool     // is behind another
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
	line  *list.List // the line it stands in; nil when it runs or has ended
	place *list.Element
	begun bool
	done  bool
	seq   int64
}

// plan is what a method makes of its params: what to do, and where to wait.
type plan struct {
	session *session
	opens   bool   // session is new
	closes  bool   // session takes nothing behind this call
	counts  bool   // gets a seq
	tool    string // the tool call it is about; "" waits for all before it
	run     func(ctx context.Context, r *request) (protocol.RawMessage, *rpc.Error)
	after   func() // when the answer is on its way; may be nil
}

func (s *scheduler) init(server *Server) {
	s.server = server
	s.sessions = map[string]*session{}
	s.changed.L = &s.mu
}

var errUnknownSession = rpc.Errorf(rpc.UnknownSession, "unknown session")

// submit puts a call in line. The error is its answer.
func (s *scheduler) submit(r *request) *rpc.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.key != "" {
		if r.conn.calls[r.key] != nil {
			return errDuplicate
		}
	}
	if r.session != nil {
		if failure := s.enter(r); failure != nil {
			return failure
		}
	}
	if r.key != "" {
		r.conn.calls[r.key] = r
	}
	r.conn.live[r] = struct{}{}
	s.live++
	if r.session != nil {
		r.stand(&r.session.waiting)
		s.pump(r.session)
		return nil
	}
	r.begun = true
	r.stand(&r.conn.ready)
	s.launch(r.conn)
	return nil
}

var errDuplicate = rpc.Errorf(rpc.InvalidRequest, "a request with this id is in flight")

func (s *scheduler) enter(r *request) *rpc.Error {
	session := r.session
	if r.opens {
		before := s.sessions[session.id]
		if before != nil && !before.closed {
			return rpc.Errorf(rpc.InvalidParams, "session %q is open already", session.id).With("path", "/id")
		}
		if before != nil {
			before.behind, session.held = session, true
		}
		session.opening = time.Now().UnixNano()
		s.sessions[session.id] = session
	} else if session.closed || s.sessions[session.id] != session {
		return errUnknownSession
	}
	session.closed = session.closed || r.closes
	return nil
}

func (r *request) stand(line *list.List) { r.line, r.place = line, line.PushBack(r) }

func (r *request) leave() {
	if r.line != nil {
		r.line.Remove(r.place)
		r.line, r.place = nil, nil
	}
}

// pump begins what may begin in a session.
func (s *scheduler) pump(session *session) {
	for !session.held && session.waiting.Len() > 0 {
		r := session.waiting.Front().Value.(*request)
		alone := session.running == 0
		besides := r.tool != "" && len(session.tools) == session.running && !session.tools[r.tool]
		if !alone && !besides {
			return
		}
		r.leave()
		r.begun = true
		session.running++
		if r.tool != "" {
			session.tools[r.tool] = true
		}
		if r.counts {
			session.seq++
			r.seq = session.seq
		}
		r.stand(&r.conn.ready)
		s.launch(r.conn)
	}
	s.settle(session)
}

// launch runs what is ready on a connection.
func (s *scheduler) launch(conn *conn) {
	for conn.active < s.server.opt.Parallel && conn.ready.Len() > 0 {
		r := conn.ready.Front().Value.(*request)
		r.leave()
		conn.active++
		conn.running.Go(func() { s.execute(r) })
	}
}

func (s *scheduler) execute(r *request) {
	result, failure := r.do()
	s.mu.Lock()
	delete(r.conn.calls, r.key) // once answered the client may use the id again
	s.mu.Unlock()
	r.answer(result, failure)
	if r.after != nil {
		r.after()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.conn.active--
	s.end(r)
	s.launch(r.conn)
}

// do runs the call. A panic is an answer, never the end of the daemon.
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

// end takes an answered call off its session and connection.
func (s *scheduler) end(r *request) {
	if r.done {
		return
	}
	r.done = true
	if r.conn.calls[r.key] == r {
		delete(r.conn.calls, r.key)
	}
	delete(r.conn.live, r)
	r.conn.ended++
	s.live--
	s.changed.Broadcast()
	if r.session == nil {
		return
	}
	if r.begun {
		r.session.running--
		delete(r.session.tools, r.tool)
	}
	s.pump(r.session)
}

// settle forgets a session that is closed and has ended all its calls.
func (s *scheduler) settle(session *session) {
	if !session.closed || session.running > 0 || session.waiting.Len() > 0 || session.held {
		return
	}
	if s.sessions[session.id] == session {
		delete(s.sessions, session.id)
	}
	if p := session.project; p != nil {
		session.project = nil
		if engine, ok := p.engine.(Forgetter); ok {
			engine.Forget(session.id)
		}
		s.server.projects.release(p)
	}
	if next := session.behind; next != nil {
		session.behind, next.held = nil, false
		s.pump(next)
	}
}

// lookup finds the session that a connection may use: one that it opened, or
// one whose key it knows. It says the same of a wrong key as of no session.
func (s *scheduler) lookup(conn *conn, id, key string) (*session, *rpc.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[id]
	if session == nil || session.closed {
		return nil, errUnknownSession
	}
	if key == "" && session.owner == conn {
		return session, nil
	}
	if !sameSecret(key, session.key) {
		return nil, errUnknownSession
	}
	return session, nil
}

var (
	errByClient     = errors.New("cancelled by the client")
	errDisconnected = errors.New("the client has disconnected")
	errLingered     = errors.New("the daemon is ending")
)

func cancelled(ctx context.Context) *rpc.Error {
	return rpc.Errorf(rpc.Cancelled, "%v", context.Cause(ctx))
}

// cancel ends the call with an id, wherever it stands. An id that is not in
// flight is not an error: the answer may have crossed the cancellation.
func (s *scheduler) cancel(conn *conn, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := conn.calls[key]; r != nil {
		s.stop(r, errByClient)
	}
}

// stop cancels a call. One that does not run yet is answered here.
func (s *scheduler) stop(r *request, cause error) {
	r.cancel(cause)
	if r.line == nil {
		return
	}
	r.leave()
	r.answer(nil, cancelled(r.ctx))
	if r.opens {
		r.session.closed = true
	}
	s.end(r)
}

// abandon cancels every call of a connection but one.
func (s *scheduler) abandon(conn *conn, cause error, but *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range conn.live {
		if r != but {
			s.stop(r, cause)
		}
	}
}

// await waits until done, which is called with the lock held, is true. It
// reports false when ctx ended first.
func (s *scheduler) await(ctx context.Context, done func() bool) bool {
	defer context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !done() {
		if ctx.Err() != nil {
			return false
		}
		s.changed.Wait()
	}
	return true
}

// forget closes the sessions that a connection opened. Calls in line still run.
func (s *scheduler) forget(conn *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		if session.owner == conn {
			session.closed = true
			s.settle(session)
		}
	}
}

// failed closes a session that could not be opened, so that nothing behind the
// open runs without its hooks.
func (s *scheduler) failed(session *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session.closed = true
}
