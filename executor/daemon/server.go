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

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
)

// Engine runs the hooks of one project. The daemon shares it between the
// sessions of the project and closes it when none has used it for a while.
type Engine interface {
	// Fire asks the hooks of one event. The error is non-nil for one reason
	// only: ctx ended. Progress may be called from other goroutines, also after
	// Fire returned (observers finish late).
	Fire(ctx context.Context, event protocol.Event, progress Progress) (protocol.Outcome, error)

	// List describes the hooks as they stand now.
	List() Listing

	// Reload reads everything anew, and returns when that is active.
	Reload(ctx context.Context) error

	// Changed gets a value whenever another set of hooks has become active.
	Changed() <-chan struct{}

	// Close waits for observers and leaves no process behind. When ctx ends it
	// stops waiting and kills.
	Close(ctx context.Context) error
}

// Forgetter is an [Engine] that keeps something of each session in memory.
type Forgetter interface {
	// Forget is called when a session is over.
	Forget(session string)
}

// Drainer is an [Engine] that says how long its observers may take at its end. Without
// it that is [Options.Drain].
type Drainer interface {
	Drain() time.Duration
}

// Progress is told about each hook of an event as it begins and ends. Both
// functions are set.
type Progress struct {
	Started  func(hook string, layer protocol.Layer)
	Finished func(run protocol.Run)
}

// Options configure a [Server]. Only Open is required.
type Options struct {
	// Open starts the engine of a project. The project is what Resolve returned.
	Open func(ctx context.Context, project, cwd string) (Engine, error)

	// Resolve finds the root of the project that a session names, or that its
	// working directory lies in. It is what makes two sessions share an engine.
	// Without it the project's name itself, or else the directory, is the root.
	Resolve func(project, cwd string) (string, error)

	Project, Cwd string // what initialize lists hooks of when it names nothing

	Version string // of the program, for initialize

	LineLimit   int64         // longest line read, default 32 MiB
	Pending     int64         // bytes a connection may hold, in and out, default 64 MiB
	Parallel    int           // events of one connection that run at once, default 64
	Connections int           // default 64
	Linger      time.Duration // how long events go on after a signal or a closed stdin, default 1s
	Drain       time.Duration // how long the events may take at the end, default 10s
	Idle        time.Duration // how long an unused engine is kept, default 30s

	Log slog.Handler // besides the notification log; never stdout. Default: discarded
}

func (o *Options) setDefaults() {
	setDefault(&o.LineLimit, rpc.DefaultLimit)
	setDefault(&o.Pending, 64<<20)
	setDefault(&o.Parallel, 64)
	setDefault(&o.Connections, 64)
	setDefault(&o.Linger, time.Second)
	setDefault(&o.Drain, 10*time.Second)
	setDefault(&o.Idle, 30*time.Second)
	if o.Log == nil {
		o.Log = slog.DiscardHandler
	}
	if o.Resolve == nil {
		o.Resolve = func(project, cwd string) (string, error) {
			if project == "" {
				project = cwd
			}
			return project, nil
		}
	}
}

func setDefault[T int | int64 | time.Duration](value *T, to T) {
	if *value == 0 {
		*value = to
	}
}

// Server is the daemon: every connection, session and project of one process.
type Server struct {
	opt Options
	log *slog.Logger

	stop     context.Context // no new work: a signal, the method shutdown, or the host is gone
	stopNow  context.CancelCauseFunc
	abort    context.Context // no work at all
	abortNow context.CancelCauseFunc

	drains   atomic.Bool // shutdown was called
	schedule scheduler
	projects projects

	mu    sync.Mutex
	conns map[*conn]struct{}
	wg    sync.WaitGroup // connections and the accept loop
}

var (
	errShutdown = errors.New("the daemon is shutting down")
	errAborted  = errors.New("the daemon was told to end at once")
)

// New makes a server that has not begun to serve.
func New(opt Options) *Server {
	opt.setDefaults()
	s := &Server{opt: opt, conns: map[*conn]struct{}{}}
	s.stop, s.stopNow = context.WithCancelCause(context.Background())
	s.abort, s.abortNow = context.WithCancelCause(context.Background())
	s.log = slog.New(&logHandler{server: s, next: opt.Log})
	s.projects.init(s)
	s.schedule.init(s)
	return s
}

// Logger writes to [Options.Log] and to the clients that asked for the
// notification log. The program that runs the daemon gives it to the packages
// it wires together.
func (s *Server) Logger() *slog.Logger { return s.log }

// Abort ends everything at once: what runs is cancelled and observers are not
// waited for. It is the answer to a second signal.
func (s *Server) Abort() {
	s.stopNow(errAborted)
	s.abortNow(errAborted)
}

// Serve serves stdio, the connection of the program that started the daemon,
// and every client that comes to listener; either may be nil. It returns when
// stdio has ended, by end of file or the method shutdown, or when ctx has
// ended, and only after the last event is answered or aborted and every engine
// is closed. It always closes both. The error says why it did not end as asked.
func (s *Server) Serve(ctx context.Context, stdio *rpc.Conn, listener net.Listener) error {
	defer context.AfterFunc(ctx, func() { s.stopNow(context.Cause(ctx)) })()
	// However it ends, it ends: events that are left after Drain are aborted. Engines
	// are closed after that, each within its own time.
	answered := make(chan struct{})
	defer context.AfterFunc(s.stop, func() {
		timer := time.NewTimer(s.opt.Drain)
		defer timer.Stop()
		select {
		case <-answered:
		case <-s.abort.Done():
		case <-timer.C:
			s.Abort()
		}
	})()

	var failed error
	if listener != nil {
		s.wg.Go(func() { failed = s.accept(listener) })
	}
	if stdio != nil {
		s.wg.Go(func() {
			s.serveConn(stdio, true)
			s.stopNow(errShutdown)
		})
	}
	<-s.stop.Done()
	if listener != nil {
		_ = listener.Close()
	}
	s.wg.Wait()
	close(answered)
	s.projects.close()
	s.abortNow(errShutdown)
	return failed
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
			s.stopNow(err)
			return fmt.Errorf("accept clients: %w", err)
		}
		if err := s.admit(peer); err != nil {
			s.log.Warn("a client was refused", "error", err)
			_ = peer.Close()
			continue
		}
		s.wg.Go(func() { s.serveConn(rpc.NewConn(peer, peer, s.opt.LineLimit), false) })
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) >= s.opt.Connections {
		return fmt.Errorf("%d clients are connected already", len(s.conns))
	}
	return nil
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
