package protocol

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
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

	// Of calls of tools: patterns for the simple commands of a shell line, and for the
	// real paths of the files that a call reads or writes.
	Command []string `json:"command,omitzero"`
	Path    []string `json:"path,omitzero"`

	When string `json:"when,omitzero"` // expr-lang expression of type bool over the event's fields and metadata
}

// The functions of this file are for hooks and hosts written in Go, so that they need
// no raw JSON. Their errors are to be returned by the hook: a hook that returns an
// error could not be asked, and its rule decides. It never counts as observe.

// ReadData reads an event's data into a struct, usually the one of the event's row
// such as [ToolCallStartData]. Members that the struct does not have are no error. One
// of this package's structs that belongs to another event is.
func ReadData[T any](ev *Event) (data T, err error) {
	if err := isDataOf(ev, reflect.TypeFor[T]()); err != nil {
		return data, err
	}
	return readAs[T](ev.Data, "data of "+string(ev.Event))
}

// ReadArgs reads the args of an event's tool call into a struct.
func ReadArgs[T any](ev *Event) (args T, err error) {
	raw := jsonspan.Get(ev.Data, "args")
	if raw == nil {
		return args, fmt.Errorf("%s has no args", ev.Event)
	}
	return readAs[T](raw, "args")
}

// ReadState reads the hook's state in this session into a struct. found is false where
// the hook has none yet.
func ReadState[T any](ev *Event) (state T, found bool, err error) {
	if len(ev.State) == 0 || jsonspan.IsNull(ev.State) {
		return state, false, nil
	}
	state, err = readAs[T](ev.State, "state")
	return state, err == nil, err
}

// ModifyData returns the reply that changes an event's data: edit changes the struct,
// and the reply has what differs afterwards and nothing else. What the struct does not
// know stays. Without a difference the reply is observe. An error of edit is returned.
func ModifyData[T any](ev *Event, edit func(data *T) error) (Reply, error) {
	if err := isDataOf(ev, reflect.TypeFor[T]()); err != nil {
		return Reply{}, err
	}
	return modify(ev.Data, "", "data of "+string(ev.Event), edit)
}

// ModifyArgs is [ModifyData] for the args of a tool call.
func ModifyArgs[T any](ev *Event, edit func(args *T) error) (Reply, error) {
	raw := jsonspan.Get(ev.Data, "args")
	if raw == nil {
		return Reply{}, fmt.Errorf("%s has no args", ev.Event)
	}
	return modify(raw, "/args", "args", edit)
}

func modify[T any](raw RawMessage, pointer, what string, edit func(*T) error) (Reply, error) {
	if edit == nil {
		return Reply{}, errors.New("no function that edits the " + what)
	}
	value, err := readAs[T](raw, what)
	if err != nil {
		return Reply{}, err
	}
	before, err := Marshal(value)
	if err != nil {
		return Reply{}, fmt.Errorf("%s: %w", what, err)
	}
	if err := edit(&value); err != nil {
		return Reply{}, err
	}
	after, err := Marshal(value)
	if err != nil {
		return Reply{}, fmt.Errorf("%s: %w", what, err)
	}
	var changes []jsonspan.Change
	budget := jsonspan.NewBudget(len(raw), len(after))
	if err := budget.Within(func() error {
		_, changes = budget.Edit(raw, jsonspan.Overlay(raw, before, after))
		return nil
	}); err != nil {
		return Reply{}, fmt.Errorf("%s: %w", what, err)
	}
	if len(changes) == 0 {
		return Reply{Action: Observe}, nil
	}
	return Reply{Action: Modify, Patch: jsonspan.AsPatch(pointer, changes)}, nil
}

func readAs[T any](raw RawMessage, what string) (value T, err error) {
	if err := json.Unmarshal(raw, &value); err != nil {
		return value, fmt.Errorf("%s: %w", what, decodeError(err, "", 0))
	}
	return value, nil
}

// isDataOf refuses the data struct of another event.
func isDataOf(ev *Event, t reflect.Type) error {
	spec := ev.Spec()
	if spec == nil {
		return fmt.Errorf("unknown event %q", ev.Event)
	}
	of := func(s Spec) bool { return typeOfData(&s) == t }
	if !of(*spec) && slices.ContainsFunc(Table, of) {
		return fmt.Errorf("%s is not the data of %s, which is %s", t, ev.Event, typeOfData(spec))
	}
	return nil
}

// BlockReply refuses what the event announces. The model and the person read the
// reason.
func BlockReply(reason string) Reply { return Reply{Action: Block, Reason: reason} }

// StopReply refuses as [BlockReply] does, and ends the run.
func StopReply(reason string) Reply { return Reply{Action: Stop, Reason: reason} }

// AskReply returns the reply that has a person decide. The person reads the reason.
func AskReply(reason string) Reply { return Reply{Action: Ask, Reason: reason} }

// ContinueReply has the run go on with messages of the user, at events where continue
// has a meaning.
func ContinueReply(messages ...Message) (Reply, error) {
	raw, err := Marshal(messages)
	return Reply{Action: Continue, Messages: raw}, err
}

// ResultReply answers in the place of the tool, at tool-call-start: the tool does not
// run.
func ResultReply(result Result) (Reply, error) {
	raw, err := Marshal(result)
	return Reply{Action: Modify, Result: raw}, err
}

// ResponseReply answers in the place of the model, at inference-start: the model is not
// called.
func ResponseReply(response Response) (Reply, error) {
	raw, err := Marshal(response)
	return Reply{Action: Modify, Response: raw}, err
}

// WithState returns the reply with a new state of the hook, which it reads with
// [ReadState] at its next event of the session.
func (r Reply) WithState(state any) (Reply, error) {
	raw, err := Marshal(state)
	if err != nil {
		return Reply{}, fmt.Errorf("state: %w", err)
	}
	r.State = raw
	return r, nil
}

// NewEvent is an event as a host fires it: data is the struct of the event's row, or
// another one with these members. Members that must be there and are not have their
// zero value. The host adds what it knows, such as Session, Agent and Project.
func NewEvent(name EventName, data any) (Event, error) {
	spec := Lookup(name)
	if spec == nil {
		return Event{}, fmt.Errorf("unknown event %q; %s", name, EventHint(string(name)))
	}
	if data == nil {
		data = struct{}{}
	}
	raw, err := Marshal(data)
	if err != nil {
		return Event{}, fmt.Errorf("data of %s: %w", name, err)
	}
	t := reflect.TypeOf(data)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if err := isDataOf(&Event{Event: name}, t); err != nil {
		return Event{}, err
	}
	if t != typeOfData(spec) { // that one has all members
		raw = Complete(spec, raw)
	}
	ev := Event{Protocol: Version, Event: name, Data: raw}
	return ev, CheckEvent(&ev)
}
