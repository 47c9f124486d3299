package limits

import (
	"context"
	"sync"
	"time"
)

// afterAbort is how long a run that was aborted waits for the events that must still be
// fired: those of what was open, and its last one. Control is back within 250 ms of an
// abort. An event that comes later is fired all the same, and the gate sees to it that
// hooks hear of it; see [protocol.Event.Detached].
const afterAbort = 200 * time.Millisecond

// abortDeadline is the one deadline of a prompt's run, and of all that work for it, for
// events that must still be fired after the caller's context has ended. It begins when it
// is first needed.
type abortDeadline struct {
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
}

type (
	abortDeadlineKey struct{}
	detachedKey      struct{}
)

// WithAbortDeadline returns the context of a prompt's run. stop frees the deadline.
func WithAbortDeadline(ctx context.Context) (_ context.Context, stop func()) {
	d := &abortDeadline{}
	return context.WithValue(ctx, abortDeadlineKey{}, d), d.stop
}

// AfterAbort returns the context for events that must still be fired when ctx, a run's, may
// have ended: ctx itself if it lives, else one that ends with the run's abort deadline.
func AfterAbort(ctx context.Context) context.Context {
	d, is := ctx.Value(abortDeadlineKey{}).(*abortDeadline)
	if !is || ctx.Err() == nil {
		return ctx
	}
	d.once.Do(func() {
		d.ctx, d.cancel = context.WithTimeoutCause(Detached(context.WithoutCancel(ctx)), afterAbort, context.Cause(ctx))
	})
	if d.ctx == nil { // the run is over
		return Detached(ctx)
	}
	return d.ctx
}

func (d *abortDeadline) stop() {
	d.once.Do(func() {})
	if d.cancel != nil {
		d.cancel()
	}
}

// Detached returns the context of events that are fired even when the time for them is
// over: they tell of what has happened.
func Detached(ctx context.Context) context.Context {
	return context.WithValue(ctx, detachedKey{}, true)
}

// IsDetached reports whether events of ctx are fired even when its time is over.
func IsDetached(ctx context.Context) bool { return ctx.Value(detachedKey{}) != nil }
