package model

import (
	"errors"
	"fmt"
	"time"
)

// Error is why a model did not answer. It decides whether another try makes sense: a Model
// that is served over a network ends its stream with one, and any other error is not tried
// again.
type Error struct {
	Status     int           // HTTP status, 0 if there was no answer
	Retryable  bool          // 408, 409, 429, 5xx, a lost connection, an answer cut in the middle
	RetryAfter time.Duration // as the server asks; 0: it does not say
	Err        error
}

// ErrContextFull is in the chain of an [Error] that says that a request is
// longer than the model's context window. The same request fails again; a
// shorter one may pass.
var ErrContextFull = errors.New("the conversation is longer than the model's context window; compact it or begin a new session")

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("status %d: %v", e.Status, e.Err)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// RetryableStatus reports whether another try may succeed after an HTTP status: too much
// at once, or something wrong on the server's side.
func RetryableStatus(status int) bool {
	switch status {
	case 408, 409, 429:
		return true
	}
	return status >= 500 && status <= 599
}
