package proxied

import (
	"context"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// Call is a call of a tool. Hooks that are told of its start are told once how it ended, whatever
// ends it first: its result, an error, or the end of the session.
type Call struct {
	events *Events
	began  time.Time
	seen   chan struct{} // closed when hooks have decided about its start

	mu    sync.Mutex
	call  protocol.Call
	state callState
}

type callState int

const (
	callIsNew callState = iota // hooks know nothing of it
	callIsOpen
	callHasEnded
)

// calls are the calls of a session that have not ended.
type calls struct {
	mu     sync.Mutex
	open   map[*Call]struct{}
	closed bool // no more start
}

// NewCall returns a call that has not started.
func (e *Events) NewCall(call protocol.Call) *Call {
	return &Call{events: e, call: call, began: time.Now(), seen: make(chan struct{})}
}

// Start begins the event of the call's start, as [Events.Begin] does. One that has ended already
// does not start any more.
func (c *Call) Start(ctx context.Context, add ...func(*protocol.Event)) func() (*protocol.Outcome, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == callIsNew && c.events.calls.add(c) {
		c.state = callIsOpen
		decide := c.events.begin(ctx, protocol.ToolCallStart, protocol.ToolCallStartData{Call: c.call, Parallel: 1}, add...)
		return func() (*protocol.Outcome, error) {
			defer close(c.seen)
			return decide()
		}
	}
	c.state = callHasEnded
	return func() (*protocol.Outcome, error) { return nil, ErrClosed }
}

// add reports whether the call may start.
func (c *calls) add(one *Call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	if c.open == nil {
		c.open = map[*Call]struct{}{}
	}
	c.open[one] = struct{}{}
	return true
}

func (c *calls) remove(one *Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, one)
}

// CloseCalls ends the calls that have not ended, and takes no more. The functions that it returns
// tell hooks of that.
func (e *Events) CloseCalls(ctx context.Context, problem protocol.CallError) (tell []func() (*protocol.Outcome, error)) {
	e.calls.mu.Lock()
	open := e.calls.open
	e.calls.open, e.calls.closed = nil, true
	e.calls.mu.Unlock()
	for c := range open {
		if decide := c.Lost(ctx, problem, nil); decide != nil {
			tell = append(tell, decide)
		}
	}
	return tell
}

// Anew returns the call, or if it has ended, the call once more as one that has not: one with
// several ends, all of which hooks judge.
func (c *Call) Anew() *Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != callHasEnded {
		return c
	}
	again := &Call{events: c.events, began: c.began, seen: c.seen, call: c.call, state: callHasEnded}
	if c.events.calls.add(again) {
		again.state = callIsOpen
	}
	return again
}

// Changed takes how the call is made now, after hooks have changed it.
func (c *Call) Changed(to protocol.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.call = to
}

// Result begins the event of the call's end with a result. It returns nil if the call has ended
// already, or has not started.
func (c *Call) Result(ctx context.Context, result protocol.Result, synthetic bool, add ...func(*protocol.Event)) func() (*protocol.Outcome, error) {
	call, was := c.end()
	if !was {
		return nil
	}
	data := protocol.ToolCallEndData{Call: call, Result: result, DurationMs: c.took(), Synthetic: synthetic}
	return c.afterStart(c.events.begin(ctx, protocol.ToolCallEnd, data, append(add, due)...))
}

// Failed begins the event of the call's end with an error. It returns nil if the call has ended
// already, or has not started.
func (c *Call) Failed(ctx context.Context, problem protocol.CallError, by *string) func() (*protocol.Outcome, error) {
	return c.failed(ctx, problem, by, due)
}

// Lost is Failed for a call about whose end nobody waits for hooks, as in [Events.BeginDetached].
func (c *Call) Lost(ctx context.Context, problem protocol.CallError, by *string) func() (*protocol.Outcome, error) {
	return c.failed(ctx, problem, by, Detached)
}

func (c *Call) failed(ctx context.Context, problem protocol.CallError, by *string, as func(*protocol.Event)) func() (*protocol.Outcome, error) {
	call, was := c.end()
	if !was {
		return nil
	}
	data := protocol.ToolCallErrorData{Call: call, Error: problem, BlockedBy: by, DurationMs: c.took()}
	return c.afterStart(c.events.begin(ctx, protocol.ToolCallError, data, as))
}

// end ends the call, and reports whether hooks are to be told of that.
func (c *Call) end() (call protocol.Call, was bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was = c.state == callIsOpen
	c.state = callHasEnded
	if was {
		c.events.calls.remove(c)
	}
	return c.call, was
}

func (c *Call) took() float64 { return protocol.Milliseconds(time.Since(c.began)) }

// afterStart has an event decided after the start of the call.
func (c *Call) afterStart(decide func() (*protocol.Outcome, error)) func() (*protocol.Outcome, error) {
	return func() (*protocol.Outcome, error) {
		<-c.seen
		return decide()
	}
}

func due(event *protocol.Event) { event.Due = true }

// Detached makes an event one of which nobody waits for the outcome; see [Events.BeginDetached].
func Detached(event *protocol.Event) { event.Detached = true }

// Aborted is the error of a call that has no result, since something else has ended.
func Aborted(why string) protocol.CallError {
	return protocol.CallError{Kind: protocol.CallAborted, Text: "aborted: " + why}
}
