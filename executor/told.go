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
// has stopped waiting for it: the work is done, and who keeps account of it must
// hear of it. The host's abort ends the hook that is being asked at that moment;
// those after it, and those of an event that is due, have as long as hooks.drain
// of their layer says. Nothing that they answer has an effect on the host.

var errDrained = errors.New("hooks.drain is over since the host stopped waiting")

// telling is an event whose host may leave before it has reached its hooks.
type telling struct {
	left   atomic.Bool   // the host has gone on, or the outcome was handed to it: the first of both sets it
	loose  chan struct{} // closed when no hook is asked any more on the host's account
	since  time.Time     // when that was
	before <-chan struct{}
	leave  func()
}

// tell decides an event that tells of what has happened.
func (t *trip) tell() (protocol.Outcome, error) {
	host := t.ctx
	t.telling = &telling{loose: make(chan struct{}), leave: func() {}}
	if t.first.Due {
		t.goOn()
	}
	decided := make(chan protocol.Outcome, 1)
	t.executor.work.Go(func() {
		defer func() { t.telling.leave() }()
		await(t.telling.before)
		t.askAll()               // it fails for an event only that may be given up
		outcome, _ := t.finish() // no question is asked in such an event
		decided <- outcome
		if !t.telling.left.CompareAndSwap(false, true) {
			t.sayLate(&outcome)
		}
	})
	given := (<-chan struct{})(t.telling.loose) // the hook that was being asked has ended
	if t.first.Due {
		given = host.Done()
	}
	select {
	case outcome := <-decided:
		return outcome, nil
	case <-given:
	}
	if !t.telling.left.CompareAndSwap(false, true) {
		return <-decided, nil
	}
	return t.unheard(context.Cause(host))
}

// goOn has the event go on without its host.
func (t *trip) goOn() {
	t.ctx = context.WithoutCancel(t.ctx)
	t.telling.since = time.Now()
	t.telling.before, t.telling.leave = t.executor.backlog.join(t.first.Session.ID)
	close(t.telling.loose)
}

// alone reports whether the event goes on without its host.
func (t *trip) alone() bool { return t.telling != nil && !t.telling.since.IsZero() }

// withinDrain is the context of a hook that is asked on nobody's account.
func (t *trip) withinDrain(parent context.Context, h *Hook) (context.Context, context.CancelFunc) {
	until := t.telling.since.Add(t.set.drainOf(h.Layer))
	ctx, over := context.WithDeadlineCause(parent, until, errDrained)
	ctx, end := context.WithCancelCause(ctx)
	life := t.executor.life(h.Layer)
	stop := context.AfterFunc(life, func() { end(context.Cause(life)) })
	return ctx, func() { stop(); end(nil); over() }
}

// cutOff notes a hook that was ended, or not asked, because nobody waits for it.
func (t *trip) cutOff(h *Hook, answer protocol.Answer) protocol.Run {
	_, run := t.fold.Add(answer) // which it does not close: others are still to hear of the event
	t.runs = append(t.runs, run)
	t.progress.cut(&t.first, h)
	return run
}

// sayLate tells the person what the outcome would have told.
func (t *trip) sayLate(outcome *protocol.Outcome) {
	for _, notice := range outcome.Notices {
		t.progress.notice(&t.first, notice)
	}
}

// unheard is what a host gets that left before the event was decided.
func (t *trip) unheard(cause error) (protocol.Outcome, error) {
	failure := &protocol.Failure{Kind: protocol.FailAborted, Detail: cause.Error()}
	fold, _ := protocol.Begin(t.first, t.foldOptions()).Add(t.ourselves(failure))
	return fold.Outcome(), cause
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

// inOrder does what is to come after the earlier events of the session: at once
// where these are over.
func (t *trip) inOrder(do func()) {
	e, session := t.executor, t.first.Session.ID
	switch {
	case t.alone():
		await(t.telling.before)
		do()
	case e.backlog.empty(session):
		do()
	default:
		before, leave := e.backlog.join(session)
		e.work.Go(func() {
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
