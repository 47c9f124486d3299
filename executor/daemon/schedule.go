package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/crew"
)

// scheduler says when each call begins. Calls of a session wait in one queue in
// the order in which they were received and only the first of it may begin: if
// it names a tool call, as soon as all that still run name other ones; if not,
// as soon as none runs. What may begin goes to the ready queue of its
// connection, which runs a bounded number at once. Nothing here waits, and a
// waiting call costs no goroutine.
type scheduler struct {
	parallel int            // calls of one connection that run at once
	leave    func(*session) // called when a session is over
	crew     crew.Crew      // runs the calls

	mu       sync.Mutex // guards all sessions, and the fields of conn and request that say so
	changed  sync.Cond  // a call has ended
	sessions map[string]*session
	live     int      // calls that have begun or wait, on all connections
	ended    int      // calls that have ended
	own      *request // the submitter of this call runs it itself if it may begin at once
}

func (s *scheduler) init(parallel int, leave func(*session)) {
	s.parallel, s.leave = parallel, leave
	s.sessions = map[string]*session{}
	s.changed.L = &s.mu
}

// submit puts a call into its queue. If it may begin at once, mine is true and the
// caller must execute it. The error is its response.
func (s *scheduler) submit(r *request) (mine bool, failure *rpc.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.key != "" && r.conn.calls[r.key] != nil {
		return false, errDuplicate
	}
	if r.session != nil {
		if failure := s.enter(r); failure != nil {
			return false, failure
		}
	}
	if r.key != "" {
		r.conn.calls[r.key] = r
	}
	r.conn.live[r] = struct{}{}
	s.live++
	s.own = r
	if r.session != nil {
		r.enterQueue(&r.session.waiting)
		s.pump(r.session)
	} else {
		r.begun = true
		r.enterQueue(&r.conn.ready)
		s.launch(r.conn)
	}
	mine = s.own == nil
	s.own = nil
	return mine, nil
}

// enter checks that the session of a call takes it.
func (s *scheduler) enter(r *request) *rpc.Error {
	session := r.session
	if r.opens {
		before := s.sessions[session.ID]
		if before != nil && !before.closed {
			return rpc.Errorf(rpc.InvalidParams, "session %q is open already", session.ID).With("path", "/id")
		}
		session.waitsFor = before
		session.opening = time.Now().UnixNano()
		s.sessions[session.ID] = session
	} else if session.closed || s.sessions[session.ID] != session {
		return errUnknownSession
	}
	session.closed = session.closed || r.closes
	return nil
}

// pump begins what may begin in a session.
func (s *scheduler) pump(session *session) {
	for session.mayBegin() {
		r := session.waiting.Front().Value.(*request)
		r.leaveQueue()
		r.begun = true
		session.running++
		if r.tool != "" {
			session.tools[r.tool] = true
		}
		if r.counts {
			session.seq++
			r.seq = session.seq
		}
		r.enterQueue(&r.conn.ready)
		s.launch(r.conn)
	}
	if session.over() {
		s.release(session)
	}
}

// launch runs what is ready on a connection.
func (s *scheduler) launch(conn *conn) {
	for conn.active < s.parallel && conn.ready.Len() > 0 {
		r := conn.ready.Front().Value.(*request)
		r.leaveQueue()
		conn.active++
		if r == s.own {
			s.own = nil
		} else {
			conn.hand(r)
		}
	}
}

// execute runs a call that may begin, and sends its response.
func (s *scheduler) execute(r *request) {
	line := r.encode(r.do())
	s.mu.Lock()
	delete(r.conn.calls, r.key) // once it has its response the client may use the id again
	r.putResponse(line)
	r.conn.active--
	s.end(r)
	s.launch(r.conn)
	s.mu.Unlock()
	r.conn.out.Write()
}

// end takes a call that has its response off its session and connection.
func (s *scheduler) end(r *request) {
	if r.done {
		return
	}
	r.done = true
	if r.conn.calls[r.key] == r {
		delete(r.conn.calls, r.key)
	}
	delete(r.conn.live, r)
	s.live--
	s.ended++
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

// release forgets a session that is over, and lets the one begin that waited for it.
func (s *scheduler) release(over *session) {
	for next := s.sessions[over.ID]; next != nil; next = next.waitsFor {
		if next.waitsFor == over {
			next.waitsFor = nil
			defer s.pump(next)
		}
	}
	if s.sessions[over.ID] == over {
		delete(s.sessions, over.ID)
	}
	s.leave(over)
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

// cancel ends the call with an id, wherever it stands. An id that is not in
// flight is not an error: the response may have crossed the cancellation.
func (s *scheduler) cancel(conn *conn, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := conn.calls[key]; r != nil {
		s.stop(r, errByClient)
	}
}

// stop cancels a call. One that does not run yet gets its response here.
func (s *scheduler) stop(r *request, cause error) {
	r.cancel(cause)
	if r.queue == nil {
		return
	}
	r.leaveQueue()
	r.respond(nil, cancelled(r.ctx))
	if r.opens {
		r.session.closed = true
	}
	s.end(r)
}

// abandon cancels every call of a connection.
func (s *scheduler) abandon(conn *conn, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range conn.live {
		s.stop(r, cause)
	}
}

// drain waits until no call is in flight, and reports whether that came about. It
// gives up when ctx ends, or when no call has ended for as long as patience says.
func (s *scheduler) drain(ctx context.Context, patience time.Duration) bool {
	for {
		ended, idle := -1, false
		round, cancel := context.WithTimeout(ctx, patience)
		progress := s.await(round, func() bool {
			if ended < 0 {
				ended = s.ended
			}
			idle = s.live == 0
			return idle || s.ended > ended
		})
		cancel()
		if idle || !progress {
			return idle
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

// forget closes the sessions that a connection opened. Calls that wait still run.
func (s *scheduler) forget(conn *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		if session.owner == conn {
			session.closed = true
			s.pump(session)
		}
	}
}

// failed closes a session that could not be opened, so that no later call runs
// without its hooks.
func (s *scheduler) failed(session *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session.closed = true
}
