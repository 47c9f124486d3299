package process

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// endings remembers the trees of runs that were cut short and are still being ended,
// by [Command.Key], so that a program does not run twice at once.
type endings struct {
	mu   sync.Mutex
	gone map[string][]<-chan struct{} // Result.Gone of each
}

// await waits until no tree of an earlier run with the key is being ended, or until
// giveUp is closed.
func (e *endings) await(ctx context.Context, key string, giveUp <-chan struct{}) error {
	for {
		gone := e.first(key)
		if gone == nil {
			return nil
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return fmt.Errorf("%w while an earlier run of it was still ending", context.Cause(ctx))
		case <-giveUp:
			return ErrClosed
		}
	}
}

// first returns the Gone of one earlier run with the key whose tree is not gone, nil
// if there is none.
func (e *endings) first(key string) <-chan struct{} {
	if key == "" {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	list := slices.DeleteFunc(e.gone[key], isClosedChannel)
	if len(list) == 0 {
		delete(e.gone, key)
		return nil
	}
	e.gone[key] = list
	return list[0]
}

// add makes later runs with the key wait.
func (e *endings) add(key string, gone <-chan struct{}) {
	if key == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gone[key] = append(e.gone[key], gone)
}

func isClosedChannel(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
