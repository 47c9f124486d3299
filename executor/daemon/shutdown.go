package daemon

import (
	"context"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// draining reports whether shutdown was called.
func (s *Server) draining() bool { return s.drains.Load() }

func planShutdown(c *conn, _ protocol.RawMessage, r *request) (protocol.RawMessage, *rpc.Error) {
	if c.server.drains.Swap(true) {
		return nil, rpc.Errorf(rpc.InvalidRequest, "shutdown was called before")
	}
	r.run = func(context.Context, *request) (protocol.RawMessage, *rpc.Error) {
		c.server.drain(r)
		return empty, nil
	}
	r.after = func() { c.server.stopNow(errShutdown) }
	return nil, nil
}

// drain lets every event of every client come to its end, and aborts those that
// take more than half of the time there is; then it closes the engines, which
// waits for observers. The answer to shutdown says that all this is over.
func (s *Server) drain(shutdown *request) {
	deadline := time.AfterFunc(s.opt.Drain, s.Abort)
	ctx, cancel := context.WithTimeout(s.abort, s.opt.Drain/2)
	defer cancel()
	if !s.schedule.await(ctx, func() bool { return s.schedule.live <= 1 }) {
		s.each(func(c *conn) { s.schedule.abandon(c, errShutdown, shutdown) })
		ctx, cancel := context.WithTimeout(s.abort, s.opt.Linger)
		defer cancel()
		s.schedule.await(ctx, func() bool { return s.schedule.live <= 1 })
	}
	deadline.Stop()
	s.projects.close()
}
