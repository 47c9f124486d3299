package executor

import (
	"errors"
	"fmt"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// question returns the event as one hook gets it.
func (d *dispatch) question(h *Hook) *Question {
	d.digest.begin(&d.req)
	ev := *d.event()
	ev.Layer, ev.Outcome = h.Layer, d.results.fold.SoFar()
	snapshot := d.state.snapshot(&d.req)
	ev.State = d.req.executor.callbacks.addTo(snapshot.State(stateKey(h)), ev.Session.ID, ev.Agent.ID, h)
	ev.Metadata = snapshot.Metadata(d.req.set.index.prefixes)
	ev.ModelArgs = d.results.modelArgs(h)
	hidden, undecided := h.Sensitive || d.results.sawSensitive(), d.version.undecided[h]
	checked := d.version.encoding == nil && !h.Info().InProcess && d.input().Scan() // the record looks at what it finds, too
	q := d.req.questionOf(h, ev, &d.version.encoding, checked)
	q.Hidden, q.Undecided = hidden, undecided
	return q
}

// questionOf returns an event as a question. shared is the part of its encoding that all
// hooks of the event have in common; a Go hook needs none. checked says that data is
// known to be JSON.
func (r *request) questionOf(h *Hook, ev protocol.Event, shared **protocol.Encoding, checked bool) *Question {
	settings := r.set.settingsOf(h)
	q := &Question{Hook: h, Event: &ev, Spec: r.spec, Grace: settings.Grace, Limits: settings.Limits}
	if h.Info().InProcess {
		ev.Data = jsonspan.Plain(ev.Data) // as programs read it
		return q
	}
	if h.Asker == nil || r.tooDeepFor(h) {
		return q
	}
	if q.fault = tooLarge(q); q.fault != nil {
		return q
	}
	if *shared == nil {
		encoded, err := encode(&ev, checked)
		if err != nil {
			q.fault = &protocol.Failure{Kind: protocol.FailSpawn, Detail: "the event cannot be written as JSON: " + err.Error()}
			return q
		}
		*shared = encoded
	}
	q.Payload = (*shared).ForHook(ev.Layer, ev.Outcome, ev.State, ev.Metadata)
	return q
}

// tooLarge is the failure of a hook whose own layer's limits the event is over. Other
// hooks are asked all the same.
func tooLarge(q *Question) *protocol.Failure {
	limits, data := &q.Limits, q.Event.Data
	switch {
	case int64(len(data)) > limits.Event:
		return &protocol.Failure{
			Kind:   protocol.FailSpawn,
			Detail: fmt.Sprintf("the event has %d bytes, hooks.limits.event of the %s layer is %d", len(data), q.Hook.Layer, limits.Event),
			Remedy: "raise hooks.limits.event",
		}
	case limits.Depth < protocol.DefaultDepth && jsonspan.DeeperThan(data, limits.Depth):
		return &protocol.Failure{
			Kind:   protocol.FailSpawn,
			Detail: fmt.Sprintf("the event is nested more than %d levels deep, which is hooks.limits.depth of the %s layer", limits.Depth, q.Hook.Layer),
			Remedy: "raise hooks.limits.depth",
		}
	}
	return nil
}

// encode encodes what hooks have in common. A host in Go may have made data that is no
// JSON; a guard that searches it for words must not be the one to find out.
func encode(ev *protocol.Event, checked bool) (*protocol.Encoding, error) {
	if len(ev.Data) > 0 && !checked && !jsonspan.Valid(ev.Data) {
		return nil, errors.New("data is not valid")
	}
	return protocol.Encode(ev)
}
