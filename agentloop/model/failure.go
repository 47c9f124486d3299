package model

import (
	"fmt"
	"time"
)

// Error is why a model did not answer, as far as that decides whether another
// try makes sense. A Model that is served over a network ends its stream with
// one; any other error is not tried again.
type Error struct {
	Status     int           // HTTP status, 0 if there was no answer
	Retryable  bool          // 408, 409, 429, 5xx, a lost connection, an answer cut in the middle
	RetryAfter time.Duration // as the server asks; 0: it does not say
	Err        error
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("status %d: %v", e.Status, e.Err)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }
