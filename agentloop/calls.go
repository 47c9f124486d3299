package agentloop

import (
	"context"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// batch is the tool calls of one step. Their tool-call-start gates are passed
// one after the other in the model's order, so that a stop always leaves the
// same calls not begun, and a person is asked one question at a time; the tools
// themselves run side by side.
type batch struct {
	calls []*toolCall

	mu  sync.Mutex
	end error // the run ends behind this step; the first counts
	by  string
}

// toolCall is one call on its way through the loop.
type toolCall struct {
	protocol.Call
	tool     tool.Tool // nil: unknown, or not offered to the model
	gone     bool      // its source does not have it any more
	badArgs  error     // the model's args cannot be read at all
	changed  bool      // hooks changed the args
	hidden   bool      // a sensitive hook changed the args
	kept     bool      // the changed args are the ones that the conversation has
	began    time.Time
	begun    bool // tool-call-start was fired, so one more event follows
	result   protocol.Result
	context  protocol.Content // appended to the result
	outcome  string           // ok error blocked
	parallel int
}

// runCalls runs the calls of an answer. Whatever happens, each has a result
// afterwards.
func (r *Run) runCalls(ctx context.Context, a *answer) *batch {
	b := &batch{}
	for _, part := range calls(a.message) {
		b.calls = append(b.calls, r.loop.newCall(part, a))
	}
	if len(b.calls) == 0 {
		return b
	}
	r.loop.forced.progress()
	r.batch.Store(b)
	defer r.batch.Store(nil)
	atOnce := r.loop.options.Limits.ToolCalls
	if atOnce < 0 {
		atOnce = len(b.calls)
	}
	slots := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	for _, c := range b.calls {
		c.parallel = len(b.calls)
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil || b.stopped() {
			break
		}
		if !r.startCall(ctx, b, c) {
			<-slots
			continue
		}
		running.Go(func() {
			defer func() { <-slots }()
			r.work(ctx, b, c)
		})
	}
	running.Wait()
	b.fill()
	return b
}

// stop ends the run behind this step.
func (b *batch) stop(err error, by string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end == nil && err != nil {
		b.end, b.by = err, by
	}
}

func (b *batch) stopped() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.end != nil
}

// notRun is what the model reads of a call that the end of the run prevented.
func (b *batch) notRun() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.end == nil:
		return "not run: aborted"
	case b.by == "":
		return "not run: the run ended"
	default:
		return "not run: stopped by " + b.by
	}
}

// fill gives a result to the calls that have not begun. No event tells of them
// but step-stop.
func (b *batch) fill() {
	for _, c := range b.calls {
		if !c.begun {
			c.result, c.outcome = errorResult(b.notRun()), "blocked"
		}
	}
}

func (b *batch) stepCalls() []protocol.StepCall {
	list := make([]protocol.StepCall, len(b.calls))
	for i, c := range b.calls {
		list[i] = protocol.StepCall{Call: c.Call, Outcome: c.outcome}
	}
	return list
}
