package executor

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

var someTime time.Time

// facts is what matching may look at in one version of an event. It is decoded
// at the first matcher that needs it, once for all hooks.
type facts struct {
	event    *protocol.Event
	spec     *protocol.Spec
	metadata func() protocol.RawMessage // what hooks said of themselves so far; may be nil

	traits
	scanned, readable bool
	toolCallID, asks  string

	env   map[string]any
	meter *meter // of the condition that is being evaluated

	missing string // the member that it read and that is not there
}

// traits are what matchers compare and no hook changes. What no matcher of the
// event compares is not read from data, and empty.
type traits struct {
	name               protocol.EventName
	sub, unreadable    bool
	tool, source, step string
	kind               protocol.ToolKind
}

func newFacts(ev *protocol.Event) *facts {
	spec := ev.Spec()
	if spec == nil {
		spec = &protocol.Spec{Name: ev.Event, Kind: protocol.Notice}
	}
	return &facts{event: ev, spec: spec, traits: traits{name: spec.Name, sub: ev.Agent.Depth > 0}}
}

// scan reads the few members of data that matchers compare, and reports whether
// data could be read.
func (f *facts) scan() bool {
	if f.scanned {
		return f.readable
	}
	f.scanned = true
	var members []jsonspan.Member
	members, f.readable = jsonspan.Object(f.event.Data)
	for _, m := range members {
		if field := f.field(m.Name); field != nil {
			*field = jsonspan.Text(m.Value)
		}
	}
	f.unreadable = !f.readable
	if !slices.Contains(toolKinds, f.kind) {
		f.kind = protocol.KindOther // a kind of a later version: a tool that nobody knows
	}
	return f.readable
}

var toolKinds = []protocol.ToolKind{
	protocol.KindShell, protocol.KindRead, protocol.KindWrite, protocol.KindNet, protocol.KindMCP, protocol.KindAgent,
}

// field returns where a member of data is kept, nil if no matcher asks for it.
func (f *facts) field(name string) *string {
	switch {
	case name == "name" && f.spec.Tool:
		return &f.tool
	case name == "kind" && f.spec.Tool:
		return (*string)(&f.kind)
	case name == "toolCallId" && f.spec.Tool:
		return &f.toolCallID
	case name == "askedBy" && f.spec.Ask == protocol.AskStays:
		return &f.asks
	case name == "source" && f.spec.Source:
		return &f.source
	case name == "type" && f.spec.StepType:
		return &f.step
	}
	return nil
}

// environment is what a condition sees, by the names of [whenTypes].
func (f *facts) environment() (map[string]any, error) {
	if f.env != nil {
		return f.env, nil
	}
	ev := f.event
	values := 0
	for _, mark := range []string{",", "[", "{"} {
		values += bytes.Count(ev.Data, []byte(mark))
	}
	if values > conditionValues {
		return nil, fmt.Errorf("the event holds more than %d values: %w", conditionValues, errUndecided)
	}
	var metadata protocol.RawMessage
	if f.metadata != nil {
		metadata = f.metadata()
	}
	f.env = map[string]any{
		"event": string(ev.Event), "id": ev.ID, "seq": value(ev.Seq), "time": ev.Time,
		"session": map[string]any{"id": ev.Session.ID, "transcript": ev.Session.Transcript},
		"agent": map[string]any{
			"id": ev.Agent.ID, "parent": value(ev.Agent.Parent), "depth": ev.Agent.Depth, "host": ev.Agent.Host,
		},
		"project": ev.Project, "cwd": ev.Cwd, "turn": ev.Turn, "step": ev.Step,
		"recipe":     value(ev.Recipe),
		"compaction": map[string]any{"auto": ev.Compaction.Auto, "threshold": ev.Compaction.Threshold},
		"usage": map[string]any{
			"inputTokens": value(ev.Usage.InputTokens), "outputTokens": value(ev.Usage.OutputTokens),
			"contextTokens": value(ev.Usage.ContextTokens), "contextMax": value(ev.Usage.ContextMax),
			"costUsd": value(ev.Usage.CostUSD),
		},
		"data":     opened(decodeAny(ev.Data)),
		"metadata": open(decodeAny(orEmpty(metadata))),
	}
	maps.Copy(f.env, asAny(f.functions()))
	maps.Copy(f.env, asAny(f.memberFunctions()))
	return f.env, nil
}

func orEmpty(raw protocol.RawMessage) protocol.RawMessage {
	if len(raw) == 0 {
		return protocol.RawMessage("{}")
	}
	return raw
}

func asAny(functions map[string]function) map[string]any {
	out := make(map[string]any, len(functions))
	for name, f := range functions {
		out[name] = f
	}
	return out
}

// value turns a pointer into what it points to, or nil.
func value[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// decodeAny decodes a value for a condition. Integers stay integers, so that
// ids compare exactly. What cannot be read is nil: a condition on it fails, and
// that counts as a match.
func decodeAny(raw protocol.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	var out any
	if err := json.Unmarshal(raw, &out, json.WithUnmarshalers(exactNumbers())); err != nil {
		return nil
	}
	return out
}

var exactNumbers = sync.OnceValue(func() *json.Unmarshalers { return json.UnmarshalFromFunc(exactNumber) })

// exactNumber reads a number, a whole one as an int. Other values are not for it.
func exactNumber(dec *jsontext.Decoder, out *any) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	number, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if i, err := strconv.Atoi(string(number)); err == nil {
		*out = i
		return nil
	}
	*out, _ = strconv.ParseFloat(string(number), 64) // out of range is ±Inf, which compares rightly
	return nil
}
