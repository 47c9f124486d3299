package limits

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAbortDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("interrupted")
		caller, abort := context.WithCancelCause(t.Context())
		ctx, stop := WithAbortDeadline(caller)
		if AfterAbort(ctx) != ctx || IsDetached(ctx) {
			t.Error("before an abort the run's own context is used")
		}
		abort(cause)
		began := time.Now()
		after := AfterAbort(ctx)
		if after.Err() != nil || !IsDetached(after) {
			t.Errorf("after the abort: %v, detached is %v", after.Err(), IsDetached(after))
		}
		time.Sleep(100 * time.Millisecond)
		if AfterAbort(ctx) != after {
			t.Error("there is one deadline for all that work for the prompt")
		}
		<-after.Done()
		if took := time.Since(began); took != afterAbort || context.Cause(after) != cause {
			t.Errorf("it ended after %s with %v", took, context.Cause(after))
		}
		stop()
	})
}

func TestAbortDeadlineOfARunThatIsOver(t *testing.T) {
	caller, abort := context.WithCancel(t.Context())
	ctx, stop := WithAbortDeadline(caller)
	stop()
	abort()
	if after := AfterAbort(ctx); after.Err() == nil || !IsDetached(after) {
		t.Error("a run that is over has no time left, and its events are detached")
	}
	if plain := context.Background(); AfterAbort(plain) != plain {
		t.Error("outside of a run there is no deadline")
	}
	stop() // twice
}
