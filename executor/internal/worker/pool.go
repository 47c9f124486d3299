package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/executor/internal/inflight"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
)

// Bounds of a [Pool] that no setting moves.
const (
	// maxWorkers is how many processes are kept, of all hooks together.
	maxWorkers = 64
	// layerReserve is how many of these a layer leaves to each layer above it.
	layerReserve = 8
	// MaxSessions is how many sessions have a process of one resident hook.
	MaxSessions = 8
)

// Pool holds the workers of all hooks of a program. A pool without active hooks
// keeps nothing.
type Pool struct {
	runtime *process.Runtime
	base    context.Context
	cancel  context.CancelCauseFunc
	running inflight.Group // the goroutines of the pool

	mu      sync.Mutex
	active  map[identity]*hookWorkers
	workers map[*Worker]struct{} // every process that lives
	closed  bool
}

// NewPool returns an empty pool of processes that rt runs.
func NewPool(rt *process.Runtime) *Pool {
	p := &Pool{runtime: rt, active: map[identity]*hookWorkers{}, workers: map[*Worker]struct{}{}}
	p.base, p.cancel = context.WithCancelCause(context.Background())
	return p
}

// Spec is how the workers of a hook are started.
type Spec struct {
	Command process.Command
	Hash    string   // of the hook's content
	Files   []string // that a process is made of when it starts
	Origin  protocol.Origin

	Resident bool          // one process for each session; else standby
	Size     int           // of a standby hook: processes that wait
	Idle     time.Duration // after which unused processes end
	Grace    time.Duration // from the end of its input to TERM
}

// identity names what a process was started with.
type identity [sha256.Size]byte

// Hook names a hook whose processes are started before their event.
type Hook struct {
	pool *Pool
	spec Spec
	id   identity
}

// Hook returns the hook with these workers. Hooks with equal specs share them.
func (p *Pool) Hook(spec Spec) *Hook {
	return &Hook{pool: p, spec: spec, id: sha256.Sum256(fmt.Appendf(nil, "%#v", spec))}
}

// hookWorkers are the workers of one active hook.
type hookWorkers struct {
	*Hook
	refs     int                       // how many of the sets that are in use have the hook
	idle     []*Worker                 // of a standby hook: waiting, the oldest first
	sessions map[string]*sessionWorker // of a resident hook
	starting int                       // processes that are being started
	used     time.Time
	backOff  backOff // of a standby hook
	timer    *time.Timer
	armed    bool // the timer will fire
	stats    Stats
}

// Worker is one process that was started before its event. A goroutine that talks
// with it holds talk; the process is reaped after that.
type Worker struct {
	hook    *Hook
	owner   *hookWorkers   // nil: the process is for one event only
	session *sessionWorker // of a resident hook
	child   *process.Child
	files   fileStamp
	talk    sync.Mutex
	ending  bool // it is being ended, or has served: its end is no surprise
}

// SetActive makes the hooks of now active in place of those of before. The processes
// of a hook that is no longer active end, those that are being asked after their
// reply. Hooks that are in both keep theirs.
func (p *Pool) SetActive(before, now iter.Seq[*Hook]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for h := range now {
		of := p.active[h.id]
		if of == nil {
			of = &hookWorkers{Hook: h, sessions: map[string]*sessionWorker{}, used: time.Now()}
			p.active[h.id] = of
		}
		of.refs++
	}
	for h := range before {
		if of := p.active[h.id]; of != nil {
			if of.refs--; of.refs == 0 {
				delete(p.active, h.id)
			}
		}
	}
	for w := range p.workers {
		if w.owner != nil && p.active[w.owner.id] == nil {
			p.drop(w)
		}
	}
	for _, of := range p.active {
		p.maintain(of)
	}
}

// drop ends a process that nobody talks with. A process that is being asked ends
// after its reply. p.mu is held.
func (p *Pool) drop(w *Worker) {
	if w.ending {
		return
	}
	if s := w.session; s != nil {
		if s.users > 0 {
			s.over = true
			return
		}
		s.worker = nil
		delete(w.owner.sessions, s.id)
	}
	if w.owner != nil {
		w.owner.removeIdle(w)
	}
	p.end(w)
}

func (of *hookWorkers) removeIdle(w *Worker) {
	of.idle = slices.DeleteFunc(of.idle, func(other *Worker) bool { return other == w })
}

// end ends a process. A resident one gets the end of its input and has the grace
// time to exit; a standby one never got an event and must not act on an empty one.
// p.mu is held.
func (p *Pool) end(w *Worker) {
	w.ending = true
	if w.session == nil {
		w.child.Cancel(process.ErrEnded)
		return
	}
	p.running.Go(func() { w.stopGracefully(w.hook.spec.Grace) })
}

// stopGracefully closes the process's stdin and waits until it has ended, by itself
// within patience or else by force.
func (w *Worker) stopGracefully(patience time.Duration) {
	w.child.Stdin.Close()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.child.Done():
	case <-timer.C:
		w.child.Cancel(process.ErrEnded)
		<-w.child.Done()
	}
}

// start starts a process and watches it until its tree is gone.
func (p *Pool) start(h *Hook, owner *hookWorkers, session *sessionWorker) (*Worker, error) {
	files := stampOf(h.spec.Files)
	child, err := p.runtime.StartIdle(p.base, &h.spec.Command)
	if err != nil {
		return nil, err
	}
	w := &Worker{hook: h, owner: owner, session: session, child: child, files: files}
	p.mu.Lock()
	p.workers[w] = struct{}{}
	if owner != nil {
		owner.stats.Started++
	}
	p.mu.Unlock()
	p.running.Go(func() {
		<-child.Done()
		p.forget(w)
		child.Reap(&w.talk)
	})
	return w, nil
}

// forget removes a process that has ended.
func (p *Pool) forget(w *Worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.workers, w)
	if w.session != nil && w.session.worker == w {
		w.session.worker = nil
	}
	of := w.owner
	if of == nil {
		return
	}
	of.removeIdle(w)
	if w.ending {
		return
	}
	w.ending = true
	of.fail()
	p.maintain(of)
}

// fail notes a process that served no event. p.mu is held.
func (of *hookWorkers) fail() {
	of.stats.Restarts++
	of.backOff.fail(0, 100*time.Millisecond, 5*time.Minute)
}

// maintain starts and ends what a hook should and should not have now, and sets the
// timer for when that changes. p.mu is held.
func (p *Pool) maintain(of *hookWorkers) {
	if p.closed || p.active[of.id] != of {
		if of.timer != nil {
			of.timer.Stop()
		}
		return
	}
	now := time.Now()
	var next time.Duration
	if of.spec.Resident {
		next = p.maintainSessions(of, now)
	} else {
		next = p.maintainIdle(of, now)
	}
	if of.armed = next > 0; !of.armed {
		return
	}
	if of.timer != nil {
		of.timer.Reset(next)
		return
	}
	of.timer = time.AfterFunc(next, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.maintain(of)
	})
}

// makeRoom reports whether one more process may be kept for a hook of an origin. To
// make room it ends the process that was not used for longest, but none of a higher
// origin; and each layer leaves some room to those above it. p.mu is held.
func (p *Pool) makeRoom(origin protocol.Origin) bool {
	starting := 0
	for _, of := range p.active {
		starting += of.starting
	}
	if len(p.workers)+starting < maxWorkers-layerReserve*(protocol.Managed.Rank()-origin.Layer.Rank()) {
		return true
	}
	var oldest *Worker
	for w := range p.workers {
		busy := w.ending || w.owner == nil || w.owner.spec.Origin.Compare(origin) > 0 || w.session != nil && w.session.users > 0
		if !busy && (oldest == nil || w.lastUse().Before(oldest.lastUse())) {
			oldest = w
		}
	}
	if oldest == nil {
		return false
	}
	p.drop(oldest)
	return true
}

func (w *Worker) lastUse() time.Time {
	if w.session != nil {
		return w.session.used
	}
	return w.owner.used
}

// Close ends every process and waits until it is gone. The pool keeps nothing
// afterwards; hooks can be asked all the same.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	for _, of := range p.active {
		if of.timer != nil {
			of.timer.Stop()
		}
	}
	for w := range p.workers {
		p.drop(w)
	}
	p.mu.Unlock()
	<-p.running.Idle()
	p.cancel(errors.New("hookd is shutting down"))
	return nil
}

// Stats tells what a pool has and did for one hook.
type Stats struct {
	Size     int   // processes that may be kept
	Ready    int   // processes that wait
	Started  int64 // since the hook became active
	Used     int64 // events that were given to a kept process
	Restarts int64 // processes that were no use
}

// Stats returns what the pool has for the hook now.
func (h *Hook) Stats() Stats {
	size := h.spec.Size
	if h.spec.Resident {
		size = MaxSessions
	}
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	of := h.pool.active[h.id]
	if of == nil {
		return Stats{Size: size}
	}
	stats := of.stats
	stats.Size, stats.Ready = size, len(of.idle)
	for _, s := range of.sessions {
		if s.users == 0 && s.worker != nil {
			stats.Ready++
		}
	}
	return stats
}
