package daemon

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// conn is one client.
type conn struct {
	server *Server
	lines  *rpc.Conn
	stdio  bool // the connection of the program that started the daemon
	budget *budget
	out    outbox

	peer atomic.Pointer[peer] // what initialize said; never nil

	// Guarded by scheduler.mu.
	calls   map[string]*request // in flight, by id
	live    map[*request]struct{}
	ready   list.List // of *request: may run, waits for its turn on this connection
	active  int       // how many run
	ended   int       // how many have ended
	running sync.WaitGroup
}

// overhead is what a request costs besides the bytes of its line.
const overhead = 1 << 10

func (s *Server) serveConn(lines *rpc.Conn, stdio bool) {
	c := &conn{
		server: s, lines: lines, stdio: stdio,
		budget: newBudget(s.opt.Pending),
		calls:  map[string]*request{}, live: map[*request]struct{}{},
	}
	c.peer.Store(&peer{})
	c.out.init(c.budget)
	s.add(c)
	defer s.remove(c)
	defer s.projects.leave(c)

	written := make(chan struct{})
	go func() {
		defer close(written)
		if err := c.out.writeTo(lines); err != nil {
			// Nobody reads the answers, so nobody wants them.
			c.hangUp(errDisconnected)
		}
	}()
	stopped := context.AfterFunc(s.stop, func() { _ = lines.CloseRead(); c.budget.end() })
	err := c.read()
	stopped()
	if err != nil && !errors.Is(err, io.EOF) && s.stop.Err() == nil {
		s.log.Warn("a connection was lost", "error", err)
	}

	s.schedule.forget(c)
	if stdio || s.stop.Err() != nil {
		c.linger()
		s.schedule.abandon(c, errLingered, nil)
	} else {
		s.schedule.abandon(c, errDisconnected, nil)
	}
	c.settle()
	c.out.close()
	c.flush(written)
	_ = lines.Close()
}

// linger lets what is in flight come to an end. A host that closes stdin may
// still want the answers to what it sent, but a hook that hangs must not keep
// the daemon: Linger without one call ending is the end.
func (c *conn) linger() {
	all, cancel := context.WithTimeout(c.server.abort, c.server.opt.Drain)
	defer cancel()
	for idle := false; !idle; {
		ended := -1
		ctx, cancel := context.WithTimeout(all, c.server.opt.Linger)
		progress := c.server.schedule.await(ctx, func() bool {
			if ended < 0 {
				ended = c.ended
			}
			idle = len(c.live) == 0
			return idle || c.ended > ended
		})
		cancel()
		if !progress {
			return
		}
	}
}

// settle waits for the calls that were cancelled. An engine that does not give
// up when its context ends must not keep the daemon.
func (c *conn) settle() {
	ended := make(chan struct{})
	go func() { defer close(ended); c.running.Wait() }()
	select {
	case <-ended:
		return
	case <-c.server.abort.Done():
	}
	timer := time.NewTimer(c.server.opt.Linger)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		c.server.log.Error("an event did not end when it was aborted")
	}
}

// flush waits until all is written, but not for a client that does not read.
func (c *conn) flush(written <-chan struct{}) {
	timer := time.NewTimer(c.server.opt.Linger)
	defer timer.Stop()
	select {
	case <-written:
		return
	case <-timer.C:
	}
	_ = c.lines.Close()
	select {
	case <-written:
	case <-time.After(c.server.opt.Linger): // a blocking descriptor cannot be woken
	}
}

// hangUp ends the connection from our side.
func (c *conn) hangUp(cause error) {
	_ = c.lines.CloseRead()
	c.budget.end()
	c.server.schedule.abandon(c, cause, nil)
}

func (c *conn) read() error {
	for {
		line, err := c.lines.Recv()
		var long *rpc.TooLongError
		switch {
		case errors.As(err, &long):
			if !c.budget.take(overhead) {
				return nil
			}
			c.send(rpc.AppendError(nil, nil, rpc.Errorf(rpc.TooLarge, "%v", long).With("limit", long.Limit)))
			c.budget.add(-overhead)
		case err != nil:
			return err
		case !c.receive(line):
			return nil
		}
	}
}

// receive takes in one line. It waits while the budget is used up, and reports
// false when the connection has ended meanwhile.
func (c *conn) receive(line []byte) bool {
	cost := int64(cap(line)) + overhead
	if !c.budget.take(cost) {
		return false
	}
	m, failure := rpc.Parse(line)
	if failure != nil {
		c.send(rpc.AppendError(nil, nil, failure))
		c.budget.add(-cost)
		return true
	}
	c.handle(&m, cost)
	return true
}

// handle begins one message. What it cannot begin it answers.
func (c *conn) handle(m *rpc.Message, cost int64) {
	r := &request{conn: c, id: m.ID, key: m.Key(), cost: cost}
	r.ctx, r.cancel = context.WithCancelCause(c.server.abort)
	failure := m.Invalid
	if failure == nil && m.Method == "" {
		// An answer, though nothing was asked. To answer it could go on for ever.
		c.server.log.Debug("an answer to no request was ignored")
		r.id = nil
		r.answer(nil, nil)
		return
	}
	if failure != nil && r.id == nil {
		// Not a notification: its id could not be read.
		r.refuse(failure)
		return
	}
	var now protocol.RawMessage
	if failure == nil {
		now, failure = c.plan(m, r)
	}
	if failure == nil && now == nil {
		failure = c.server.schedule.submit(r)
		if failure == nil {
			return
		}
		if failure == errDuplicate {
			// Answered under its id it would pass for the answer to the first one.
			r.refuse(failure.With("id", r.id))
			return
		}
	}
	r.answer(now, failure)
}

// plan finds the method and lets it read its params. An answer that is ready at
// once is returned; a call with neither that nor an error has to be run.
func (c *conn) plan(m *rpc.Message, r *request) (now protocol.RawMessage, failure *rpc.Error) {
	defer func() {
		if p := recover(); p != nil {
			c.server.log.Error("panic in a handler", "method", m.Method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			now, failure = nil, rpc.Errorf(rpc.InternalError, "internal error")
		}
	}()
	method, ok := methods[m.Method]
	switch {
	case !ok || method.stdio && !c.stdio:
		return nil, rpc.Errorf(rpc.MethodNotFound, "unknown method %q", m.Method)
	case c.server.draining() && !method.anytime:
		return nil, rpc.Errorf(rpc.ShuttingDown, "the daemon is shutting down")
	}
	return method.plan(c, m.Params, r)
}

// answer answers a request, once.
func (r *request) answer(result protocol.RawMessage, failure *rpc.Error) {
	var line []byte
	switch {
	case r.id == nil && failure != nil && failure.Code != rpc.Cancelled:
		r.conn.server.log.Warn("a notification came to nothing", "error", failure.Error())
	case r.id == nil:
	case failure != nil:
		line = rpc.AppendError(nil, r.id, failure)
	default:
		line = rpc.AppendResult(make([]byte, 0, len(result)+len(r.id)+64), r.id, result)
	}
	if line != nil {
		r.conn.send(line)
	}
	r.conn.budget.add(-r.cost)
	r.cancel(nil)
}

// refuse answers with an error and no id.
func (r *request) refuse(failure *rpc.Error) {
	r.conn.send(rpc.AppendError(nil, nil, failure))
	r.conn.budget.add(-r.cost)
	r.cancel(nil)
}

func (c *conn) send(line []byte) { c.out.put(line) }
