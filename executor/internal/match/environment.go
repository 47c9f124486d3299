package match

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/expr-lang/expr/types"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
)

var someTime time.Time

// whenTypes are the names that a condition may use, so that a misspelt one is an error
// at load and not a match at run time.
var whenTypes = sync.OnceValue(func() types.Map {
	names := types.Map{
		"event": types.String, "id": types.String, "seq": types.Any, "time": types.TypeOf(someTime),
		"session": types.Map{"id": types.String, "transcript": types.String},
		"agent":   types.Map{"id": types.String, "parent": types.Any, "depth": types.Int, "host": types.String},
		"project": types.String, "cwd": types.String, "turn": types.Int, "step": types.Int,
		"recipe":     types.Any,
		"compaction": types.Map{"auto": types.Bool, "threshold": types.Float64},
		"usage": types.Map{
			"inputTokens": types.Any, "outputTokens": types.Any,
			"contextTokens": types.Any, "contextMax": types.Any, "costUsd": types.Any,
		},
		"data":     types.Any,
		"metadata": types.Any,
	}
	for _, functions := range []map[string]function{new(Input).functions(), new(Input).memberFunctions()} {
		for name, f := range functions {
			names[name] = types.TypeOf(f)
		}
	}
	return names
})

// environment returns what a condition sees, by the names of [whenTypes].
func (in *Input) environment() (map[string]any, error) {
	if in.env != nil {
		return in.env, nil
	}
	ev := in.event
	values := 0
	for _, mark := range []string{",", "[", "{"} {
		values += bytes.Count(ev.Data, []byte(mark))
	}
	if values > conditionValues {
		return nil, fmt.Errorf("the event holds more than %d values: %w", conditionValues, errUndecided)
	}
	var metadata protocol.RawMessage
	if in.metadata != nil {
		metadata = in.metadata()
	}
	in.env = map[string]any{
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
	maps.Copy(in.env, asAny(in.functions()))
	maps.Copy(in.env, asAny(in.memberFunctions()))
	return in.env, nil
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

// value returns what a pointer points to, nil for nil.
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
