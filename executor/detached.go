package executor

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// An event that tells of what has happened reaches its hooks also where the host
// has stopped waiting for it: the work is done, and a hook that keeps account of it must
// hear of it. The host's abort ends the hook that is being asked at that moment;
// those after it, and those of an event that is due, have as long as hooks.drain
// of their layer says. Nothing that they answer has an effect on the host.

var errDrained = errors.New("hooks.drain is over since the host stopped waiting")

// detached is how an event that tells of what has happened goes on without its host. It
// is nil for all other events.
type detached struct {
	left   atomic.Bool     // the host has gone on, or the outcome was handed to it: the first of both sets it
	loose  chan struct{}   // closed when no hook is asked any more on the host's account
	since  time.Time       // when that was
	before <-chan struct{} // closed when the earlier events of the session are over; may be nil
	leave  func()          // lets later events of the session go on
}

// withoutHost reports whether the event goes on without its host.
func (d *detached) withoutHost() bool { return d != nil && !d.since.IsZero() }

// decideDetachable decides an event that goes on if its host leaves.
func (d *dispatch) decideDetachable() (protocol.Outcome, error) {
	host := d.ctx
	d.detached = &detached{loose: make(chan struct{}), leave: func() {}}
	if d.req.event.Detached {
		d.detach()
	}
	decided := make(chan protocol.Outcome, 1)
	d.req.executor.running.Go(func() {
		defer func() { d.detached.leave() }()
		await(d.detached.before)
		d.askAll()               // it fails for an event only that may be given up
		outcome, _ := d.finish() // no question is asked in such an event
		decided <- outcome
		if !d.detached.left.CompareAndSwap(false, true) {
			d.req.progress.notice(&d.req.event, outcome.Notices...)
		}
	})
	given := (<-chan struct{})(d.detached.loose) // the hook that was being asked has ended
	if d.req.event.Detached {
		given = host.Done()
	}
	select {
	case outcome := <-decided:
		return outcome, nil
	case <-given:
	}
	if !d.detached.left.CompareAndSwap(false, true) {
		return <-decided, nil
	}
	return d.req.undecided(context.Cause(host))
}

// undecided returns what a host gets that left before the event was decided.
func (r *request) undecided(cause error) (protocol.Outcome, error) {
	failure := &protocol.Failure{Kind: protocol.FailAborted, Detail: cause.Error()}
	fold, _ := protocol.Begin(r.event, r.foldOptions()).Add(selfRefusal(failure))
	return fold.Outcome(), cause
}

// detach has the event go on without its host.
func (d *dispatch) detach() {
	d.ctx = context.WithoutCancel(d.ctx)
	d.detached.since = time.Now()
	d.detached.before, d.detached.leave = d.req.executor.backlog.join(d.req.event.Session.ID)
	close(d.detached.loose)
}

// withinDrain returns the context of a hook that is asked without the host: it ends when
// drain is over, and with the observers of the hook's layer.
func (d *detached) withinDrain(parent context.Context, drain time.Duration, layer context.Context) (context.Context, context.CancelFunc) {
	ctx, over := context.WithDeadlineCause(parent, d.since.Add(drain), errDrained)
	ctx, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(layer, func() { end(context.Cause(layer)) })
	return ctx, func() { stop(); end(nil); over() }
}

// backlog keeps the events of a session in order where some of them still go on
// when their host has left: what comes after one of these reaches observers after
// it.
type backlog struct {
	mu   sync.Mutex
	last map[string]chan struct{} // by session
}

// join puts an event after those of its session that are not over. before is
// closed when these are, nil if there are none; leave is to be called once.
func (b *backlog) join(session string) (before <-chan struct{}, leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == nil {
		b.last = map[string]chan struct{}{}
	}
	if last := b.last[session]; last != nil {
		before = last
	}
	mine := make(chan struct{})
	b.last[session] = mine
	return before, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		close(mine)
		if b.last[session] == mine {
			delete(b.last, session)
		}
	}
}

// empty reports whether all earlier events of a session are over.
func (b *backlog) empty(session string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last[session] == nil
}

// inOrder calls do after the earlier events of the session: at once where these are
// over.
func (d *detached) inOrder(r *request, do func()) {
	e, session := r.executor, r.event.Session.ID
	switch {
	case d.withoutHost():
		await(d.before)
		do()
	case e.backlog.empty(session):
		do()
	default:
		before, leave := e.backlog.join(session)
		e.running.Go(func() {
			defer leave()
			await(before)
			do()
		})
	}
}

func await(before <-chan struct{}) {
	if before != nil {
		<-before
	}
}
