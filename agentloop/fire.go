package agentloop

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
)

// verdict is a decided event.
type verdict struct {
	protocol.Outcome
	name  protocol.EventName
	fired protocol.RawMessage // the data as it was fired
}

// passed reports whether what the event announces may happen. An ask is no
// pass: where a person can be asked, that has been done already.
func (v *verdict) passed() bool { return !v.Refused() }

// by is the name of the hook whose voice counts.
func (v *verdict) by() string {
	if v.By == nil {
		return ""
	}
	return *v.By
}

// changes reports whether hooks changed a member of the event's data.
func (v *verdict) changes(field string) bool {
	return !bytes.Equal(v.fired, v.Event.Data) && !bytes.Equal(member(v.fired, field), member(v.Event.Data, field))
}

// decided is the event's data as it was decided; fired is what it was before.
func decided[T any](v *verdict, fired T) (T, error) {
	if bytes.Equal(v.fired, v.Event.Data) {
		return fired, nil
	}
	var data T
	if err := json.Unmarshal(v.Event.Data, &data, decodeOptions); err != nil {
		return fired, internal(fmt.Errorf("%s: the decided event: %w", v.name, err))
	}
	return data, nil
}

// pass fires a gate whose refusal ends the run, and returns its data as decided.
func pass[T any](ctx context.Context, r *Run, name protocol.EventName, fired T) (*verdict, T, error) {
	v, err := r.fire(ctx, name, fired)
	if err == nil {
		err = v.refusal()
	}
	if err != nil {
		return nil, fired, err
	}
	data, err := decided(v, fired)
	return v, data, err
}

// member is one member of an object, nil if it is not there.
func member(object protocol.RawMessage, name string) protocol.RawMessage {
	decoder := jsontext.NewDecoder(bytes.NewReader(object), decodeOptions)
	decoder.ReadToken()
	for decoder.PeekKind() == '"' {
		key, err := decoder.ReadToken()
		if err != nil {
			return nil
		}
		if key.String() != name {
			decoder.SkipValue()
			continue
		}
		value, err := decoder.ReadValue()
		if err != nil {
			return nil
		}
		return protocol.RawMessage(value)
	}
	return nil
}

// unfired is the error of an event that did not even reach the gate: the
// context had ended before.
type unfired struct{ error }

func (u unfired) Unwrap() error { return u.error }

// decodeOptions read what hooks changed: their texts are checked already.
var decodeOptions = jsontext.AllowInvalidUTF8(true)

// fire is the one way to the gate: it builds the event around data, waits for
// the outcome, asks the person where the hooks want that, and yields what was
// decided. It fails only when the context ended before the decision; whatever
// the gate answered then has no effect.
func (r *Run) fire(ctx context.Context, name protocol.EventName, data any, options ...func(*protocol.Event)) (*verdict, error) {
	var settle settler
	if protocol.Lookup(name).Ask == protocol.AskPerson {
		settle = func(ctx context.Context, o *protocol.Outcome) error {
			if o.Action != protocol.Ask || o.By == nil {
				return nil
			}
			_, err := r.askPerson(ctx, o, Question{Event: name, AskedBy: "hook:" + *o.By, Layer: o.DecidedLayer(), Text: o.Reason, Options: once})
			return err
		}
	}
	v, err := r.settled(ctx, name, data, settle, options...)
	if err != nil {
		return nil, err
	}
	r.tell(ctx, v)
	return v, nil
}

// settler completes what hooks left open; see [protocol.Event]. nil: nothing is.
type settler func(ctx context.Context, o *protocol.Outcome) error

// settled fires an event and has the person asked before it is recorded. A gate that
// does not know of that leaves it to the loop.
func (r *Run) settled(ctx context.Context, name protocol.EventName, data any, settle settler, options ...func(*protocol.Event)) (*verdict, error) {
	if settle == nil {
		return r.decide(ctx, name, data, options...)
	}
	done := false
	v, err := r.decide(ctx, name, data, append(options, func(e *protocol.Event) {
		e.Settle = func(ctx context.Context, o *protocol.Outcome) error {
			done = true
			return settle(ctx, o)
		}
	})...)
	if err == nil && !done {
		err = settle(ctx, &v.Outcome)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// decide fires an event and yields nothing yet.
func (r *Run) decide(ctx context.Context, name protocol.EventName, data any, options ...func(*protocol.Event)) (*verdict, error) {
	due := isFarewell(ctx)
	if ctx.Err() != nil && !due {
		return nil, unfired{context.Cause(ctx)}
	}
	encoded, err := r.loop.encodings.data(data)
	if err != nil {
		return nil, internal(fmt.Errorf("%s: %w", name, err))
	}
	event := r.envelope(name, encoded)
	event.Due = due
	for _, option := range options {
		option(&event)
	}
	outcome, err := r.numbered(ctx, &event)()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, internal(fmt.Errorf("%s: the gate: %w", name, err))
	}
	if outcome.Event.Data == nil { // a gate that says nothing of the event changed nothing
		outcome.Event = event
	}
	return &verdict{Outcome: outcome, name: name, fired: encoded}, nil
}

// numbered gives an event its number and begins it at once: events that are decided
// at the same time reach the gate in the order of their numbers.
func (r *Run) numbered(ctx context.Context, event *protocol.Event) (decide func() (protocol.Outcome, error)) {
	ctx = r.hosting(ctx)
	r.loop.numbers.next(func(seq int64) {
		event.Seq, event.Opening = &seq, r.loop.numbers.opening
		decide = r.loop.options.Gate.Begin(ctx, *event)
	})
	return decide
}

// tell yields a decided event, and what of it cannot be carried out.
func (r *Run) tell(ctx context.Context, v *verdict) {
	shown := v.Outcome.Shown()
	if !v.passed() {
		seen := *v
		seen.Outcome = shown
		shown.Event.Data = withheld(&seen)
	}
	r.yield(ctx, Yield{Kind: YieldEvent, Event: shown.Event, Outcome: shown})
	r.askedFor(ctx, v)
	if spec := protocol.Lookup(v.name); !v.passed() && !spec.Tool { // a refused call has a result all the same
		r.dropped(ctx, v.contextParts())
	}
}

// envelope is the event around data, without a number yet.
func (r *Run) envelope(name protocol.EventName, data protocol.RawMessage) protocol.Event {
	o := &r.loop.options
	event := protocol.Event{
		Protocol: protocol.Version,
		Event:    name,
		ID:       protocol.NewID(),
		Time:     time.Now().UTC(),
		Session:  r.loop.session,
		Agent:    o.Agent,
		Project:  o.Project, Cwd: o.Cwd,
		Turn: r.loop.turn, Step: r.steps,
		Compaction: o.Compaction.Compaction,
		Usage:      r.usage.sum(),
		Data:       data,
	}
	r.loop.lineageOf(&event)
	return event
}

// notify fires a notification for the person. What hooks say to it is theirs.
func (r *Run) notify(ctx context.Context, kind, text string) {
	v, err := r.decide(ctx, protocol.Notification, protocol.NotificationData{Kind: kind, Text: text})
	if err == nil {
		r.yield(ctx, Yield{Kind: YieldEvent, Event: v.Event, Outcome: v.Outcome})
	}
}
