package agentloop

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/agentloop/internal/limits"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// events is the way of one run to the gate: it builds the run's events, has them decided,
// and shows them to the watcher.
type events struct {
	agent  *agent
	parent *events         // of the run that this one works for, nil for none
	caller context.Context // of the run
	run    provider.RunContext
	usage  *limits.Usage
	stream *stream
	person *person
	calls  recipeCalls // that hooks asked for
	steps  int         // model calls so far; only the run's goroutine writes it, while no tool runs
}

// notFired is the error of an event that did not even reach the gate: the context had
// ended before.
type notFired struct{ error }

func (u notFired) Unwrap() error { return u.error }

// fire builds the event around data, waits for the outcome, asks the person if the hooks
// want that, and shows what was decided. It fails only if the context ended before the
// decision; what the gate answers then has no effect.
func (e *events) fire(ctx context.Context, name protocol.EventName, data any) (*verdict, error) {
	var settle askResolver
	if protocol.Lookup(name).Ask == protocol.AskPerson {
		settle = func(ctx context.Context, o *protocol.Outcome) error {
			if o.Action != protocol.Ask || o.By == nil {
				return nil
			}
			_, err := e.person.ask(ctx, o, Question{Event: name, AskedBy: "hook:" + *o.By, Layer: o.DecidedLayer(), Text: o.Reason, Options: onceOptions})
			return err
		}
	}
	v, err := e.decideAndResolve(ctx, name, data, settle)
	if err != nil {
		return nil, err
	}
	e.show(ctx, v)
	return v, nil
}

// fireOrEnd fires a gate whose refusal ends the run, and returns its data as decided.
func fireOrEnd[T any](ctx context.Context, e *events, name protocol.EventName, fired T) (*verdict, T, error) {
	v, err := e.fire(ctx, name, fired)
	if err == nil {
		err = v.refusal()
	}
	if err != nil {
		return nil, fired, err
	}
	data, err := decided(v, fired)
	return v, data, err
}

// askResolver completes what hooks left open; see [protocol.Event]. nil: nothing is.
type askResolver func(ctx context.Context, o *protocol.Outcome) error

// decideAndResolve fires an event whose person is asked before it is recorded. If the gate does not
// know of settlers, the loop calls it.
func (e *events) decideAndResolve(ctx context.Context, name protocol.EventName, data any, settle askResolver, options ...func(*protocol.Event)) (*verdict, error) {
	if settle == nil {
		return e.decide(ctx, name, data, options...)
	}
	done := false
	v, err := e.decide(ctx, name, data, append(options, func(event *protocol.Event) {
		event.Settle = func(ctx context.Context, o *protocol.Outcome) error {
			done = true
			return settle(ctx, o)
		}
	})...)
	if err == nil && !done {
		err = settle(ctx, &v.Outcome)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// decide fires an event and shows nothing yet.
func (e *events) decide(ctx context.Context, name protocol.EventName, data any, options ...func(*protocol.Event)) (*verdict, error) {
	due := isDetached(ctx)
	if ctx.Err() != nil && !due {
		return nil, notFired{context.Cause(ctx)}
	}
	event, err := e.envelope(name, data)
	if err != nil {
		return nil, internal(fmt.Errorf("%s: %w", name, err))
	}
	event.Due = due
	for _, option := range options {
		option(&event)
	}
	outcome, err := e.begin(ctx, &event)()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, internal(fmt.Errorf("%s: the gate: %w", name, err))
	}
	if outcome.Event.Data == nil { // a gate that says nothing of the event changed nothing
		outcome.Event = event
	}
	return &verdict{Outcome: outcome, name: name, fired: event.Data}, nil
}

// begin gives an event its number and begins it at once: events that are decided at the
// same time reach the gate in the order of their numbers.
func (e *events) begin(ctx context.Context, event *protocol.Event) (decide func() (protocol.Outcome, error)) {
	s := e.agent.session
	s.sequence.next(func(seq int64) {
		event.Seq, event.Opening = &seq, s.sequence.opening
		decide = s.Gate.Begin(e.withRunContext(ctx), *event)
	})
	return decide
}

// withRunContext returns the context of a gate call or a tool: hooks and tools find the run in it.
func (e *events) withRunContext(ctx context.Context) context.Context {
	return provider.WithRunContext(ctx, e.run)
}

// envelope returns the event around data, without a number yet.
func (e *events) envelope(name protocol.EventName, data any) (protocol.Event, error) {
	a := e.agent
	encoded, err := a.history.Encode(data)
	event := protocol.Event{
		Protocol: protocol.Version,
		Event:    name,
		ID:       protocol.NewID(),
		Time:     time.Now().UTC(),
		Session:  a.session.id,
		Agent:    a.id,
		Project:  a.session.Project, Cwd: a.session.Cwd,
		Turn: a.history.Turn(), Step: e.steps,
		Compaction: a.compaction,
		Usage:      e.usage.Sum(),
		NotAsked:   a.notAsked[name],
		Data:       encoded,
	}
	if a.recipe != "" {
		recipe := a.recipe
		event.Recipe = &recipe
	}
	return event, err
}

// mayChange reports whether a hook may block or change an event that is still to come.
// data is what is known of it, nil for nothing.
func (e *events) mayChange(name protocol.EventName, data any) bool {
	event, err := e.envelope(name, data)
	if data == nil {
		event.Data = nil
	}
	return err != nil || e.agent.session.Gate.MayChange(event)
}

// show shows a decided event, and what of it cannot be carried out.
func (e *events) show(ctx context.Context, v *verdict) {
	e.stream.show(ctx, shown(v))
	e.addRecipeCall(ctx, v)
	if spec := protocol.Lookup(v.name); !v.passed() && !spec.Tool { // a refused call has a result all the same
		e.contextDropped(ctx, v.contextParts())
	}
}

// addRecipeCall keeps the recipe that the hooks of a decided event ask for, or tells why
// it is lost.
func (e *events) addRecipeCall(ctx context.Context, v *verdict) {
	if v.Callback == nil {
		return
	}
	call, lost := v.recipeCall(), ""
	switch {
	case !v.passed():
		lost = "the event was refused"
	case protocol.Lookup(v.name).Callback == protocol.CallbackFails:
		lost = fmt.Sprintf("none can be asked for at %s", v.name)
	default:
		lost = e.calls.add(call)
	}
	if lost != "" {
		e.recipeDropped(ctx, &call, lost)
	}
}

func (e *events) recipeDropped(ctx context.Context, call *recipeCall, why string) {
	e.notify(ctx, "hook", fmt.Sprintf("recipe %s, asked for by %s, came to nothing: %s", call.Name, call.By, why))
}

// contextDropped tells the person of context that found no place.
func (e *events) contextDropped(ctx context.Context, context protocol.Content) {
	for _, c := range context {
		e.notify(ctx, "hook", fmt.Sprintf("context of %s was dropped: no model call follows", c.Hook))
	}
}

// notify fires a notification for the person. What hooks say to it has no effect.
func (e *events) notify(ctx context.Context, kind, text string) {
	v, err := e.decide(ctx, protocol.Notification, protocol.NotificationData{Kind: kind, Text: text})
	if err == nil {
		e.stream.show(ctx, Update{Kind: UpdateEvent, Event: v.Event, Outcome: v.Outcome})
	}
}

// afterAbort is how long a run that was aborted waits for the events that must still be
// fired: those of what was open, and its last one. Control is back within 250 ms of an
// abort. An event that comes later is fired all the same, and the gate sees to it that
// hooks hear of it; see [protocol.Event.Due].
const afterAbort = 200 * time.Millisecond

// abortDeadline is the one deadline of a prompt's run, and of all that work for it, for
// events that must still be fired after the caller's context has ended. It begins with the first
// who needs it.
type abortDeadline struct {
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
}

type (
	abortDeadlineKey struct{}
	detachedKey      struct{}
)

// withAbortDeadline returns the context of a prompt's run. stop frees the deadline.
func withAbortDeadline(ctx context.Context) (_ context.Context, stop func()) {
	d := &abortDeadline{}
	return context.WithValue(ctx, abortDeadlineKey{}, d), d.stop
}

// after returns the context for events that must still be fired after ctx has ended.
func (d *abortDeadline) after(ctx context.Context) context.Context {
	d.once.Do(func() {
		d.ctx, d.cancel = context.WithTimeoutCause(withDetached(context.WithoutCancel(ctx)), afterAbort, context.Cause(ctx))
	})
	if d.ctx == nil { // the run is over
		return withDetached(ctx)
	}
	return d.ctx
}

func (d *abortDeadline) stop() {
	d.once.Do(func() {})
	if d.cancel != nil {
		d.cancel()
	}
}

// withDetached marks the context of events that are fired even when the time for them is over.
func withDetached(ctx context.Context) context.Context {
	return context.WithValue(ctx, detachedKey{}, true)
}

func isDetached(ctx context.Context) bool { return ctx.Value(detachedKey{}) != nil }

// afterEnd returns the context for events that must still be fired when ctx may have ended: ctx
// itself, or that of the nearest caller who is still there, or the abort deadline's.
func (e *events) afterEnd(ctx context.Context) context.Context {
	for ; e != nil && ctx.Err() != nil; e = e.parent {
		ctx = e.caller
	}
	if deadline, is := ctx.Value(abortDeadlineKey{}).(*abortDeadline); is && ctx.Err() != nil {
		return deadline.after(ctx)
	}
	return ctx
}
