package agentloop

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// Prompt is what begins a run.
type Prompt struct {
	Text        string
	Source      string // user follow-up recipe hook sub-agent; default user
	Attachments []protocol.Part

	before []protocol.Message // put before the prompt: a further run's other messages
	behind protocol.Content   // hooks' context that belongs to the prompt
	byHand bool               // of a recipe: a person runs it, it is a prompt of theirs
}

// Run is the work on one prompt: a run, and the further runs that hooks at
// agent-end ask for.
type Run struct {
	loop   *Loop
	ctx    context.Context // the caller's
	events chan Yield
	done   chan struct{}
	parent *Run // that this one works for, nil for a prompt's own

	delegated bool         // a sub-agent's
	claimed   int64        // of a sub-agent: which of them its step is
	together  atomic.Int64 // of a prompt's own run: steps that sub-agents began in its step

	farewellOnce sync.Once
	farewellCtx  context.Context
	farewellEnd  context.CancelFunc

	// Of the run that goes on; only its goroutine writes them, and only while no
	// tool runs.
	steps   int // model calls so far
	began   time.Time
	usage   tally
	bounds  bounds
	pending protocol.Content // context of inference-end, for the next call
	held    *heldBack        // while the streamed answer is held back
	words   *lastWords       // while a sub-agent's final answer is held back
	answer  string           // text of the last answer that was accepted

	callbacks callbacks
	batch     atomic.Pointer[batch] // the calls of the step that goes on

	result Result
	err    error
}

// Result is what a run came to.
type Result struct {
	Response   string // the text of the last answer
	StopReason string // done length steps tokens time budget hook aborted; "" after agent-error
	Continued  int    // forced continuations
	Usage      protocol.RunUsage
}

func newRun(ctx context.Context, l *Loop) *Run {
	return &Run{loop: l, ctx: ctx, events: make(chan Yield, 64), done: make(chan struct{})}
}

// Events is the channel of what happens, in order. It is closed once, when the
// run has ended and nothing of it is left.
func (r *Run) Events() <-chan Yield { return r.events }

// Wait returns when the run has ended: nil if it ended regularly (which a stop
// by a hook and a limit are too), an [*Error] after agent-error, the context's
// cause after an abort. Somebody must read the events meanwhile.
func (r *Run) Wait() error {
	<-r.done
	return r.err
}

// Result is what the run came to. It is valid once Wait has returned.
func (r *Run) Result() Result { return r.result }

// drive does the work and says that it is done.
func (r *Run) drive(work func(*Run)) {
	defer close(r.done)
	defer close(r.events)
	defer r.loop.release()
	defer r.endFarewell()
	work(r)
}

// once is one run: from its prompt to agent-end or agent-error.
func (r *Run) once(prompt Prompt) (further *Prompt) {
	r.steps, r.pending, r.answer, r.began = 0, nil, "", time.Now()
	r.usage.reset()
	ctx, end := context.WithCancelCause(r.ctx)
	r.bounds.reset(r.began, end)
	defer end(nil)
	defer r.bounds.over()

	reason, err := r.stages(ctx, prompt)
	return r.finish(ctx, reason, err)
}

// stages are the skeleton. It returns the reason of a natural end, or why the
// run ends otherwise.
func (r *Run) stages(ctx context.Context, prompt Prompt) (reason string, err error) {
	if err := r.begin(ctx, prompt); err != nil {
		return "", err
	}
	for {
		reason, err := r.step(ctx)
		if err != nil {
			return "", err
		}
		if reason == "" {
			continue
		}
		goOn, err := r.agentStop(ctx, reason)
		if err != nil || !goOn {
			return reason, err
		}
	}
}

// classify turns whatever ended a run into an ending; nil is the natural end.
func (r *Run) classify(ctx context.Context, err error) *ending {
	var e *ending
	var limit *limitReached
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.As(err, &limit) && r.ctx.Err() == nil:
		return &ending{stopReason: limit.reason, message: limit.Error(), err: limit}
	case ctx.Err() != nil:
		return &ending{stopReason: "aborted", message: context.Cause(ctx).Error(), err: context.Cause(ctx)}
	default:
		return internal(err)
	}
}

// farewell is how long a run that was aborted waits for the events that must still
// be told: first those of what was open, all together, then the run's last one.
// Control is back within 250 ms of an abort; the gate goes on with the events, see
// [protocol.Event.Due].
const farewell = 100 * time.Millisecond

// after is the context for what must still be told when ctx has ended: open
// calls and blocks.
func (r *Run) after(ctx context.Context) context.Context {
	if ctx.Err() == nil {
		return ctx
	}
	if r.ctx.Err() == nil {
		return r.ctx // the run's time is over, the caller is still there
	}
	r.farewellOnce.Do(func() { r.farewellCtx, r.farewellEnd = r.part() })
	return r.farewellCtx
}

// last is the context of a run's last event.
func (r *Run) last() (context.Context, context.CancelFunc) {
	if r.ctx.Err() == nil {
		return r.ctx, func() {}
	}
	return r.part()
}

// part is a farewell's context.
func (r *Run) part() (context.Context, context.CancelFunc) {
	if r.parent != nil {
		return r.parent.share(r.ctx)
	}
	return farewellFrom(r.ctx)
}

type farewellKey struct{}

// farewellFrom is the context of what must still be told after ctx has ended.
func farewellFrom(ctx context.Context) (context.Context, context.CancelFunc) {
	told := context.WithValue(context.WithoutCancel(ctx), farewellKey{}, true)
	return context.WithTimeoutCause(told, farewell, context.Cause(ctx))
}

// isFarewell reports whether an event under ctx is due although the run was told
// to end: it is fired even when the time for it is over. The gate sees to it that
// hooks hear of it.
func isFarewell(ctx context.Context) bool { return ctx.Value(farewellKey{}) != nil }

// share is the part of this run's farewell for a run that works for it and was
// aborted: half of what is left, so that this one has time for its own events.
func (r *Run) share(aborted context.Context) (context.Context, context.CancelFunc) {
	ctx := r.after(aborted)
	deadline, bounded := ctx.Deadline()
	if !bounded {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, time.Until(deadline)/2, context.Cause(aborted))
}

func (r *Run) endFarewell() {
	r.farewellOnce.Do(func() {})
	if r.farewellEnd != nil {
		r.farewellEnd()
	}
}
