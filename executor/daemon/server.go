package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
)

// Server is the daemon: every connection, session and project of one process.
type Server struct {
	opt Options
	log *slog.Logger

	stop     *phase // no new work: a signal, the method shutdown, or the host is gone
	abort    *phase // no work at all
	finished *phase // all calls have their response, and all engines are closed

	shutdown atomic.Pointer[request] // the call of the method shutdown; its response is sent when all is over
	schedule scheduler
	projects projects

	mu    sync.Mutex
	conns map[*conn]struct{}
	used  time.Time      // when the last connection of use ended, or the daemon began
	wg    sync.WaitGroup // connections, the accept loop and endUnused
}

// phase is a point of no return in the life of a server.
type phase struct {
	context.Context
	enter context.CancelCauseFunc
}

func newPhase() *phase {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &phase{ctx, cancel}
}

// New makes a server that has not begun to serve.
func New(opt Options) *Server {
	opt.setDefaults()
	s := &Server{opt: opt, stop: newPhase(), abort: newPhase(), finished: newPhase(), conns: map[*conn]struct{}{}, used: time.Now()}
	s.log = slog.New(&logHandler{wanted: s.logged, each: s.each, next: opt.Log})
	s.projects.init(&s.opt, s.log, s.abort)
	s.schedule.init(opt.Limits.Parallel, func(over *session) { over.leaveProject(&s.projects) })
	return s
}

// Logger writes to [Options.Log] and to the clients that asked for the
// notification log. The program that runs the daemon gives it to the packages
// it wires together.
func (s *Server) Logger() *slog.Logger { return s.log }

// Abort ends everything at once: what runs is cancelled and observers are not
// waited for. A second signal leads here.
func (s *Server) Abort() {
	s.stop.enter(errAborted)
	s.abort.enter(errAborted)
}

// Serve serves stdio, the connection of the program that started the daemon,
// and every client that comes to listener; either may be nil. It returns when
// stdio has ended, by end of file or the method shutdown, or when ctx has
// ended, and only after the last event has its response or is aborted and every engine
// is closed. It always closes both. The error says why it did not end as asked.
func (s *Server) Serve(ctx context.Context, stdio *rpc.Conn, listener net.Listener) error {
	defer context.AfterFunc(ctx, func() { s.stop.enter(context.Cause(ctx)) })()
	var failed error
	if listener != nil {
		s.wg.Go(func() { failed = s.accept(listener) })
	}
	if stdio != nil {
		s.wg.Go(func() { s.serveConn(stdio, true, socket.Peer{}) })
	}
	if s.opt.EndUnused > 0 {
		s.wg.Go(s.endUnused)
	}
	<-s.stop.Done()
	if listener != nil {
		_ = listener.Close()
	}
	s.finish()
	s.wg.Wait()
	s.schedule.crew.End()
	return failed
}

// finish ends the daemon, for any reason. New calls are refused
// from its beginning. Those in flight come to their end, or are aborted; then the
// engines are closed, which waits for observers; then the response to the method
// shutdown is sent, and the connections are closed.
func (s *Server) finish() {
	patience, cause := s.opt.Linger, errEnding
	if s.shutdown.Load() != nil {
		patience, cause = s.opt.Drain/2, errShutdown
	}
	drain, cancel := context.WithTimeout(s.abort, s.opt.Drain)
	s.schedule.drain(drain, patience)
	cancel()
	s.each(func(c *conn) { s.schedule.abandon(c, cause) })
	last, cancel := context.WithTimeout(context.Background(), s.opt.Linger)
	if !s.schedule.await(last, func() bool { return s.schedule.live == 0 }) {
		s.log.Error("an event did not end when it was aborted")
	}
	cancel()
	s.projects.close()
	s.abort.enter(errShutdown)
	if r := s.shutdown.Load(); r != nil {
		r.respond(empty, nil)
	}
	s.finished.enter(errShutdown)
	s.each((*conn).stopReading)
}

func (s *Server) accept(listener net.Listener) error {
	for {
		peer, err := listener.Accept()
		if err != nil {
			if s.stop.Err() != nil {
				return nil
			}
			var temporary interface{ Temporary() bool }
			if errors.As(err, &temporary) && temporary.Temporary() {
				// Out of descriptors, most likely: it may pass.
				s.log.Warn("cannot accept a client", "error", err)
				if sleep(s.stop, 100*time.Millisecond) != nil {
					return nil
				}
				continue
			}
			s.stop.enter(err)
			return fmt.Errorf("accept clients: %w", err)
		}
		if err := s.admit(peer); err != nil {
			s.log.Warn("a client was refused", "error", err)
			_ = peer.Close()
			continue
		}
		s.wg.Add(1)
		s.schedule.crew.Go(func() {
			defer s.wg.Done()
			s.serveConn(rpc.NewConn(peer, peer, s.opt.Limits.Line), false, processOf(peer))
		})
	}
}

// admit checks who is at the other end: only programs of our own user are
// served, and not too many of them.
func (s *Server) admit(peer net.Conn) error {
	if unix, ok := peer.(*net.UnixConn); ok {
		who, err := socket.PeerOf(unix)
		if err != nil {
			return err
		}
		if err := who.CheckUser(); err != nil {
			return err
		}
	}
	if s.opt.Outdated != nil && s.opt.Outdated() {
		s.stop.enter(errOutdated)
		return errOutdated
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) >= s.opt.Limits.Connections {
		return fmt.Errorf("%d clients are connected already", len(s.conns))
	}
	return nil
}

// processOf asks the system which process is at the other end. It says nothing of a
// connection that is no Unix socket.
func processOf(peer net.Conn) (process socket.Peer) {
	if unix, ok := peer.(*net.UnixConn); ok {
		process, _ = socket.PeerOf(unix) // admit has refused those that the system says nothing of
	}
	return process
}

func (s *Server) add(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if !c.caller.turnedAway.Load() {
		s.used = time.Now()
	}
}

// endUnused ends the daemon when it was of use to no client for as long as
// [Options.EndUnused] says. A client that comes at that moment finds nobody, as it would a
// moment later.
func (s *Server) endUnused() {
	for {
		s.mu.Lock()
		left := s.opt.EndUnused - time.Since(s.used)
		if len(s.conns) > 0 {
			left = s.opt.EndUnused
		}
		s.mu.Unlock()
		if left <= 0 {
			s.stop.enter(errUnused)
			return
		}
		if sleep(s.stop, left) != nil {
			return
		}
	}
}

// each calls f for every connection, without a lock.
func (s *Server) each(f func(*conn)) {
	s.mu.Lock()
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		f(c)
	}
}

// logged reports whether a client asked for the notification log.
func (s *Server) logged() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if c.peer.Load().wants(logMessage) {
			return true
		}
	}
	return false
}

// sleep waits for a while. It returns the cause of a context that ends before.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
