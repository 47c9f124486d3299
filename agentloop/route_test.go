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
	"github.com/hookd-dev/hookd/protocol"
)

func TestNewNeedsGateAndModel(t *testing.T) {
	if _, err := New(Options{}); !errors.Is(err, ErrNoGate) {
		t.Errorf("without a gate: %v", err)
	}
	if _, err := New(Options{Gate: &foldGate{}}); err == nil {
		t.Error("without a model: no error")
	}
}

// TestOrder is the skeleton: every event at its place, once, in order, and
// yielded in the same order after it was decided.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, "turns:\n- thinking: hm\n  text: first\n  toolCalls: [{id: c1, name: echo, args: {text: hi}}]\n- text: last\n", nil)
		s.prompt(t, t.Context(), "go!")
		want := []string{
			"session-start", "prompt-submit", "agent-start",
			"step-start", "inference-start", "thinking-start", "thinking-end", "message-start", "message-end", "inference-end",
			"tool-call-start", "tool-call-end", "step-stop",
			"step-start", "inference-start", "message-start", "message-end", "inference-end", "step-stop",
			"agent-stop", "agent-end",
		}
		if diff := cmp.Diff(want, s.gate.names()); diff != "" {
			t.Errorf("fired (-want +got):\n%s", diff)
		}
		var yielded []string
		for _, y := range s.yields {
			if y.Kind == YieldEvent {
				yielded = append(yielded, string(y.Event.Event))
			}
		}
		if diff := cmp.Diff(want, yielded); diff != "" {
			t.Errorf("yielded (-want +got):\n%s", diff)
		}
		if _, err := s.loop.Close(t.Context(), "exit"); err != nil {
			t.Error(err)
		}
		if last := s.gate.names()[len(want):]; !slices.Equal(last, []string{"session-end"}) {
			t.Errorf("Close fired %v", last)
		}
		if _, err := s.loop.Run(t.Context(), "more"); !errors.Is(err, ErrClosed) {
			t.Errorf("Run after Close: %v", err)
		}
	})
}

func TestCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, twoSteps, nil).prompt(t, t.Context(), "one")
		s.prompt(t, t.Context(), "two")
		type counted struct {
			Event      string
			Turn, Step int
			Input      any
		}
		var got []counted
		for _, e := range s.gate.fired {
			if slices.Contains([]protocol.EventName{protocol.PromptSubmit, protocol.InferenceStart, protocol.InferenceEnd, protocol.StepStop}, e.Event) {
				c := counted{string(e.Event), e.Turn, e.Step, nil}
				if e.Usage.InputTokens != nil {
					c.Input = *e.Usage.InputTokens
				}
				got = append(got, c)
			}
		}
		want := []counted{
			{"prompt-submit", 0, 0, nil},
			{"inference-start", 1, 0, nil}, {"inference-end", 1, 1, int64(10)}, {"step-stop", 1, 1, int64(10)},
			{"inference-start", 1, 1, int64(10)}, {"inference-end", 1, 2, int64(30)}, {"step-stop", 1, 2, int64(30)},
			{"prompt-submit", 1, 0, nil},                                                           // the usage of a run begins anew
			{"inference-start", 2, 0, nil}, {"inference-end", 2, 1, nil}, {"step-stop", 2, 1, nil}, // unknown is null
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if start := fired[protocol.StepStartData](t, s.gate, protocol.StepStart, 1); *start.StepsLeft != 19 {
			t.Errorf("%d steps left at the second step", *start.StepsLeft)
		}
		if n := s.gate.count(protocol.SessionStart); n != 1 {
			t.Errorf("session-start fired %d times", n)
		}
	})
}

// TestHeldBack asserts that no text is shown that a hook may still refuse.
func TestHeldBack(t *testing.T) {
	streams := "turns:\n- thinking: SECRET thought\n  text: the SECRET answer\n  chunk: 3\n  chunkDelay: 1s\n"
	for name, c := range map[string]struct {
		holds          bool
		hook           hook
		secret         bool   // is shown
		text           string // all deltas of the answer together
		beforeDecision bool   // deltas come before inference-end was decided
	}{
		"free":              {false, hook{on: protocol.Notification}, true, "the SECRET answer", true},
		"held, passed":      {true, hook{on: protocol.Notification}, true, "the SECRET answer", false},
		"held, blocked":     {true, block("no"), false, "", false},
		"held, stopped":     {true, stop(), false, "", false},
		"held, could not":   {true, fails(protocol.RuleBlock), false, "", false},
		"held, changed":     {true, modify(`{"message":{"role":"assistant","content":"tamed"}}`), false, "tamed", false},
		"held, model fails": {true, hook{on: protocol.Notification}, false, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := streams
				if name == "held, model fails" {
					script = "turns:\n- text: the SECRET answer\n  fail: overloaded\n"
				}
				if c.hook.on == "" {
					c.hook.on = protocol.InferenceEnd
				}
				s := newStage(t, script, []hook{c.hook})
				s.gate.holds = c.holds
				decided := false
				s.gate.after = func(_ int, e protocol.Event) { decided = decided || e.Event == protocol.InferenceEnd }
				early := false
				run, _ := s.loop.Run(t.Context(), "go!")
				text := ""
				for y := range run.Events() {
					s.yields = append(s.yields, y)
					if y.Kind == YieldDelta {
						early = early || !decided
						if !y.Delta.Thinking {
							text += y.Delta.Text
						}
					}
				}
				run.Wait()
				if text != c.text {
					t.Errorf("the deltas are %q, want %q", text, c.text)
				}
				if got := strings.Contains(s.shown(), "SECRET"); got != c.secret {
					t.Errorf("shown: %v\n%s", got, s.shown())
				}
				if early != c.beforeDecision {
					t.Errorf("deltas before the decision: %v", early)
				}
			})
		})
	}
}

func TestWithheldResultIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := block("withheld")
		h.on = protocol.ToolCallEnd
		s := newStage(t, twoSteps, []hook{h}).prompt(t, t.Context(), "go!")
		if strings.Contains(s.shown(), "echo hi") {
			t.Errorf("the result was shown:\n%s", s.shown())
		}
	})
}

func TestPermission(t *testing.T) {
	script := twoSteps
	yes, no := &person{option: "allow"}, &person{option: "reject"}
	grant := hook{on: protocol.PermissionRequest, name: "granter", reply: protocol.Reply{Action: protocol.Allow}}
	deny := hook{on: protocol.PermissionRequest, name: "denier", reply: protocol.Reply{Action: protocol.Block, Reason: "house rule"}}
	end := hook{on: protocol.PermissionRequest, name: "ender", reply: protocol.Reply{Action: protocol.Stop, Reason: "enough"}}
	watch := hook{on: protocol.PermissionRequest, name: "watcher", reply: protocol.Reply{Action: protocol.Observe}}
	managedAsk := hook{on: protocol.ToolCallStart, name: "boss", layer: protocol.Managed, reply: protocol.Reply{Action: protocol.Ask, Reason: "policy"}}
	asks := hook{on: protocol.ToolCallStart, name: "asker", reply: protocol.Reply{Action: protocol.Ask, Reason: "really?", Changes: raw(`{"args":{"text":"ho"}}`)}}
	for name, c := range map[string]struct {
		hooks  []hook
		person *person
		ran    bool
		reads  string
		end    string
		asked  int
		kind   protocol.CallErrorKind
	}{
		"person grants":          {[]hook{asks, watch}, yes, true, "echo ho", done, 1, ""},
		"person denies":          {[]hook{asks}, no, false, "denied by the person (really?)", done, 1, protocol.CallDenied},
		"nobody":                 {[]hook{asks}, nil, false, "nobody is there to ask (really?)", done, 0, protocol.CallDenied},
		"person cannot be asked": {[]hook{asks}, &person{}, false, "could not be asked", done, 1, protocol.CallDenied},
		"too late":               {[]hook{asks}, &person{option: "allow", wait: time.Hour}, false, "nobody answered in time", done, 1, protocol.CallDenied},
		"hook grants":            {[]hook{asks, grant}, no, true, "echo ho", done, 0, ""},
		"hook denies":            {[]hook{asks, grant, deny}, yes, false, "house rule", done, 0, protocol.CallDenied},
		"hook stops":             {[]hook{asks, end}, yes, false, "", stopped, 0, protocol.CallDenied},
		"lower layer grants":     {[]hook{managedAsk, grant}, no, false, "denied by the person", done, 1, protocol.CallDenied},
		"no ask":                 {[]hook{deny}, no, true, "echo hi", done, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, script, c.hooks, func(o *Options) {
					o.ApprovalTimeout = time.Minute
					if c.person != nil {
						c.person.asked = nil
						o.Approver = c.person
					}
				}).prompt(t, t.Context(), "go!")
				if got := len(s.tool.ran()) > 0; got != c.ran {
					t.Errorf("ran: %v", got)
				}
				if got := s.ending(); got != c.end {
					t.Errorf("ended with %s", got)
				}
				if sent := s.model.sent(1); !strings.Contains(sent, c.reads) {
					t.Errorf("the model did not read %q:\n%s", c.reads, sent)
				}
				if c.person != nil && len(c.person.asked) != c.asked {
					t.Errorf("the person was asked %d times", len(c.person.asked))
				}
				if c.kind != "" {
					if got := fired[protocol.ToolCallErrorData](t, s.gate, protocol.ToolCallError, 0); got.Error.Kind != c.kind || got.BlockedBy == nil || *got.BlockedBy == "" {
						t.Errorf("tool-call-error %+v by %v", got.Error, got.BlockedBy)
					}
				}
			})
		})
	}
}

func TestPersonGrantsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := ask()
		h.on = protocol.PromptSubmit
		p := &person{option: "allow", wait: time.Second}
		s := newStage(t, twoSteps, []hook{h}, func(o *Options) { o.Approver = p }).prompt(t, t.Context(), "go!")
		if got := s.ending(); got != done {
			t.Errorf("ended with %s", got)
		}
		if n := s.gate.count(protocol.Notification); n != 1 {
			t.Errorf("%d notifications", n)
		}
	})
}

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
				s := newStage(t, threeCalls, []hook{c.hook}, options...)
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

func TestToolsRunSideBySide(t *testing.T) {
	for limit, want := range map[int]time.Duration{1: 3 * time.Second, 2: 2 * time.Second, 4: time.Second, -1: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, threeCalls, nil, func(o *Options) { o.Limits.ToolCalls = limit })
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
				s := newStage(t, c.script, []hook{c.hook})
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

// TestCallIDs asserts that each call can be told from every other.
func TestCallIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, `
turns:
- toolCalls: [{id: x, name: echo, args: {text: a}}, {id: x, name: echo, args: {text: b}}]
- toolCalls: [{id: x, name: echo, args: {text: c}}]
- text: final
`, nil).prompt(t, t.Context(), "go!")
		var ids []string
		for _, m := range s.loop.Messages() {
			for _, call := range calls(m) {
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
		slow := hook{on: protocol.ToolCallStart, dynamic: func(e protocol.Event) protocol.Reply {
			if callID(e) == "c2" {
				time.Sleep(time.Minute)
			}
			return protocol.Reply{Action: protocol.Observe}
		}}
		s := newStage(t, threeCalls, []hook{h, slow}).prompt(t, t.Context(), "go!")
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
