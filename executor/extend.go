package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// Join returns a source whose sets hold Go hooks besides those of another
// source, in one running order. The error names the hooks that cannot be used as
// they are written.
func Join(source Source, hooks ...GoHook) (Source, error) {
	j := &joined{source: source}
	names := map[protocol.HookRef]bool{}
	var errs []error
	for i := range hooks {
		h := HookOf(hooks[i])
		ref := protocol.HookRef{Layer: h.Layer, Name: h.Name}
		if names[ref] {
			errs = append(errs, fmt.Errorf("two Go hooks are named %s", h.Name))
		}
		names[ref] = true
		errs = append(errs, checkGoHook(&hooks[i]))
		_, key, err := compileMatch(&h.Match)
		if err != nil {
			errs = append(errs, MatchError{h, key, err})
		}
		j.hooks = append(j.hooks, h)
	}
	return j, errors.Join(errs...)
}

// joined makes one set of each set of its source, so that what compares sets by
// their address finds the same one again.
type joined struct {
	source Source
	hooks  []*Hook

	mu       sync.Mutex
	from, to *Set
}

func (j *joined) Current() *Set {
	from := j.source.Current()
	if from == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.from != from {
		set := *from
		set.Hooks = append(append([]*Hook(nil), from.Hooks...), j.hooks...)
		j.from = from
		j.to, _ = NewSet(set) // the hooks of source compiled before, ours in Join
	}
	return j.to
}

// Extend returns the executor joined by Go hooks: they are asked about the
// events that are fired through what it returns, and nowhere else. All else is
// shared.
func (e *Executor) Extend(hooks ...GoHook) (protocol.EventGate, error) {
	source, err := Join(e.source, hooks...)
	if err != nil {
		return nil, err
	}
	return &extended{e, source}, nil
}

// extended is an executor that asks the hooks of another source.
type extended struct {
	executor *Executor
	source   Source
}

var (
	_ protocol.EventGate = (*Executor)(nil)
	_ protocol.EventGate = (*extended)(nil)
)

func (x *extended) Begin(ctx context.Context, ev protocol.Event) func() (protocol.Outcome, error) {
	return x.executor.begin(ctx, ev, x.source).decide
}

func (x *extended) MayChange(ev protocol.Event) bool {
	return x.source.Current().mayChange(&ev)
}

func (x *extended) CallbackResult(session, agent string, hook protocol.HookRef) func(text string) {
	return x.executor.CallbackResult(session, agent, hook)
}

func (x *extended) Extend(hooks ...GoHook) (protocol.EventGate, error) {
	source, err := Join(x.source, hooks...)
	if err != nil {
		return nil, err
	}
	return &extended{x.executor, source}, nil
}
