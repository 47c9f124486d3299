package cli

import (
	"errors"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// Closers are what has to be done before the process ends.
type Closers struct{ list []func() error }

// Add has something done before the process ends: what was added last is done first.
func (c *Closers) Add(do func() error) { c.list = append(c.list, do) }

// Close does it, prints a note of each failure, and returns an error that says what was
// lost (see [DataLossError]).
func (c *Closers) Close(console *Console) (losses error) {
	for i := len(c.list) - 1; i >= 0; i-- {
		err := c.list[i]()
		if loss, isLoss := errors.AsType[DataLossError](err); isLoss {
			losses = errors.Join(losses, loss)
		} else if err != nil {
			console.Note(show.OneLine(err.Error()), "")
		}
	}
	return losses
}
