package agentloop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/agentloop/internal/conversation"
	"github.com/hookd-dev/hookd/protocol"
)

const threeCalls = `
turns:
- toolCalls:
  - {id: c1, name: echo, args: {text: one}}
  - {id: c2, name: echo, args: {text: two}}
  - {id: c3, name: echo, args: {text: three}}
- text: final
`

// TestStopInParallel asserts that begun calls finish and others do not begin.
func TestStopInParallel(t *testing.T) {
	stopAt := func(on protocol.EventName, id string) hook {
		return hook{on: on, name: "stopper", dynamic: func(e protocol.Event) protocol.Reply {
			if strings.Contains(string(e.Data), `"toolCallId":"`+id+`"`) {
				return protocol.Reply{Action: protocol.Stop, Reason: "enough"}
			}
			return protocol.Reply{Action: protocol.Observe}
		}}
	}
	blockAt := func(id string) hook {
		h := stopAt(protocol.ToolCallStart, id)
		stop := h.dynamic
		h.dynamic = func(e protocol.Event) protocol.Reply {
			r := stop(e)
			if r.Action == protocol.Stop {
				r.Action = protocol.Block
			}
			return r
		}
		return h
	}
	for name, c := range map[string]struct {
		hook    hook
		options func(*Options)
		end     string
		ran     []string
		results []string
		events  int // tool-call-start
	}{
		"stop at the second start": {stopAt(protocol.ToolCallStart, "c2"), nil, stopped,
			[]string{"one"}, []string{"echo one", "enough", "not run: stopped by stopper"}, 2},
		"stop at the first end, one at a time": {stopAt(protocol.ToolCallEnd, "c1"), func(o *Options) { o.Limits.ToolCalls = 1 }, stopped,
			[]string{"one"}, []string{"echo one", "not run: stopped by stopper", "not run: stopped by stopper"}, 1},
		"block, rule stop": {blockAt("c2"), func(o *Options) { o.OnToolBlock = protocol.RuleStop }, blocked,
			[]string{"one"}, []string{"echo one", "enough", "not run: stopped by stopper"}, 2},
		"block": {blockAt("c2"), nil, done,
			[]string{"one", "three"}, []string{"echo one", "enough", "echo three"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := []func(*Options){}
				if c.options != nil {
					options = append(options, c.options)
				}
				s := newFakeLoop(t, threeCalls, []hook{c.hook}, options...)
				s.tool.run = func(ctx context.Context, text string) (protocol.Result, error) {
					time.Sleep(time.Second)
					return protocol.Result{Content: protocol.TextContent("echo " + text)}, nil
				}
				s.prompt(t, t.Context(), "go!")
				var results []string
				for _, m := range s.loop.Messages() {
					for _, p := range m.Content {
						if p.Type == protocol.PartToolResult {
							results = append(results, p.Content.Text())
						}
					}
				}
				if diff := cmp.Diff(c.results, results); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
				ran := s.tool.ran()
				slices.Sort(ran)
				if diff := cmp.Diff(c.ran, ran); diff != "" {
					t.Errorf("ran (-want +got):\n%s", diff)
				}
				if got := s.ending(); got != c.end {
					t.Errorf("ended with %s", got)
				}
				if n := s.gate.count(protocol.ToolCallStart); n != c.events {
					t.Errorf("tool-call-start fired %d times", n)
				}
				if n := s.gate.count(protocol.AgentStop); (n > 0) != (c.end == done) {
					t.Errorf("agent-stop fired %d times", n)
				}
				if n := s.gate.count(protocol.StepStop); n == 0 {
					t.Error("step-stop was not fired")
				}
			})
		})
	}
}

func TestToolsRunAtTheSameTime(t *testing.T) {
	for limit, want := range map[int]time.Duration{1: 3 * time.Second, 2: 2 * time.Second, 4: time.Second, -1: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := newFakeLoop(t, threeCalls, nil, func(o *Options) { o.Limits.ToolCalls = limit })
			s.tool.run = func(ctx context.Context, text string) (protocol.Result, error) {
				time.Sleep(time.Second)
				return protocol.Result{Content: protocol.TextContent(text)}, nil
			}
			began := time.Now()
			s.prompt(t, t.Context(), "go!")
			if took := time.Since(began); took != want {
				t.Errorf("limit %d: took %s, want %s", limit, took, want)
			}
		})
	}
}

// TestCallErrors are the calls that have no result of the tool.
func TestCallErrors(t *testing.T) {
	call := func(args string) string {
		return "turns:\n- toolCalls: [{id: c1, name: " + args + "}]\n- text: final\n"
	}
	for name, c := range map[string]struct {
		script string
		hook   hook
		tool   func(context.Context, string) (protocol.Result, error)
		kind   protocol.CallErrorKind
		reads  string
	}{
		"unknown tool":  {call("ehco, args: {text: hi}"), hook{}, nil, protocol.CallUnknownTool, `there is no tool named \"ehco\"`},
		"wrong type":    {call("echo, args: {text: 3}"), hook{}, nil, protocol.CallBadArgs, "do not fit"},
		"missing":       {call("echo, args: {}"), hook{}, nil, protocol.CallBadArgs, "text"},
		"not an object": {call("echo, args: [1]"), hook{}, nil, protocol.CallBadArgs, "are not a JSON object: [1]"},
		"repaired":      {call("echo, args: {text: 3}"), hook{on: protocol.ToolCallStart, reply: protocol.Reply{Changes: raw(`{"args":{"text":"three"}}`)}}, nil, "", "echo three"},
		"tool error": {call("echo, args: {text: hi}"), hook{}, func(context.Context, string) (protocol.Result, error) {
			return protocol.Result{}, errors.New("disk on fire")
		}, protocol.CallFailed, "disk on fire"},
		"tool panics":    {call("echo, args: {text: hi}"), hook{}, func(context.Context, string) (protocol.Result, error) { panic("oops") }, protocol.CallFailed, "the tool echo failed: oops"},
		"text rewritten": {call("ehco, args: {}"), hook{on: protocol.ToolCallError, reply: protocol.Reply{Changes: raw(`{"error":{"text":"did you mean echo?"}}`)}}, nil, protocol.CallUnknownTool, "did you mean echo?"},
		"virtual tool":   {call("oracle, args: {q: 1}"), hook{on: protocol.ToolCallStart, reply: protocol.Reply{Action: protocol.Modify, Result: raw(`{"content":"42","isError":false}`)}}, nil, "", "42"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeLoop(t, c.script, []hook{c.hook})
				s.tool.run = c.tool
				s.prompt(t, t.Context(), "go!")
				if got := s.ending(); got != done {
					t.Errorf("ended with %s: %v", got, s.err)
				}
				if sent := s.model.sent(1); !strings.Contains(sent, c.reads) {
					t.Errorf("the model did not read %q:\n%s", c.reads, sent)
				}
				if c.kind != "" {
					if got := fired[protocol.ToolCallErrorData](t, s.gate, protocol.ToolCallError, 0); got.Error.Kind != c.kind {
						t.Errorf("kind %s, want %s", got.Error.Kind, c.kind)
					}
				} else if got := fired[protocol.ToolCallEndData](t, s.gate, protocol.ToolCallEnd, 0); got.Synthetic != (name == "virtual tool") {
					t.Errorf("synthetic: %v", got.Synthetic)
				}
			})
		})
	}
}

// An answer that is cut off has lost the args of its last call: with an empty object in
// their place, a tool whose args are all optional would do everything.
func TestCallCutBeforeItsArgs(t *testing.T) {
	rewrites := hook{on: protocol.InferenceEnd, reply: protocol.Reply{Changes: raw(`{"message":{"content":[{"type":"tool-call","toolCallId":"b","name":"echo","args":{}}]},"finishReason":"tools"}`)}}
	for name, c := range map[string]struct {
		finish string
		hook   hook
		cut    bool
	}{
		"length":          {"length", hook{}, true},
		"filtered":        {"filtered", hook{}, true},
		"a hook rewrites": {"length", rewrites, true},
		"whole":           {"tools", hook{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeLoop(t, "turns:\n- {finishReason: "+c.finish+", toolCalls: [{id: a, name: echo, args: {}}]}\n- text: final\n", []hook{c.hook})
				s.prompt(t, t.Context(), "go!")
				got := fired[protocol.ToolCallErrorData](t, s.gate, protocol.ToolCallError, 0)
				if cut := strings.Contains(got.Error.Text, "ended before the args"); got.Error.Kind != protocol.CallBadArgs || cut != c.cut {
					t.Errorf("%+v", got.Error)
				}
			})
		})
	}
}

// TestCallIDs asserts that each call can be told from every other.
func TestCallIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeLoop(t, `
turns:
- toolCalls: [{id: x, name: echo, args: {text: a}}, {id: x, name: echo, args: {text: b}}]
- toolCalls: [{id: x, name: echo, args: {text: c}}]
- text: final
`, nil).prompt(t, t.Context(), "go!")
		var ids []string
		for _, m := range s.loop.Messages() {
			for _, call := range conversation.Calls(m) {
				ids = append(ids, call.ToolCallID)
			}
		}
		if diff := cmp.Diff([]string{"x", "x-2", "x-3"}, ids); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestStopWhileTheNextGateIsAsked asserts that a call whose gate was passed does
// not begin when another has ended the run meanwhile.
func TestStopWhileTheNextGateIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stop()
		h.on = protocol.ToolCallEnd
		h.dynamic = func(protocol.Event) protocol.Reply {
			time.Sleep(time.Second) // or the run may have ended before the next gate is asked
			return h.reply
		}
		slow := hook{on: protocol.ToolCallStart, dynamic: func(e protocol.Event) protocol.Reply {
			if callID(e) == "c2" {
				time.Sleep(time.Minute)
			}
			return protocol.Reply{Action: protocol.Observe}
		}}
		s := newFakeLoop(t, threeCalls, []hook{h, slow})
		s.tool.run = func(_ context.Context, text string) (protocol.Result, error) {
			time.Sleep(time.Second) // the next gate is asked by then
			return protocol.Result{Content: protocol.TextContent(text)}, nil
		}
		s.prompt(t, t.Context(), "go!")
		if got := s.tool.ran(); !slices.Equal(got, []string{"one"}) {
			t.Errorf("ran %q", got)
		}
		got := fired[protocol.ToolCallErrorData](t, s.gate, protocol.ToolCallError, 0)
		if got.ToolCallID != "c2" || got.Error.Text != "not run: stopped by h" || got.BlockedBy == nil || *got.BlockedBy != "h" {
			t.Errorf("%+v", got)
		}
		checkEvents(t, s.gate.fired)
	})
}
