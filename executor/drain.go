package executor

import (
	"context"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// life is the context of the observers of one layer.
type life struct {
	ctx context.Context
	end context.CancelCauseFunc
}

func newLife() (l life) {
	l.ctx, l.end = context.WithCancelCause(context.Background())
	return l
}

// life is the context of a hook that nobody waits for.
func (e *Executor) life(layer protocol.Layer) context.Context {
	if l, known := e.lives[layer]; known {
		return l.ctx
	}
	return e.lives[protocol.Builtin].ctx
}

// drain waits until drained is closed, and ends the observers of each layer when
// the time of that layer is over.
func (e *Executor) drain(ctx context.Context, set *Set, drained <-chan struct{}) {
	began := time.Now()
	ends := func(layer protocol.Layer) time.Duration { return set.drainOf(layer) }
	order := slices.Clone(layers)
	slices.SortStableFunc(order, func(a, b protocol.Layer) int { return int(ends(a) - ends(b)) })
	for _, layer := range order {
		timer := time.NewTimer(ends(layer) - time.Since(began))
		select {
		case <-drained:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		e.lives[layer].end(errClosed)
	}
}

// Drain is the longest that [Executor.Close] waits for hooks that are due, as the
// settings stand.
func (e *Executor) Drain() (longest time.Duration) {
	if set := e.source.Current(); set != nil {
		for _, layer := range layers {
			longest = max(longest, set.drainOf(layer))
		}
	}
	return longest
}
