package agentloop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/agentloop/internal/conversation"
	"github.com/hookd-dev/hookd/agentloop/internal/limits"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// verdict is a decided event.
type verdict struct {
	protocol.Outcome
	name  protocol.EventName
	fired protocol.RawMessage // the data as it was fired
}

// passed reports whether what the event announces may happen. An ask does not pass: if a
// person can be asked, that has happened already.
func (v *verdict) passed() bool { return !v.Refused() }

// keepsResult reports whether a decided tool-call-end leaves the result to the model: it
// passed, or a hook stopped the run, which says nothing against the result. A rule that
// stops because a hook could not judge the result withholds it.
func (v *verdict) keepsResult() bool { return !v.Withholds() }

// by returns the name of the hook that decided, "" if none did.
func (v *verdict) by() string {
	if v.By == nil {
		return ""
	}
	return *v.By
}

// changes reports whether hooks changed a member of the event's data.
func (v *verdict) changes(field string) bool {
	return !bytes.Equal(v.fired, v.Event.Data) && !bytes.Equal(jsonspan.Get(v.fired, field), jsonspan.Get(v.Event.Data, field))
}

// decodeOptions read what hooks changed: their texts were checked before.
var decodeOptions = jsontext.AllowInvalidUTF8(true)

// decided returns the event's data as it was decided; fired is what it was before.
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

// contextParts puts each text of an event's context under its hook's name. A part says
// whose it is, so that no hook of a lower layer takes it away later.
func (v *verdict) contextParts() protocol.Content {
	parts := make(protocol.Content, len(v.Context))
	for i, c := range v.Context {
		parts[i] = protocol.Part{
			Type: protocol.PartText, Text: "[context from hook " + c.Hook + "]\n" + c.Text,
			Hook: c.Hook, Layer: v.layerOf(c.Hook),
		}
	}
	return parts
}

// layerOf returns the layer of a hook that was asked; of equal names the highest.
func (v *verdict) layerOf(hook string) protocol.Layer {
	layer := protocol.Layer("")
	for _, run := range v.Runs {
		if run.Hook == hook && (layer == "" || run.Source.Rank() > layer.Rank()) {
			layer = run.Source
		}
	}
	return layer
}

// continuation returns what a hook's continue (or a block where that means the same) adds
// to the conversation; none means that nobody asked to go on.
func (v *verdict) continuation() []protocol.Message {
	spec := protocol.Lookup(v.name)
	switch {
	case v.Action == protocol.Stop || v.Failure != "":
		return nil
	case len(v.Messages) > 0:
		return v.Messages
	case v.Action == protocol.Continue && v.Reason != "",
		v.Action == protocol.Block && spec.Block == protocol.BlockContinues:
		return []protocol.Message{conversation.Text(protocol.RoleUser, "["+v.by()+"] "+v.RefusalText())}
	}
	return nil
}

// runEnd is why a run ends before it is done: with agent-end and a stop reason, or with
// agent-error and a cause. It is passed up as an error.
type runEnd struct {
	stopReason string // of agent-end: steps tokens time budget hook aborted; "" for agent-error
	cause      string // of agent-error: blocked failure model tool limit internal
	message    string
	by         string // the hook, "" if none
	err        error  // what is underneath, if anything
}

func (e *runEnd) Error() string { return e.message }
func (e *runEnd) Unwrap() error { return e.err }

// internal returns the end of a run that failed by no fault of hooks, model or tools. It
// returns nil if err is nil.
func internal(err error) error {
	if err == nil {
		return nil
	}
	return &runEnd{cause: "internal", message: err.Error(), err: err}
}

var errNoMoreTries = errors.New("no more tries")

// refusal returns the end of a run whose event was refused or stopped, nil if the event
// passed. A stop is the regular end of a run, a refusal is not. A rule that refuses because
// a hook could not be asked is no regular end either.
func (v *verdict) refusal() error {
	switch {
	case v.passed():
		return nil
	case v.Failure != "":
		return &runEnd{cause: "failure", message: v.RefusalText(), by: v.by()}
	case v.Action == protocol.Stop && !protocol.Lookup(v.name).StopErrs:
		return &runEnd{stopReason: v.stopReason(), message: v.RefusalText(), by: v.by()}
	case v.name == protocol.InferenceStart && v.by() == "retries" && v.DecidedLayer() == protocol.Builtin:
		return &runEnd{cause: "model", message: v.RefusalText(), by: v.by(), err: errNoMoreTries}
	default:
		return &runEnd{cause: "blocked", message: v.RefusalText(), by: v.by()}
	}
}

// stopReason returns the stopReason of agent-end after a stop: a limit's own if the
// built-in of that name said it.
func (v *verdict) stopReason() string {
	switch name := v.by(); name {
	case "steps", "tokens", "time", "budget":
		if v.DecidedLayer() == protocol.Builtin {
			return name
		}
	}
	return "hook"
}

// stepEnd is the end of the run that follows a step, if one of the step's tool calls or
// sub-agents asked for it.
type stepEnd struct {
	mu  sync.Mutex
	err error // the first counts
	by  string
}

func (e *stepEnd) set(err error, by string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil && err != nil {
		e.err, e.by = err, by
	}
}

func (e *stepEnd) isSet() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err != nil
}

// notRun is what the model reads of a call that the end of the run prevented.
func (e *stepEnd) notRun() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.err == nil:
		return "not run: aborted"
	case e.by == "":
		return "not run: the run ended"
	default:
		return "not run: stopped by " + e.by
	}
}

// recipeCall is a recipe that a hook asked for.
type recipeCall struct {
	protocol.CallbackCall
	event protocol.EventName // at which it was asked for
	hook  protocol.HookRef
}

// recipeCall returns the call that the event's hooks ask for. Callback must be set.
func (v *verdict) recipeCall() recipeCall {
	call := recipeCall{CallbackCall: *v.Callback, event: v.name}
	call.hook = protocol.HookRef{Layer: v.layerOf(v.Callback.By), Name: v.Callback.By}
	for _, run := range v.Runs {
		if run.Hook == v.Callback.By && run.Action == protocol.Callback {
			call.hook.Layer = run.Source
			break
		}
	}
	return call
}

// isForHook reports whether the recipe's text goes to the hook that asked for it. Any
// other recipe replaces the conversation.
func (c *recipeCall) isForHook() bool { return c.As == protocol.AsState }

// recipeCalls wait for their moment: step-start and agent-stop run them at once, those
// asked for in a step wait for its step-stop. Of several that would replace the
// conversation the first counts; a hook has one for itself.
type recipeCalls struct {
	mu      sync.Mutex // several tools may end at the same time
	waiting []recipeCall
}

// add returns why a call is lost, "" if it waits.
func (c *recipeCalls) add(call recipeCall) (lost string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, other := range c.waiting {
		if other.isForHook() == call.isForHook() && (!call.isForHook() || other.hook == call.hook) {
			return fmt.Sprintf("%s had asked for %s before", other.By, other.Name)
		}
	}
	c.waiting = append(c.waiting, call)
	return ""
}

// next takes one out. Those for hooks come first: they are about the conversation as it
// was when they were asked for.
func (c *recipeCalls) next() (call recipeCall, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		return recipeCall{}, false
	}
	at := max(0, slices.IndexFunc(c.waiting, func(c recipeCall) bool { return c.isForHook() }))
	call = c.waiting[at]
	c.waiting = slices.Delete(c.waiting, at, at+1)
	return call, true
}

// aborted is the error of a call whose context ended.
func aborted(ctx context.Context) protocol.CallError {
	cause := context.Cause(ctx)
	if errors.As(cause, new(*limits.Reached)) {
		return protocol.CallError{Kind: protocol.CallTimeout, Text: cause.Error()}
	}
	return protocol.CallError{Kind: protocol.CallAborted, Text: "aborted: " + cause.Error()}
}
