package executor

import (
	"context"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// seat is the place of one session's process.
type seat struct {
	session string
	turn    chan struct{} // held by whoever asks
	users   int           // who asks or waits to
	used    time.Time
	over    bool  // the hook rules no more, or the session is over: ends with this turn
	holds   *kept // nil until the first event, and after a death
	ending  <-chan struct{}
	failed  int
	rest    time.Time // none is started before
}

// takeTurn waits until a hook that answers one event at a time is free. The wait
// counts against the event's budget, not against the hook's limit.
func takeTurn(budget context.Context, q *Question) (done func(), err error) {
	r, ok := q.Hook.Asker.(*resident)
	if !ok {
		return func() {}, nil
	}
	s := r.pool.sit(&r.standing, q.Event.Session.ID)
	if s == nil {
		return func() {}, nil
	}
	select {
	case s.turn <- struct{}{}:
	default:
		select {
		case s.turn <- struct{}{}:
		case <-budget.Done():
			r.pool.rise(&r.standing, s, false)
			return nil, context.Cause(budget)
		}
	}
	done = func() {
		<-s.turn
		r.pool.rise(&r.standing, s, q.Event.Event == protocol.SessionEnd)
	}
	if err := s.recover(budget); err != nil {
		done()
		return nil, err
	}
	q.seat = s
	return done, nil
}

// recover waits until the tree of a process that was ended is gone, and until
// another may be started.
func (s *seat) recover(budget context.Context) error {
	if s.ending != nil {
		select {
		case <-s.ending:
			s.ending = nil
		case <-budget.Done():
			return context.Cause(budget)
		}
	}
	pause := time.Until(s.rest)
	if pause <= 0 || s.holds != nil {
		return nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-budget.Done():
		return context.Cause(budget)
	}
}

// sit returns the seat of a session, nil where nothing is kept: the hook rules no
// more, or too many sessions are at work with it at once.
func (p *Pool) sit(of *standing, session string) *seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lines[of.id]
	if l == nil || p.closed {
		return nil
	}
	s := l.seats[session]
	if s == nil || s.over { // the process of a session that is over goes with whoever asks it last
		if s == nil && len(l.seats) >= seatsMost && !p.freeSeat(l) {
			return nil
		}
		s = &seat{session: session, turn: make(chan struct{}, 1)}
		l.seats[session] = s
	}
	s.users++
	return s
}

// freeSeat ends the process of the session that has not used it for longest.
// p.mu is held.
func (p *Pool) freeSeat(l *line) bool {
	var oldest *seat
	for _, s := range l.seats {
		if s.users == 0 && (oldest == nil || s.used.Before(oldest.used)) {
			oldest = s
		}
	}
	if oldest == nil {
		return false
	}
	p.vacate(l, oldest)
	return true
}

// vacate takes an unused seat away. p.mu is held.
func (p *Pool) vacate(l *line, s *seat) {
	if l.seats[s.session] == s {
		delete(l.seats, s.session)
	}
	if k := s.holds; k != nil && !k.ending {
		s.holds = nil
		p.end(k)
	}
}

// rise gives a seat back; over says that the session has no use for it any more.
func (p *Pool) rise(of *standing, s *seat, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.users--
	s.over = s.over || over
	s.used = time.Now()
	l := p.lines[of.id]
	switch {
	case s.users > 0:
	case l == nil || l.seats[s.session] != s || s.over || p.closed:
		if k := s.holds; k != nil && !k.ending {
			s.holds = nil
			p.end(k)
		}
		if l != nil && l.seats[s.session] == s {
			delete(l.seats, s.session)
		}
	case !l.armed:
		p.tend(l)
	}
}

// tendSeats ends the processes that no session has used for long. p.mu is held.
func (p *Pool) tendSeats(l *line, now time.Time) (next time.Duration) {
	for _, s := range l.seats {
		if s.users > 0 {
			next = max(next, l.config.Idle)
			continue
		}
		left := l.config.Idle - now.Sub(s.used)
		if left <= 0 {
			p.vacate(l, s)
		} else if next == 0 || left < next {
			next = left
		}
	}
	return next
}

// endResident ends the processes that a session has. Those of observers that are
// still to hear of its end go with that event.
func (e *Executor) endResident(set *Set, session string) {
	if set == nil || session == "" {
		return
	}
	for _, h := range set.Hooks {
		if r, ok := h.Asker.(*resident); ok && !e.observers.pending(queueKey{session, keyOf(h)}) {
			r.pool.endSession(&r.standing, session)
		}
	}
}

func (p *Pool) endSession(of *standing, session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lines[of.id]
	if l == nil {
		return
	}
	switch s := l.seats[session]; {
	case s == nil:
	case s.users > 0:
		s.over = true
	default:
		p.vacate(l, s)
	}
}

// well notes that a process has answered.
func (p *Pool) well(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.failed, s.rest = 0, time.Time{}
}
