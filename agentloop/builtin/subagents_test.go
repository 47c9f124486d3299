package builtin

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// spawner is a host that only takes sub-agents.
type spawner struct {
	provider.RunContext
	got provider.SubAgent
}

func (s *spawner) Spawn(_ context.Context, sub provider.SubAgent) (provider.SubResult, error) {
	s.got = sub
	return provider.SubResult{Response: "done", StopReason: "done"}, nil
}

// TestSpawnArgs asserts what a model may leave out, and that no tools are not
// all tools.
func TestSpawnArgs(t *testing.T) {
	spawnTool := SubAgents().Tools[0]
	for args, want := range map[string]provider.SubAgent{
		`{"prompt":"p"}`: {Prompt: "p"},
		`{"prompt":"p","name":"n","tools":["bash"]}`: {Prompt: "p", Name: "n", Tools: []string{"bash"}},
		`{"prompt":"p","tools":[]}`:                  {Prompt: "p", Tools: []string{}},
	} {
		host := &spawner{}
		if _, err := spawnTool.Run(provider.WithRunContext(t.Context(), host), protocol.RawMessage(args)); err != nil {
			t.Errorf("%s: %v", args, err)
		}
		if diff := cmp.Diff(want, host.got); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
	for args, want := range map[string]string{`{"prompt":""}`: "the prompt is empty", `{"prompt":"p","model":"x"}`: "model"} {
		if _, err := spawnTool.Run(provider.WithRunContext(t.Context(), &spawner{}), protocol.RawMessage(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", args, err)
		}
	}
	if _, err := spawnTool.Run(t.Context(), protocol.RawMessage(`{"prompt":"p"}`)); err == nil {
		t.Error("there was no agent to work for")
	}
	if schema := string(spawnTool.Describe().Schema); !strings.Contains(schema, `"required":["prompt"]`) || spawnTool.Describe().Kind != protocol.KindAgent {
		t.Errorf("schema %s", schema)
	}
}

func TestCompactAsks(t *testing.T) {
	event := func(change func(*protocol.Event)) *protocol.Event {
		e := &protocol.Event{Event: protocol.InferenceEnd, Compaction: protocol.Compaction{Auto: true, Threshold: 0.8},
			Data: protocol.RawMessage(`{"usage":{"contextTokens":80,"contextMax":100}}`)}
		if change != nil {
			change(e)
		}
		return e
	}
	own, other := "short", "review"
	for name, c := range map[string]struct {
		event *protocol.Event
		asks  bool
	}{
		"at the threshold": {event(nil), true},
		"below": {event(func(e *protocol.Event) {
			e.Data = protocol.RawMessage(`{"usage":{"contextTokens":79,"contextMax":100}}`)
		}), false},
		"off":             {event(func(e *protocol.Event) { e.Compaction.Auto = false }), false},
		"its own recipe":  {event(func(e *protocol.Event) { e.Recipe = &own }), false},
		"another by hand": {event(func(e *protocol.Event) { e.Recipe = &other }), true},
		"no limit told": {event(func(e *protocol.Event) {
			e.Data = protocol.RawMessage(`{"usage":{"contextTokens":80,"contextMax":null}}`)
		}), false},
		"no context told": {event(func(e *protocol.Event) {
			e.Data = protocol.RawMessage(`{"usage":{"contextTokens":null,"contextMax":100}}`)
		}), false},
		"a limit of nothing": {event(func(e *protocol.Event) { e.Data = protocol.RawMessage(`{"usage":{"contextTokens":0,"contextMax":0}}`) }), false},
		"after the limit": {event(func(e *protocol.Event) {
			e.Data = protocol.RawMessage(`{"usage":{"contextTokens":180,"contextMax":100}}`)
		}), true},
		"a threshold of zero": {event(func(e *protocol.Event) { e.Compaction.Threshold = 0 }), true},
	} {
		reply, err := Compact("short").Hooks[0].Func(t.Context(), c.event)
		if err != nil || (reply.Callback != nil) != c.asks || c.asks && (reply.Callback.Name != "short" || reply.Callback.As != protocol.AsMessages) {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
	if got := Compact("").Hooks[0]; !got.Watches || got.Name != CompactionHook.Name {
		t.Errorf("%+v", got)
	}
}
