package daemon

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc"
)

// projects holds the open engines, one for each project root.
type projects struct {
	opt   *Options
	log   *slog.Logger
	abort context.Context // engines are given up when it ends

	mu     sync.Mutex
	byRoot map[string]*project
	uses   uint64
	closed bool
	wg     sync.WaitGroup
}

// project is one engine and who uses it.
type project struct {
	key    string // what Resolve returned
	root   string // what the engine calls its project
	engine Engine
	err    error
	ready  chan struct{} // closed when engine or err is set
	gone   chan struct{} // closed when the engine is being closed

	// Guarded by projects.mu.
	users int
	used  uint64 // counts uses: the higher, the later was the last
	idle  *time.Timer
	conns map[*conn]struct{} // told when its hooks change
}

func (ps *projects) init(opt *Options, log *slog.Logger, abort context.Context) {
	ps.opt, ps.log, ps.abort = opt, log, abort
	ps.byRoot = map[string]*project{}
}

// use returns the engine of a project, opened if need be. Each use needs a
// [projects.release]. A connection that is not nil is told when the hooks change.
func (ps *projects) use(ctx context.Context, c *conn, name, cwd string) (*project, *rpc.Error) {
	key, err := ps.opt.Resolve(name, cwd)
	if err != nil {
		return nil, badParam("/project", "/project: "+err.Error())
	}
	return ps.open(ctx, c, key, cwd)
}

// open does so for what Resolve returned.
func (ps *projects) open(ctx context.Context, c *conn, key, cwd string) (*project, *rpc.Error) {
	p := ps.enter(c, key, cwd)
	if p == nil {
		return nil, rpc.Errorf(rpc.ShuttingDown, "the daemon is shutting down")
	}
	select {
	case <-p.ready:
	case <-ctx.Done():
		ps.release(p)
		return nil, cancelled(ctx)
	}
	if p.err != nil {
		ps.release(p)
		return nil, badParam("/project", "/project: "+p.err.Error())
	}
	return p, nil
}

func (ps *projects) enter(c *conn, key, cwd string) *project {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.closed {
		return nil
	}
	p := ps.byRoot[key]
	if p == nil {
		ps.makeRoom()
		p = &project{key: key, ready: make(chan struct{}), gone: make(chan struct{}), conns: map[*conn]struct{}{}}
		ps.byRoot[key] = p
		ps.wg.Go(func() { ps.run(p, cwd) })
	}
	if p.idle != nil {
		p.idle.Stop()
		p.idle = nil
	}
	p.users++
	ps.uses++
	p.used = ps.uses
	if c != nil {
		p.conns[c] = struct{}{}
	}
	return p
}

// run opens an engine, and then passes on its changes until it is closed.
func (ps *projects) run(p *project, cwd string) {
	engine, err := ps.begin(p, cwd)
	if err != nil {
		p.err = err
		ps.mu.Lock()
		delete(ps.byRoot, p.key) // the next one tries again
		ps.mu.Unlock()
		close(p.ready)
		return
	}
	p.engine = engine
	p.root = engine.List().Project
	close(p.ready)
	for {
		select {
		case <-engine.Changed():
			ps.changed(p)
		case <-p.gone:
			ctx, cancel := context.WithTimeout(ps.abort, ps.drainOf(engine))
			defer cancel()
			if err := engine.Close(ctx); err != nil {
				ps.log.Warn("hooks did not end cleanly", "project", p.root, "error", err)
			}
			return
		}
	}
}

// begin opens an engine, unless the daemon ends meanwhile.
func (ps *projects) begin(p *project, cwd string) (Engine, error) {
	ctx, end := context.WithCancelCause(ps.abort)
	defer end(nil)
	ps.wg.Go(func() {
		select {
		case <-p.gone:
			end(errShutdown)
		case <-ctx.Done():
		}
	})
	return ps.opt.Open(ctx, p.key, cwd)
}

// drainOf is how long an engine may take to close: as long as its observers may,
// and a moment for what is killed then.
func (ps *projects) drainOf(engine Engine) time.Duration {
	if d, says := engine.(Drainer); says {
		return d.Drain() + ps.opt.Linger
	}
	return ps.opt.Drain
}

// release ends one use. The engine stays open for a while, for a host that
// opens one session after the other.
func (ps *projects) release(p *project) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p.users--
	if p.users > 0 || ps.closed || ps.byRoot[p.key] != p {
		return
	}
	p.idle = time.AfterFunc(ps.opt.Idle, func() {
		ps.mu.Lock()
		defer ps.mu.Unlock()
		if p.users == 0 && ps.byRoot[p.key] == p {
			ps.retire(p)
		}
	})
}

// makeRoom closes engines that nobody uses, the one that was used longest ago first, where
// there are too many. Callers of bridge/event can want any number of them.
func (ps *projects) makeRoom() {
	for len(ps.byRoot) >= ps.opt.Limits.Engines {
		var oldest *project
		for _, p := range ps.byRoot {
			if p.users == 0 && (oldest == nil || p.used < oldest.used) {
				oldest = p
			}
		}
		if oldest == nil {
			return
		}
		ps.retire(oldest)
	}
}

// retire has an engine closed that nobody uses. The next use opens another one.
func (ps *projects) retire(p *project) {
	if p.idle != nil {
		p.idle.Stop()
	}
	delete(ps.byRoot, p.key)
	close(p.gone)
}

// leave ends what a connection is told of changes.
func (ps *projects) leave(c *conn) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range ps.byRoot {
		delete(p.conns, c)
	}
}

// watchers returns the connections that have used a project.
func (ps *projects) watchers(p *project) []*conn {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	conns := make([]*conn, 0, len(p.conns))
	for c := range p.conns {
		conns = append(conns, c)
	}
	return conns
}

// changed says that another set of hooks is active. Nothing may be left out
// here, but an unwritten one says the same as two.
func (ps *projects) changed(p *project) {
	listing := p.engine.List()
	for _, c := range ps.watchers(p) {
		c.notify(hooksChanged, struct {
			Project    string `json:"project"`
			Generation int64  `json:"generation"`
		}{p.root, listing.Generation})
	}
}

// close closes every engine and waits for that.
func (ps *projects) close() {
	ps.mu.Lock()
	ps.closed = true
	for key, p := range ps.byRoot {
		if p.idle != nil {
			p.idle.Stop()
		}
		delete(ps.byRoot, key)
		close(p.gone)
	}
	ps.mu.Unlock()
	ps.wg.Wait()
}

func absolute(path string) bool { return filepath.IsAbs(path) }
