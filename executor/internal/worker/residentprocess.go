package worker

import (
	"context"
	"time"

	"github.com/hookd-dev/hookd/executor/process"
)

// sessionWorker is the place of one session's process of a resident hook.
type sessionWorker struct {
	id      string
	turn    chan struct{} // held by the event that is being asked
	users   int           // events that are asked or wait for their turn
	used    time.Time
	over    bool            // the session or the hook is over: the process ends with this turn
	worker  *Worker         // nil until the first event, and after a process that failed
	gone    <-chan struct{} // closed when the tree of a process that failed is gone; nil without one
	backOff backOff
}

// Lease is the right to talk with a session's process about one event. It is
// returned by [Hook.AcquireSession] and ends with Release.
type Lease struct {
	hook    *Hook
	session *sessionWorker // nil: no process is kept for the session
}

// AcquireSession waits until the session's process of a resident hook is free, until
// the tree of one that failed is gone, and until another one may be started. The error is
// the cause of ctx. Standby hooks have no sessions: their lease is nil.
func (h *Hook) AcquireSession(ctx context.Context, session string) (*Lease, error) {
	if !h.spec.Resident {
		return nil, nil
	}
	lease := &Lease{h, h.pool.session(h, session)}
	s := lease.session
	if s == nil {
		return lease, nil
	}
	select {
	case s.turn <- struct{}{}:
	default:
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			h.pool.release(h, s, false)
			return nil, context.Cause(ctx)
		}
	}
	if err := s.recover(ctx); err != nil {
		lease.Release(false)
		return nil, err
	}
	return lease, nil
}

// Release gives the session's process back. sessionOver says that the session will
// not need it again. Release may be called on a nil lease.
func (l *Lease) Release(sessionOver bool) {
	if l == nil || l.session == nil {
		return
	}
	<-l.session.turn
	l.hook.pool.release(l.hook, l.session, sessionOver)
}

// Worker returns the session's process: the one that it has, unless the hook's files
// changed after its start, or else a new one. Where there is no room to keep one, the
// process is for this event only.
func (l *Lease) Worker() (*Worker, error) {
	h, s := l.hook, l.session
	if s == nil {
		return h.StartForOneEvent()
	}
	p := h.pool
	p.mu.Lock()
	of := p.active[h.id]
	if w := s.worker; w != nil && !w.ending {
		if w.files.current(h.spec.Files) {
			if of != nil {
				of.stats.Used++
			}
			p.mu.Unlock()
			return w, nil
		}
		s.worker = nil
		p.end(w)
	}
	if of == nil { // the hook became inactive while the lease was held
		of = &hookWorkers{Hook: h}
	}
	room := p.makeRoom(h.spec.Origin)
	if room {
		of.starting++
	}
	p.mu.Unlock()
	if !room {
		return h.StartForOneEvent()
	}
	w, err := p.start(h, of, s)
	p.mu.Lock()
	defer p.mu.Unlock()
	of.starting--
	if err != nil {
		return nil, err
	}
	if !w.ending {
		s.worker = w
		of.stats.Used++
	}
	return w, nil
}

// StartForOneEvent starts a process that is not kept.
func (h *Hook) StartForOneEvent() (*Worker, error) { return h.pool.start(h, nil, nil) }

// recover waits until the tree of a process that failed is gone, and until another one
// may be started.
func (s *sessionWorker) recover(ctx context.Context) error {
	if s.gone != nil {
		select {
		case <-s.gone:
			s.gone = nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	pause := time.Until(s.backOff.until)
	if pause <= 0 || s.worker != nil {
		return nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// session returns the place of a session, nil where none is kept: the hook is not
// active, or too many sessions are at work with it.
func (p *Pool) session(h *Hook, id string) *sessionWorker {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.active[h.id]
	if of == nil || p.closed {
		return nil
	}
	s := of.sessions[id]
	if s == nil || s.over { // the process of a session that is over goes with its last event
		if s == nil && len(of.sessions) >= MaxSessions && !p.evictOldest(of) {
			return nil
		}
		s = &sessionWorker{id: id, turn: make(chan struct{}, 1)}
		of.sessions[id] = s
	}
	s.users++
	return s
}

// evictOldest ends the process of the session that has not used it for longest, and
// reports whether there was one. p.mu is held.
func (p *Pool) evictOldest(of *hookWorkers) bool {
	var oldest *sessionWorker
	for _, s := range of.sessions {
		if s.users == 0 && (oldest == nil || s.used.Before(oldest.used)) {
			oldest = s
		}
	}
	if oldest == nil {
		return false
	}
	p.evict(of, oldest)
	return true
}

// evict removes a session that nobody uses, and ends its process. of is nil for a
// hook that is not active. p.mu is held.
func (p *Pool) evict(of *hookWorkers, s *sessionWorker) {
	if of != nil && of.sessions[s.id] == s {
		delete(of.sessions, s.id)
	}
	if w := s.worker; w != nil && !w.ending {
		s.worker = nil
		p.end(w)
	}
}

// release notes that one event less uses the session.
func (p *Pool) release(h *Hook, s *sessionWorker, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.users--
	s.over = s.over || over
	s.used = time.Now()
	of := p.active[h.id]
	switch {
	case s.users > 0:
	case of == nil || of.sessions[s.id] != s || s.over || p.closed:
		p.evict(of, s)
	case !of.armed:
		p.maintain(of)
	}
}

// EndSession ends the process that the hook has for a session, after the reply that it
// is writing now.
func (h *Hook) EndSession(session string) {
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	of := h.pool.active[h.id]
	if of == nil {
		return
	}
	switch s := of.sessions[session]; {
	case s == nil:
	case s.users > 0:
		s.over = true
	default:
		h.pool.evict(of, s)
	}
}

// maintainSessions ends the processes that no session has used for long, and returns
// when to look again. p.mu is held.
func (p *Pool) maintainSessions(of *hookWorkers, now time.Time) (next time.Duration) {
	for _, s := range of.sessions {
		if s.users > 0 {
			next = max(next, of.spec.Idle)
			continue
		}
		left := of.spec.Idle - now.Sub(s.used)
		if left <= 0 {
			p.evict(of, s)
		} else if next == 0 || left < next {
			next = left
		}
	}
	return next
}

// markHealthy notes that the process has replied as it should and stays.
func (w *Worker) markHealthy() {
	w.hook.pool.mu.Lock()
	defer w.hook.pool.mu.Unlock()
	w.session.backOff.reset()
}

// discard ends a process that has replied and is to get no more events: at once
// where cause says why its event is over, else with the grace time.
func (w *Worker) discard(cause error) {
	p := w.hook.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	w.ending = true
	if w.session != nil && w.session.worker == w {
		w.session.worker = nil
	}
	if cause != nil {
		w.child.Cancel(cause)
		return
	}
	p.running.Go(func() { w.stopGracefully(w.hook.spec.Grace) })
}

// giveUp takes a process that did not reply away from its session, whose next process
// has to wait: after the first failure only until the tree is gone, then longer each time.
func (w *Worker) giveUp(result *process.Result) {
	p := w.hook.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	s := w.session
	if s == nil {
		w.ending = true
		return
	}
	if !w.ending { // else forget has counted it
		w.ending = true
		w.owner.stats.Restarts++
	}
	if s.worker == w {
		s.worker = nil
	}
	s.gone = result.Gone
	s.backOff.fail(1, 50*time.Millisecond, time.Second)
}
