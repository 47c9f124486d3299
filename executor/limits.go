package executor

import (
	"errors"
	"strings"
	"time"
)

// ErrHookTimeout and ErrBudget tell, by errors.Is on a context's cause, which of
// the two limits ended it. Any other cause is an abort.
var (
	ErrHookTimeout = errors.New("timed out")
	ErrBudget      = errors.New("time budget of the event used up")
)

// HookTimeout is the cause of a context that ends with a hook's own time limit:
// "timed out after 2s".
func HookTimeout(limit time.Duration) error {
	return &limitError{kind: ErrHookTimeout, text: "timed out after " + durationText(limit)}
}

// BudgetSpent is the cause of a context that ends with the time budget that all
// hooks of an event share.
func BudgetSpent(budget time.Duration) error {
	return &limitError{kind: ErrBudget, text: "the event's time budget of " + durationText(budget) + " is used up"}
}

type limitError struct {
	kind error
	text string
}

func (e *limitError) Error() string { return e.text }
func (e *limitError) Unwrap() error { return e.kind }

// durationText writes 2m for what Go writes as 2m0s.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
