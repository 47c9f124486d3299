package executor

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// An event that reports what has happened ([protocol.Spec.Detachable]) reaches its hooks
// even if the host stops waiting for it: the work is done, and a hook that keeps account
// of it must be told. When the host aborts, the hook that is being asked at that moment
// is ended. From then on the event is detached: the hooks after it have as long as
// hooks.drain of their layer says, and nothing that they answer has an effect on the
// host. An event with [protocol.Event.Detached] is detached from the beginning, and one with
// [protocol.Event.Due] if the host has stopped waiting by then.

var errDrained = errors.New("hooks.drain is over since the host stopped waiting")

// detachable decides an event that reports what has happened.
type detachable struct{ d *dispatch }

// withoutHost reports whether the event goes on without its host.
func (d *detached) withoutHost() bool { return d != nil && !d.since.IsZero() }

// decide decides the event.
func (e detachable) decide() (protocol.Outcome, error) {
	d := e.d
	if d.ctx.Err() != nil && d.req.event.Due {
		d.req.event.Detached = true
	}
	switch {
	case d.ctx.Err() != nil && !d.req.event.Detached:
		return d.abort(context.Cause(d.ctx))
	case e.hasHooksToWaitFor():
		return e.decideOnOwnGoroutine()
	case d.req.event.Detached:
		return e.decideWithoutHooks()
	}
	return d.decideAttached()
}

// hasHooksToWaitFor reports whether the event has hooks that are waited for.
func (e detachable) hasHooksToWaitFor() bool {
	d := e.d
	if d.req.spec.Kind == protocol.Notice {
		return false
	}
	hooks := d.stages()
	return len(hooks.modify)+len(hooks.block) > 0 || slices.ContainsFunc(hooks.observe, d.req.waitsFor)
}

// decideWithoutHooks decides a detached event that waits for no hook. Its record keeps its
// place in the order of the session, too.
func (e detachable) decideWithoutHooks() (protocol.Outcome, error) {
	d := e.d
	d.ctx = context.WithoutCancel(d.ctx)
	d.askAll() // there is no hook to ask, and no context that could end
	result, err := d.conclude()
	if err != nil {
		return d.abort(err)
	}
	recorded := result.outcome
	d.req.inOrder(func() { d.record(&recorded, result.overwritten, ""); d.req.queue(result.observers) })
	return result.outcome, nil
}

// decideOnOwnGoroutine decides an event that goes on if its host leaves.
func (e detachable) decideOnOwnGoroutine() (protocol.Outcome, error) {
	d := e.d
	host := d.ctx
	d.detached = &detached{loose: make(chan struct{}), leave: func() {}}
	if d.req.event.Detached {
		e.detach()
	}
	decided := make(chan protocol.Outcome, 1)
	d.req.executor.running.Go(func() {
		defer func() { d.detached.leave() }()
		await(d.detached.before)
		d.askAll() // it fails only for an event that may be given up
		outcome := e.finish()
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

// apply lets an answer count. The first answer after the host has left detaches
// the event. The hook that the abort cut short did not hear of the event; its failure does
// not close the fold, because other hooks are still to be asked.
func (e detachable) apply(h *Hook, answer protocol.Answer) {
	d := e.d
	if d.ctx.Err() != nil {
		e.detach()
	}
	if d.detached.withoutHost() && answer.Failure != nil && answer.Failure.Kind == protocol.FailAborted {
		_, run := d.results.fold.Add(answer)
		d.results.runs = append(d.results.runs, run)
		d.req.progress.cut(&d.req.event, h)
		d.req.progress.finished(&d.req.event, h, run)
		return
	}
	d.req.progress.finished(&d.req.event, h, d.foldWithState(h, answer))
}

// finish records the event and queues its observers, after those of earlier
// events of the session.
func (e detachable) finish() protocol.Outcome {
	d := e.d
	result, err := d.conclude()
	if err != nil { // normally no question is asked in such an event
		outcome, _ := d.abort(err)
		return outcome
	}
	d.record(&result.outcome, result.overwritten, "")
	result.outcome.Notices = append(result.outcome.Notices, d.notices...)
	if d.detached.withoutHost() {
		await(d.detached.before)
		d.req.queue(result.observers)
	} else {
		d.req.inOrder(func() { d.req.queue(result.observers) })
	}
	return result.outcome
}

// undecided returns the outcome for a host that left before the event was decided.
func (r *request) undecided(cause error) (protocol.Outcome, error) {
	fold, _ := protocol.Begin(r.event, r.foldOptions()).Add(selfRefusal(abortFailure(cause)))
	return fold.Outcome(), cause
}

// detach lets the event go on without its host.
func (e detachable) detach() {
	d := e.d
	d.ctx = context.WithoutCancel(d.ctx)
	d.detached.since = time.Now()
	d.detached.before, d.detached.leave = d.req.executor.backlog.join(d.req.event.Session.ID)
	close(d.detached.loose)
}

// withinDrain returns the context of a hook that is asked without the host. It ends when
// drain is over, or when the observers of the hook's layer are ended.
func (d *detached) withinDrain(parent context.Context, drain time.Duration, layer context.Context) (context.Context, context.CancelFunc) {
	ctx, over := context.WithDeadlineCause(parent, d.since.Add(drain), errDrained)
	ctx, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(layer, func() { end(context.Cause(layer)) })
	return ctx, func() { stop(); end(nil); over() }
}

// backlog keeps the events of a session in order while detached ones are still going on:
// a later event reaches observers after them.
type backlog struct {
	mu   sync.Mutex
	last map[string]chan struct{} // by session
}

// join puts an event after those of its session that are not over. before is closed when
// these are over, and nil if there are none. The caller must call leave once.
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

// inOrder calls do after the earlier events of the session: at once if these are over.
func (r *request) inOrder(do func()) {
	e, session := r.executor, r.event.Session.ID
	if e.backlog.empty(session) {
		do()
		return
	}
	before, leave := e.backlog.join(session)
	e.running.Go(func() {
		defer leave()
		await(before)
		do()
	})
}

func await(before <-chan struct{}) {
	if before != nil {
		<-before
	}
}
