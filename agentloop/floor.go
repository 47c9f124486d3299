package agentloop

import (
	"context"
	"sync"
)

// floor keeps tools and questions apart, in a loop and all that work for it. A tool
// that runs while a person is asked could answer in the person's place, or paint over
// the question: a program started as root can type into any terminal. So no tool
// begins while a question is open or waits, and none is put while a tool runs.
type floor struct {
	mu      sync.Mutex
	running int           // tools at work, until their call was told
	asking  int           // questions that are open, or wait for the tools to end
	changed chan struct{} // closed when one of the numbers fell to 0; nil: nobody waits
}

// await waits under the lock until a number is 0.
func (f *floor) await(ctx context.Context, number *int) error {
	for *number > 0 {
		if f.changed == nil {
			f.changed = make(chan struct{})
		}
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-changed:
			f.mu.Lock()
		case <-ctx.Done():
			f.mu.Lock()
			return context.Cause(ctx)
		}
	}
	return nil
}

func (f *floor) less(number *int) {
	if *number--; *number == 0 && f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// ask returns when no tool runs; none begins until done is called.
func (f *floor) ask(ctx context.Context) (done func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asking++
	if err := f.await(ctx, &f.running); err != nil {
		f.less(&f.asking)
		return nil, err
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.less(&f.asking)
	}, nil
}

// enter returns when no question is open; none is put until leave is called.
func (f *floor) enter(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.await(ctx, &f.asking); err != nil {
		return err
	}
	f.running++
	return nil
}

func (f *floor) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.less(&f.running)
}

type onFloorKey struct{}

// onFloor marks the context of a tool at work.
func onFloor(ctx context.Context) context.Context {
	return context.WithValue(ctx, onFloorKey{}, true)
}

// aside lets questions be put while a tool does nothing but wait for another agent,
// whose own tools keep the rule.
func (f *floor) aside(ctx context.Context, wait func(context.Context)) {
	if on, _ := ctx.Value(onFloorKey{}).(bool); !on {
		wait(ctx)
		return
	}
	f.leave()
	defer func() { // the tool goes on, and leaves the floor itself
		f.mu.Lock()
		defer f.mu.Unlock()
		_ = f.await(context.WithoutCancel(ctx), &f.asking) // a question ends with its own run
		f.running++
	}()
	wait(context.WithValue(ctx, onFloorKey{}, false))
}
