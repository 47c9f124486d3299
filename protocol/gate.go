package protocol

import (
	"context"
	"time"
)

// EventGate decides events. A host waits for the outcome of every gate and point and
// obeys it. Fire returns an error for one reason only: the context ended. For a
// notice it returns without waiting for the hooks.
type EventGate interface {
	Fire(ctx context.Context, event Event) (Outcome, error)
}

// Sequencer is an [EventGate] that takes events in one after the other. Begin
// gives an event its place behind those begun before and returns at once with
// what decides it, which is to be called once. A host that begins the events of a
// session in the order of their seq has them met in that order, although several
// are decided side by side.
type Sequencer interface {
	EventGate
	Begin(ctx context.Context, event Event) (decide func() (Outcome, error))
}

// Extender is an [EventGate] that can be joined by hooks written in Go. Extend
// returns a gate that asks them too, in one running order with its own hooks;
// the gate it is called on stays as it is. The error names the hooks that
// cannot be used as they are written.
type Extender interface {
	EventGate
	Extend(hooks ...GoHook) (EventGate, error)
}

// JudgementTaker is an [EventGate] that hands a recipe's text to the hook that asked
// for it with callback.as "state": the hook finds it once, as the member
// callback of its state, at the next event it is asked about of that agent in the
// session.
type JudgementTaker interface {
	EventGate
	TakeJudgement(session, agent string, hook HookRef, text string)
}

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
