package agentloop

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hookd-dev/hookd/agentloop/model"
)

// How a failed model call is tried again. The waits between tries grow from
// firstWait by the factor 2 up to longestWait, each shortened by up to a half at
// random, so that many agents do not come back at the same moment. A server that
// asks for a longer wait gets it, up to longestAsked: one that asks for more
// than that is not waited for, and the call has failed.
const (
	firstWait    = 500 * time.Millisecond
	longestWait  = 30 * time.Second
	longestAsked = 2 * time.Minute

	// maxAttempts is the ceiling of tries of one call. How many there are below
	// it, the provider retries says.
	maxAttempts = 101
)

var errNoMoreTries = errors.New("no more tries")

// worthRetry reports whether a failed try is to be followed by another, if hooks
// let it.
func worthRetry(err error, attempt int) bool {
	var failure *model.Error
	return errors.As(err, &failure) && failure.Retryable && failure.RetryAfter <= longestAsked && attempt < maxAttempts
}

// gaveUp is the end of a call of which no further try is let through: if the
// limit of retries said so, it is the model's failure that ends the run.
func gaveUp(err, failure error, tries int) error {
	var last *ending
	if failure == nil || !errors.Is(err, errNoMoreTries) || !errors.As(failure, &last) {
		return err
	}
	if tries > 1 {
		return &ending{cause: last.cause, message: fmt.Sprintf("%s (tried %d times)", last.message, tries), err: last.err}
	}
	return last
}

// waitToRetry tells the person of the failure and waits before the next try.
func (r *Run) waitToRetry(ctx context.Context, failure error, attempt int) error {
	asked := time.Duration(0)
	var e *model.Error
	if errors.As(failure, &e) {
		asked = e.RetryAfter
	}
	pause := max(asked, backoff(attempt-1))
	r.notify(ctx, "info", fmt.Sprintf("%v; try %d follows in %s", failure, attempt, pause.Round(100*time.Millisecond)))
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// backoff is how long to wait after so many failed tries.
func backoff(failed int) time.Duration {
	wait := longestWait
	if doublings := failed - 1; doublings < 6 { // 500 ms · 2⁶ is over longestWait
		wait = firstWait << doublings
	}
	return wait - rand.N(wait/2)
}
