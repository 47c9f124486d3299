package protocol

import (
	"context"
	"errors"
	"time"
)

// EventGate decides events: it is all that an agent loop needs of what asks its hooks.
//
// A gate that wraps another one implements all methods itself. It must not embed the
// other: Extend would then return a gate without the wrapper. A gate that can do no
// more than decide one event is a [GateFunc].
type EventGate interface {
	// Begin gives an event its place after those begun before, and returns at once
	// with the function that decides it, which is to be called once. A host that
	// begins the events of a session in the order of their seq has the gate meet them
	// in that order, although several are decided at the same time.
	//
	// The host waits for the outcome of every gate and point and obeys it. decide
	// returns an error for one reason only: ctx ended. For a notice it returns without
	// waiting for the hooks.
	Begin(ctx context.Context, event Event) (decide func() (Outcome, error))

	// MayChange reports whether a hook that may block or change an event could match
	// this one. The host shows nothing of what the event is about before such an event
	// was decided. The event's data is what is known so far.
	MayChange(event Event) bool

	// Extend returns a gate that asks hooks written in Go too, in one running order
	// with its own hooks; the gate that it is called on stays as it is. The error names
	// the hooks that cannot be used as they are written, or wraps
	// [errors.ErrUnsupported] if the gate takes no hooks.
	Extend(hooks ...GoHook) (EventGate, error)

	// CallbackResult returns the function that hands a recipe's text to the hook that
	// asked for it with callback.as "state", nil if the gate cannot do that. The hook
	// finds the text once, as the member callback of its state, at the next event of
	// that agent in the session that it is asked about.
	CallbackResult(session, agent string, hook HookRef) (deliver func(text string))
}

// GateFunc is an [EventGate] that decides one event after the other, such as the Fire
// method of a client. Everything may change in it, it takes no Go hooks, and no hook
// gets a recipe's text.
type GateFunc func(ctx context.Context, event Event) (Outcome, error)

// Begin returns what calls f.
func (f GateFunc) Begin(ctx context.Context, event Event) (decide func() (Outcome, error)) {
	return func() (Outcome, error) { return f(ctx, event) }
}

// MayChange returns true.
func (f GateFunc) MayChange(Event) bool { return true }

// Extend returns [errors.ErrUnsupported].
func (f GateFunc) Extend(...GoHook) (EventGate, error) { return nil, errors.ErrUnsupported }

// CallbackResult returns nil.
func (f GateFunc) CallbackResult(string, string, HookRef) func(string) { return nil }

// HookRef names a hook: equal names in different layers are different hooks.
type HookRef struct {
	Layer Layer
	Name  string
}

// GoHook is a hook written in Go. It is the equal of an external one: the same
// table says what it may answer, it has its place in the same running order, the
// same rules for its failures, and the same records.
type GoHook struct {
	Name        string
	Description string
	Layer       Layer // default builtin
	Events      []EventName
	Match       Match
	Can         Class // default modify
	Mode        Mode  // default enforce
	Priority    int
	Timeout     time.Duration // default 30s
	OnFailure   Rule          // default block if Can is block, else continue
	Required    bool
	Sensitive   bool

	// Watches promises that the hook neither refuses nor changes what an event is
	// about, although its class would let it: it asks for a callback, gives
	// context, keeps state. So nothing is held back until it has answered. An
	// answer that breaks the promise is a failure.
	Watches bool

	// Func answers one event. The zero Reply is observe. An error, a panic and a
	// return after the limit are failures under OnFailure; a [*Failure] as error
	// says which. It may be called from several goroutines.
	Func func(ctx context.Context, ev *Event) (Reply, error)
}

// Match narrows the events a hook is asked about. Every key that is given must
// hold; a key that has no meaning at an event does not restrict there.
type Match struct {
	Tool   []string `json:"tool,omitzero"`   // exact name, glob, /RE2/ or @kind; the whole name must match
	Source []string `json:"source,omitzero"` // data.source
	Agent  string   `json:"agent,omitzero"`  // main or sub
	Step   string   `json:"step,omitzero"`   // final or tools
	When   string   `json:"when,omitzero"`   // expr-lang expression of type bool over the event's fields and metadata
}
