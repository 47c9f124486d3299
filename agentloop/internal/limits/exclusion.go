package limits

import (
	"context"
	"sync"
)

// Exclusion keeps tools and questions to a person apart, for a loop and all that work for
// it. A tool that runs while a person is asked could answer in the person's place, or
// write over the question: a program started as root can type into any terminal. So no
// tool begins while a question is open or waits, and no question is asked while a tool
// runs.
type Exclusion struct {
	mu      sync.Mutex
	running int           // tools at work, until the end of their call was shown
	asking  int           // questions that are open, or wait for the tools to end
	changed chan struct{} // closed when one of the numbers fell to 0; nil: nobody waits
}

// await waits until a number is 0. The lock must be held.
func (e *Exclusion) await(ctx context.Context, number *int) error {
	for *number > 0 {
		if e.changed == nil {
			e.changed = make(chan struct{})
		}
		changed := e.changed
		e.mu.Unlock()
		select {
		case <-changed:
			e.mu.Lock()
		case <-ctx.Done():
			e.mu.Lock()
			return context.Cause(ctx)
		}
	}
	return nil
}

func (e *Exclusion) decrease(number *int) {
	if *number--; *number == 0 && e.changed != nil {
		close(e.changed)
		e.changed = nil
	}
}

// BeginQuestion returns when no tool runs. No tool begins before done is called.
func (e *Exclusion) BeginQuestion(ctx context.Context) (done func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asking++
	if err := e.await(ctx, &e.running); err != nil {
		e.decrease(&e.asking)
		return nil, err
	}
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.decrease(&e.asking)
	}, nil
}

// BeginTool returns when no question is open. No question is asked before
// [Exclusion.EndTool] is called.
func (e *Exclusion) BeginTool(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.await(ctx, &e.asking); err != nil {
		return err
	}
	e.running++
	return nil
}

// EndTool is called when a tool has ended.
func (e *Exclusion) EndTool() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.decrease(&e.running)
}

type inToolKey struct{}

// InTool returns the context for a tool at work.
func InTool(ctx context.Context) context.Context {
	return context.WithValue(ctx, inToolKey{}, true)
}

// WaitForAgent allows questions while a tool does nothing but wait for another agent,
// whose own tools keep the rule.
func (e *Exclusion) WaitForAgent(ctx context.Context, wait func(context.Context)) {
	if on, _ := ctx.Value(inToolKey{}).(bool); !on {
		wait(ctx)
		return
	}
	e.EndTool()
	defer func() { // the tool goes on, and its caller ends it
		e.mu.Lock()
		defer e.mu.Unlock()
		_ = e.await(context.WithoutCancel(ctx), &e.asking) // a question ends with its own run
		e.running++
	}()
	wait(context.WithValue(ctx, inToolKey{}, false))
}
