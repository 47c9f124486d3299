package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

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
	answer.Voter, answer.Limits = voterOf(q.Hook), t.answerLimits(q.Hook)
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
	done, err := takeTurn(budget, q)
	if err != nil {
		return failed(failureOf(err))
	}
	release, err := e.enter(budget, t, q.Hook)
	if err != nil {
		done()
		return failed(failureOf(err))
	}
	limit := q.Hook.Timeout
	ctx, cancel := context.WithTimeoutCause(budget, limit, &protocol.Failure{
		Kind:   protocol.FailTimeout,
		Detail: fmt.Sprintf("timed out after %s", limit),
		Remedy: "make it faster, or raise its timeout",
	})
	ctx = context.WithValue(ctx, aftermathKey{}, aftermath(func(gone <-chan struct{}, ending func() protocol.Answer) { e.recordDeath(t, q, gone, ending) }))
	leave := func() {
		cancel()
		release()
		done()
	}
	if p, keeps := q.Hook.Asker.(punctual); keeps && p.punctual() {
		e.work.begin()
		defer e.work.done()
		defer leave()
		return askRecovered(ctx, q)
	}
	return e.askBeside(ctx, t, q, leave)
}

// askBeside asks in a goroutine of its own, which may overrun the limit, and calls
// leave when that is over.
func (e *Executor) askBeside(ctx context.Context, t *trip, q *Question, leave func()) protocol.Answer {
	answered := make(chan protocol.Answer, 1)
	ended := make(chan struct{})
	e.work.Go(func() {
		defer close(ended)
		defer leave()
		answered <- askRecovered(ctx, q)
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
	return failed(failureOf(context.Cause(ctx)))
}

// enter waits until the hook may begin: until an earlier run of it that did not
// keep its limit is over, and until a place is free for its process. The wait
// counts against the event's budget, not against the hook's own limit: a busy
// machine does not turn a fast hook into a slow one.
func (e *Executor) enter(budget context.Context, t *trip, h *Hook) (release func(), err error) {
	if budget.Err() != nil {
		return nil, context.Cause(budget)
	}
	if err := e.overdue.wait(budget, keyOf(h)); err != nil {
		return nil, err
	}
	if _, isGo := h.Asker.(*goAsker); isGo {
		return func() {}, nil
	}
	return e.places.take(budget, claim{originOf(h), t.behind}, t.set.of(h).Processes, t.set.originsAbove(originOf(h)))
}

func askRecovered(ctx context.Context, q *Question) (answer protocol.Answer) {
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
	if _, isGo := q.Hook.Asker.(*goAsker); !isGo {
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
	answer.Failure, answer.Reply = failureOf(context.Cause(ctx)), nil
}

func failed(f *protocol.Failure) protocol.Answer {
	return protocol.Answer{Reading: protocol.Reading{Failure: f}}
}

// aftermath is told of processes that are still being ended when their answer
// stands. gone is closed when none of them is alive any more; ending, if not nil,
// then tells how the program ended and what it wrote behind its answer.
type (
	aftermath    func(gone <-chan struct{}, ending func() protocol.Answer)
	aftermathKey struct{}
)

// leavesBehind tells whoever asked that the hook's processes end behind it.
func leavesBehind(ctx context.Context, gone <-chan struct{}, ending func() protocol.Answer) {
	if tell, wanted := ctx.Value(aftermathKey{}).(aftermath); wanted {
		tell(gone, ending)
	}
}

// failureOf is the failure behind the end of a context: the limit that was its
// cause, or else the caller gave up.
func failureOf(cause error) *protocol.Failure {
	var limit *protocol.Failure
	if errors.As(cause, &limit) {
		return limit
	}
	return &protocol.Failure{Kind: protocol.FailAborted, Detail: cause.Error()}
}

func voterOf(h *Hook) protocol.Voter {
	return protocol.Voter{
		Name: h.Name, Layer: h.Layer, Class: h.Can, Mode: h.Mode,
		Rule: h.OnFailure, Required: h.Required, Hash: h.Hash, Sensitive: h.Sensitive,
	}
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
