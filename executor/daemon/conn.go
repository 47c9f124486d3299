package daemon

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/hookd-dev/hookd/executor/daemon/internal/outbox"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/crew"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
)

// conn is one client.
type conn struct {
	server *Server
	lines  *rpc.Conn
	stdio  bool // the connection of the program that started the daemon
	caller caller
	budget *outbox.Budget
	out    *outbox.Outbox
	goroutines

	peer atomic.Pointer[peer] // what initialize said; never nil

	// Guarded by scheduler.mu.
	calls  map[string]*request // in flight, by id
	live   map[*request]struct{}
	ready  list.List // of *request: may run, waits for its turn on this connection
	active int       // how many run
}

// caller is who is at the other end.
type caller struct {
	socket.Peer             // at the other end of a socket, as far as the system tells
	turnedAway  atomic.Bool // it does itself what the daemon would do otherwise
}

// overhead is what a request takes of the budget besides the bytes of its line.
const overhead = 1 << 10

// serveConn serves a client until it is gone, or the daemon has finished.
func (s *Server) serveConn(lines *rpc.Conn, stdio bool, process socket.Peer) {
	c := &conn{
		server: s, lines: lines, stdio: stdio, caller: caller{Peer: process},
		budget: outbox.NewBudget(s.opt.Limits.Pending),
		calls:  map[string]*request{}, live: map[*request]struct{}{},
	}
	c.peer.Store(&peer{})
	c.out = outbox.New(c.budget, lines, func() { c.hangUp(errDisconnected) })
	c.goroutines.init(&s.schedule.crew, c.next, s.schedule.execute)
	s.add(c)
	defer s.remove(c)
	defer s.projects.leave(c)

	if s.finished.Err() != nil {
		c.stopReading()
	}
	if err := c.serve(); err != nil && !errors.Is(err, io.EOF) && s.finished.Err() == nil {
		s.log.Warn("a connection was lost", "error", err)
	}
	lines.Release() // nothing reads any more
	s.schedule.forget(c)
	if stdio {
		s.stop.enter(errShutdown)
	}
	if stdio || s.stop.Err() != nil {
		<-s.finished.Done() // a host that closes stdin may still want the responses to what it sent
	}
	s.schedule.abandon(c, errDisconnected)
	if !s.schedule.await(s.abort, func() bool { return len(c.live) == 0 }) {
		// An engine that does not give up when its context ends must not keep the daemon.
		ctx, cancel := context.WithTimeout(context.Background(), s.opt.Linger)
		s.schedule.await(ctx, func() bool { return len(c.live) == 0 })
		cancel()
	}
	c.reportUnsent(c.out.Close(s.opt.Linger))
	_ = lines.Close()
}

// stopReading makes [conn.serve] return.
func (c *conn) stopReading() {
	_ = c.lines.CloseRead()
	c.budget.End()
}

// hangUp ends the connection and cancels its calls.
func (c *conn) hangUp(cause error) {
	c.stopReading()
	c.server.schedule.abandon(c, cause)
}

// reportUnsent logs what the client never got: which client, which requests and why.
func (c *conn) reportUnsent(lost outbox.Unsent) {
	requests := lost.Requests()
	if requests == "" {
		return
	}
	why := "the connection was closed before they were written"
	if lost.Err != nil {
		why = lost.Err.Error()
	}
	c.server.log.Error("responses were lost: the client does not know what was decided", "client", c.client(), "requests", requests, "error", why)
}

// client names the program at the other end of the connection.
func (c *conn) client() string {
	name := text.Shorten(cmp.Or(c.peer.Load().name, "a client that gave no name"), 60)
	switch {
	case c.stdio:
		return name + " (on stdin and stdout)"
	case c.caller.PID != 0:
		return fmt.Sprintf("%s (process %d)", name, c.caller.PID)
	}
	return name
}

// next reads messages until one of them is a call that the caller is to run. The
// error is the end of the connection.
func (c *conn) next() (*request, error) {
	for {
		line, err := c.lines.Recv()
		var long *rpc.TooLongError
		switch {
		case errors.As(err, &long):
			if !c.budget.Take(overhead) {
				return nil, io.EOF
			}
			c.send(rpc.AppendError(nil, nil, rpc.Errorf(rpc.TooLarge, "%v", long).With("limit", long.Limit)))
			c.budget.Add(-overhead)
			continue
		case err != nil:
			return nil, err
		}
		cost := int64(cap(line)) + overhead
		if !c.budget.Take(cost) {
			return nil, io.EOF
		}
		if r := c.receive(line, cost); r != nil {
			return r, nil
		}
	}
}

// receive takes the message of a line. It responds to what cannot run. A call that may
// run at once is returned; others run when it is their turn.
func (c *conn) receive(line []byte, cost int64) *request {
	m, failure := rpc.Parse(line)
	if failure != nil {
		c.send(rpc.AppendError(nil, nil, failure))
		c.budget.Add(-cost)
		return nil
	}
	r := &request{conn: c, id: m.ID, key: m.Key(), cost: cost}
	r.method = m.Method
	r.ctx, r.cancel = context.WithCancelCause(c.server.abort)
	if failure = m.Invalid; failure == nil && m.Method == "" {
		// This is a response, and the daemon sends no requests. Two sides that respond to
		// responses would never end.
		c.server.log.Debug("a response to no request was ignored")
		r.id = nil
		r.respond(nil, nil)
		return nil
	}
	if failure != nil && r.id == nil {
		// Not a notification: its id could not be read.
		r.refuse(failure)
		return nil
	}
	var now protocol.RawMessage
	if failure == nil {
		now, failure = c.plan(&m, r)
	}
	if failure == nil && now == nil {
		if r.run == nil {
			return nil // its response comes later
		}
		var mine bool
		if mine, failure = c.server.schedule.submit(r); mine {
			return r
		}
		switch failure {
		case nil:
			return nil
		case errDuplicate:
			// Under its id this would pass for the response to the first request.
			r.refuse(failure.With("id", r.id))
			return nil
		}
	}
	r.respond(now, failure)
	return nil
}

// send has a line written, without waiting for that.
func (c *conn) send(line []byte) {
	c.out.Put(line, outbox.Subject{})
	c.out.WriteInBackground()
}

// goroutines run the calls of one connection, as a leader and its followers. One of
// them, the leader, reads at any time. When it has read a call that may run at once, it
// runs and ends that call itself, and a follower reads on: handing over the reading
// takes as long as handing over the call would, but nobody waits for it. Followers come
// from the server's crew.
type goroutines struct {
	crew *crew.Crew
	next func() (*request, error) // reads until there is a call to run
	run  func(*request)
	end  chan error // why nothing is read any more
}

func (g *goroutines) init(c *crew.Crew, next func() (*request, error), run func(*request)) {
	g.crew, g.next, g.run = c, next, run
	g.end = make(chan error, 1)
}

// serve reads and runs calls until the connection has ended, and returns why.
// Calls may still run then.
func (g *goroutines) serve() error {
	g.hand(nil)
	return <-g.end
}

// hand gives a call to a follower; nil has it read. It never waits.
func (g *goroutines) hand(r *request) { g.crew.Go(func() { g.work(r) }) }

func (g *goroutines) work(r *request) {
	if r == nil {
		var err error
		if r, err = g.next(); err != nil {
			g.end <- err
			return
		}
		g.hand(nil)
	}
	g.run(r)
}
