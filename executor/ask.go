package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/executor/internal/slots"
	"github.com/hookd-dev/hookd/executor/internal/worker"
	"github.com/hookd-dev/hookd/protocol"
)

// answerGrace is how long after its limit an answer is still taken: the asker
// needs a moment to see the limit and to read what the hook has written. It
// stays below the 250 ms by which an outcome may be late.
const answerGrace = 150 * time.Millisecond

// ask asks one hook within its own limit and the event's budget, and returns at
// most [answerGrace] later whatever the asker does. A panic in a Go hook is its
// failure.
func (e *Executor) ask(budget context.Context, t *trip, q *Question) protocol.Answer {
	begin := time.Now()
	answer := e.askGuarded(budget, t, q)
	answer.HookInfo, answer.Limits = q.Hook.HookInfo(), t.answerLimits(q.Hook)
	if answer.Took == 0 {
		answer.Took = time.Since(begin)
	}
	switch {
	case answer.Failure != nil:
		answer.Reply = nil
	case answer.Reply == nil: // an asker's fault must not pass for a hook that had nothing to say
		answer.Failure = &protocol.Failure{Kind: protocol.FailLost, Detail: "it was not answered", Remedy: "this is a fault of hookd; please report it"}
	}
	return answer
}

func (e *Executor) askGuarded(budget context.Context, t *trip, q *Question) protocol.Answer {
	if q.Hook.Fault != nil {
		return failed(q.Hook.Fault)
	}
	if t.tooDeepFor(q.Hook) {
		return failed(t.depthFailure(t.set.of(q.Hook).MaxDepth))
	}
	if q.fault != nil {
		return failed(q.fault)
	}
	info := q.Hook.Info()
	lease, err := acquireSession(budget, info, q)
	if err != nil {
		return failed(FailureOf(err))
	}
	release, err := e.enter(budget, t, q.Hook, info)
	if err != nil {
		lease.Release(false)
		return failed(FailureOf(err))
	}
	limit := q.Hook.Timeout
	ctx, cancel := context.WithTimeoutCause(budget, limit, &protocol.Failure{
		Kind:   protocol.FailTimeout,
		Detail: fmt.Sprintf("timed out after %s", limit),
		Remedy: "make it faster, or raise its timeout",
	})
	if e.records != nil {
		q.OnTreeGone = func(gone <-chan struct{}, ending func() *worker.Ending) { e.recordTreeGone(t, q, gone, ending) }
	}
	leave := func() {
		cancel()
		release()
		lease.Release(q.Event.Event == protocol.SessionEnd)
	}
	if info.Prompt {
		e.work.Begin()
		defer e.work.Done()
		defer leave()
		return askRecovered(ctx, q, info)
	}
	return e.askWithDeadline(ctx, t, q, info, leave)
}

// acquireSession waits until a resident hook is free for the event's session. The wait
// counts against the event's budget, not against the hook's limit.
func acquireSession(budget context.Context, info AskerInfo, q *Question) (lease *worker.Lease, err error) {
	if info.Workers != nil {
		lease, err = info.Workers.AcquireSession(budget, q.Event.Session.ID)
		q.Lease = lease
	}
	return lease, err
}

// askWithDeadline asks in a goroutine of its own, which may overrun the limit, and calls
// leave when that is over.
func (e *Executor) askWithDeadline(ctx context.Context, t *trip, q *Question, info AskerInfo, leave func()) protocol.Answer {
	answered := make(chan protocol.Answer, 1)
	ended := make(chan struct{})
	e.work.Go(func() {
		defer close(ended)
		defer leave()
		answered <- askRecovered(ctx, q, info)
	})
	select {
	case answer := <-answered:
		return answer
	case <-ctx.Done():
	}
	late := time.NewTimer(answerGrace)
	defer late.Stop()
	select {
	case answer := <-answered:
		return answer
	case <-late.C:
	}
	e.overdue.add(keyOf(q.Hook), ended)
	e.work.Go(func() { e.recordLateAnswer(t, q, <-answered) })
	return failed(FailureOf(context.Cause(ctx)))
}

// enter waits until the hook may begin: until an earlier run of it that did not
// keep its limit is over, and until a place is free for its process. The wait
// counts against the event's budget, not against the hook's own limit: a busy
// machine does not turn a fast hook into a slow one.
func (e *Executor) enter(budget context.Context, t *trip, h *Hook, info AskerInfo) (release func(), err error) {
	if budget.Err() != nil {
		return nil, context.Cause(budget)
	}
	if err := e.overdue.wait(budget, keyOf(h)); err != nil {
		return nil, err
	}
	if info.InProcess {
		return func() {}, nil
	}
	origin := originOf(h)
	return e.slots.Acquire(budget, slots.Request{
		Origin: origin, Background: t.behind, Limit: t.set.of(h).Processes, Reserved: t.set.originsAbove(origin),
	})
}

func askRecovered(ctx context.Context, q *Question, info AskerInfo) (answer protocol.Answer) {
	defer func() {
		if r := recover(); r != nil {
			answer = failed(&protocol.Failure{
				Kind:   protocol.FailExit,
				Detail: fmt.Sprintf("panic: %v", r),
				Remedy: "correct the hook; its stack is in the record",
			})
			answer.Stderr = string(debug.Stack())
		}
	}()
	answer = q.Hook.Asker.Ask(ctx, q)
	if !info.InProcess {
		inTime(ctx, &answer)
	}
	return answer
}

// inTime holds a program to its limit where hookd itself came late to it: a program
// may stop the process that waits for it. What was read after the limit may have
// been written after it. A refusal counts all the same.
func inTime(ctx context.Context, answer *protocol.Answer) {
	limit, limited := ctx.Deadline()
	if !limited || time.Now().Before(limit) || answer.Failure != nil || answer.Reply == nil {
		return
	}
	if answer.Reply.Action == protocol.Block || answer.Reply.Action == protocol.Stop {
		return
	}
	<-ctx.Done()
	answer.Failure, answer.Reply = FailureOf(context.Cause(ctx)), nil
}

func failed(f *protocol.Failure) protocol.Answer {
	return protocol.Answer{ReadResult: protocol.ReadResult{Failure: f}}
}

// FailureOf returns the failure that the end of a context is: the limit that was its
// cause, or an abort by the caller.
func FailureOf(cause error) *protocol.Failure {
	var limit *protocol.Failure
	if errors.As(cause, &limit) {
		return limit
	}
	return &protocol.Failure{Kind: protocol.FailAborted, Detail: cause.Error()}
}

// overdue are the runs that did not end when their limit was reached.
type overdue struct {
	mu   sync.Mutex
	runs map[hookKey][]<-chan struct{}
}

func (o *overdue) add(key hookKey, ended <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.runs == nil {
		o.runs = map[hookKey][]<-chan struct{}{}
	}
	o.runs[key] = append(o.runs[key], ended)
}

// wait returns when no earlier run of the hook is overdue any more.
func (o *overdue) wait(ctx context.Context, key hookKey) error {
	for {
		o.mu.Lock()
		runs := o.runs[key]
		if len(runs) == 0 {
			o.mu.Unlock()
			return nil
		}
		first := runs[0]
		o.mu.Unlock()
		select {
		case <-first:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		o.mu.Lock()
		if runs := o.runs[key]; len(runs) > 0 && runs[0] == first {
			o.runs[key] = runs[1:]
			if len(runs) == 1 {
				delete(o.runs, key)
			}
		}
		o.mu.Unlock()
	}
}
