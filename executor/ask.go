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

// answerGrace is how long after its limit an answer is still taken: the Asker
// needs a moment to see the limit and to read what the hook has written. It
// stays below the 250 ms by which an outcome may be late.
const answerGrace = 150 * time.Millisecond

var errNotNeeded = errors.New("an earlier hook has refused the event")

// ask asks one hook within its own limit and the event's budget, and returns at
// most [answerGrace] later whatever the Asker does. A panic in a Go hook is its
// failure.
func (r *request) ask(budget context.Context, q *Question) protocol.Answer {
	begin := time.Now()
	answer := r.askWithinLimits(budget, q)
	answer.HookInfo, answer.Limits = q.Hook.HookInfo(), r.answerLimits(q.Hook)
	if answer.Failure != nil {
		answer.Rule = q.Hook.ruleAt(q.Event.Event, answer.Failure.Kind)
	}
	if answer.Took == 0 {
		answer.Took = time.Since(begin)
	}
	switch {
	case answer.Failure != nil:
		answer.Reply = nil
	case answer.Reply == nil: // an Asker's fault must not pass for a hook that had nothing to say
		answer.Failure = &protocol.Failure{Kind: protocol.FailLost, Detail: "it was not answered", Remedy: "this is a fault of hookd; please report it"}
	}
	return answer
}

func (r *request) askWithinLimits(budget context.Context, q *Question) protocol.Answer {
	switch {
	case q.Hook.Fault != nil:
		return failed(q.Hook.Fault)
	case r.tooDeepFor(q.Hook):
		return failed(r.depthFailure(r.set.settingsOf(q.Hook).MaxDepth))
	case q.fault != nil:
		return failed(q.fault)
	}
	e, info := r.executor, q.Hook.Info()
	leave, err := r.enter(budget, q, info)
	if err != nil {
		return failed(FailureOf(err))
	}
	limit := q.Hook.Timeout
	ctx, cancel := context.WithTimeoutCause(budget, limit, &protocol.Failure{
		Kind:   protocol.FailTimeout,
		Detail: fmt.Sprintf("timed out after %s", limit),
		Remedy: "make it faster, or raise its timeout",
	})
	if e.records != nil {
		q.OnTreeGone = func(gone <-chan struct{}, ending func() *worker.Ending) { r.recordTreeGone(q, gone, ending) }
	}
	if info.Prompt {
		e.running.Begin()
		defer e.running.Done()
		defer leave()
		defer cancel()
		return askRecovered(ctx, q, info)
	}
	return r.askWithDeadline(ctx, q, info, func() { cancel(); leave() })
}

// askWithDeadline asks in a goroutine of its own, which may overrun the limit, and
// calls leave when that is over.
func (r *request) askWithDeadline(ctx context.Context, q *Question, info AskerInfo, leave func()) protocol.Answer {
	e := r.executor
	answered := make(chan protocol.Answer, 1)
	ended := make(chan struct{})
	e.running.Go(func() {
		defer close(ended)
		defer leave()
		answer := failed(&protocol.Failure{
			Kind:   protocol.FailExit,
			Detail: "the hook ended its goroutine",
			Remedy: "return an error in place of runtime.Goexit, which FailNow of a test calls, too",
		})
		defer func() { answered <- answer }()
		answer = askRecovered(ctx, q, info)
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
	e.runningLate.add(keyOf(q.Hook), ended)
	e.running.Go(func() { r.recordLateAnswer(q, <-answered) })
	return failed(FailureOf(context.Cause(ctx)))
}

// enter waits until the hook may begin: until its process is free for the session, and
// until a slot is free. The wait counts against the event's budget, not against the
// hook's own limit: a busy machine does not turn a fast hook into a slow one.
func (r *request) enter(budget context.Context, q *Question, info AskerInfo) (leave func(), err error) {
	if info.Workers != nil {
		if q.Lease, err = info.Workers.AcquireSession(budget, q.Event.Session.ID); err != nil {
			return nil, err
		}
	}
	release, err := r.acquireSlot(budget, q.Hook, info)
	switch {
	case q.Lease == nil:
		return release, err
	case err != nil:
		q.Lease.Release(false)
		return nil, err
	}
	return func() {
		release()
		q.Lease.Release(q.Event.Event == protocol.SessionEnd)
	}, nil
}

// acquireSlot waits until an earlier run of the hook that did not keep its limit is
// over, and until a slot is free for its process.
func (r *request) acquireSlot(budget context.Context, h *Hook, info AskerInfo) (release func(), err error) {
	if budget.Err() != nil {
		return nil, context.Cause(budget)
	}
	if err := r.executor.runningLate.wait(budget, keyOf(h)); err != nil {
		return nil, err
	}
	if info.InProcess {
		return func() {}, nil
	}
	origin := originOf(h)
	return r.executor.slots.Acquire(budget, slots.Request{
		Origin: origin, Background: r.background, Limit: r.set.settingsOf(h).Processes, Reserved: r.set.originsAbove(origin),
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
		holdToLimit(ctx, &answer)
	}
	return answer
}

// holdToLimit holds a program to its limit where hookd itself came late to it: a
// program may stop the process that waits for it. What was read after the limit may
// have been written after it. A refusal counts all the same.
func holdToLimit(ctx context.Context, answer *protocol.Answer) {
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

// runningLate are the runs that did not end when their limit was reached.
type runningLate struct {
	mu   sync.Mutex
	runs map[hookKey][]<-chan struct{}
}

func (l *runningLate) add(key hookKey, ended <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs == nil {
		l.runs = map[hookKey][]<-chan struct{}{}
	}
	l.runs[key] = append(l.runs[key], ended)
}

// wait returns when no run of the hook is late any more. The error is the cause of ctx.
func (l *runningLate) wait(ctx context.Context, key hookKey) error {
	for {
		l.mu.Lock()
		runs := l.runs[key]
		if len(runs) == 0 {
			l.mu.Unlock()
			return nil
		}
		first := runs[0]
		l.mu.Unlock()
		select {
		case <-first:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		l.mu.Lock()
		if runs := l.runs[key]; len(runs) > 0 && runs[0] == first {
			l.runs[key] = runs[1:]
			if len(runs) == 1 {
				delete(l.runs, key)
			}
		}
		l.mu.Unlock()
	}
}

func accountOf(h *Hook) account {
	return account{originOf(h), h.OnFailure == protocol.RuleContinue && !h.Required, h.Info().InProcess}
}

// owner names an account in a message.
func (a account) owner() string {
	if a.mayFail {
		return fmt.Sprintf("hooks of the %s layer that may fail", a.origin)
	}
	return fmt.Sprintf("hooks of the %s layer that must answer", a.origin)
}

func (s *spent) charge(of account, took time.Duration) {
	if s.used == nil {
		s.used = map[account]time.Duration{}
	}
	s.used[of] += took
}

// withinBudget returns the context of a hook that is waited for. Asking a person is
// outside of every budget.
func (d *dispatch) withinBudget(parent context.Context, h *Hook) (context.Context, context.CancelFunc) {
	of, limit := accountOf(h), d.req.set.settingsOf(h).Budget
	ctx, cancel := context.WithTimeoutCause(parent, limit-d.spent.used[of], &protocol.Failure{
		Kind:   protocol.FailBudget,
		Detail: fmt.Sprintf("the event's budget of %s for all %s is used up", limit, of.owner()),
		Remedy: "make the hooks of this event faster, or raise hooks.budget",
	})
	if !d.detached.withoutHost() {
		return ctx, cancel
	}
	ctx, over := d.detached.withinDrain(ctx, d.req.set.drainOf(h.Layer), d.req.executor.observers.context(h.Layer))
	return ctx, func() { over(); cancel() }
}

// selfRefusal is a refusal by no hook.
func selfRefusal(failure *protocol.Failure) protocol.Answer {
	answer := failed(failure)
	answer.HookInfo = protocol.HookInfo{
		Name: selfName, Layer: protocol.Builtin, Class: protocol.CanBlock,
		Mode: protocol.Enforce, Rule: protocol.RuleBlock, Required: true,
	}
	return answer
}

func abortFailure(cause error) *protocol.Failure {
	return &protocol.Failure{Kind: protocol.FailAborted, Detail: cause.Error()}
}

// selfName is the name in an answer that no hook gave.
const selfName = "hookd"
