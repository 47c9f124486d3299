package agentloop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/protocol"
)

// answers is a script of n final answers, or of n tool calls.
func answers(n int, tools bool) string {
	var b strings.Builder
	b.WriteString("turns:\n")
	for i := range n {
		if tools {
			fmt.Fprintf(&b, "- toolCalls: [{id: c%d, name: echo, args: {text: hi}}]\n", i)
		} else {
			fmt.Fprintf(&b, "- text: answer %d\n", i+1)
		}
	}
	return b.String()
}

// TestForcedIsLimited is H34: a hook that never lets the agent go is told how
// often it did, and does not keep it.
func TestForcedIsLimited(t *testing.T) {
	forever := func(on protocol.EventName) hook {
		return hook{on: on, name: "never", reply: protocol.Reply{Action: protocol.Continue, Reason: "not yet"}}
	}
	everySecond := answers(1, false)
	for range 30 {
		everySecond += "- toolCalls: [{name: echo, args: {text: hi}}]\n- text: answer\n"
	}
	for name, c := range map[string]struct {
		hook   hook
		script string
		calls  int
		says   string
	}{
		"agent-stop":            {forever(protocol.AgentStop), answers(40, false), 6, "5 times in a row"},
		"agent-stop, by block":  {hook{on: protocol.AgentStop, reply: protocol.Reply{Action: protocol.Block, Reason: "no"}}, answers(40, false), 6, "5 times in a row"},
		"step-stop":             {forever(protocol.StepStop), answers(40, false), 6, "5 times in a row"},
		"agent-end":             {forever(protocol.AgentEnd), answers(40, false), 6, "5 times in a row"},
		"with tools in between": {forever(protocol.AgentStop), everySecond, 41, "20 times since"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeLoop(t, c.script, []hook{c.hook}, func(o *Options) { o.NoDefaults = true }).prompt(t, t.Context(), "go!")
				if s.err != nil || s.ending() != done {
					t.Errorf("ended with %s: %v", s.ending(), s.err)
				}
				if n := len(s.model.requests); n != c.calls {
					t.Errorf("%d model calls, want %d", n, c.calls)
				}
				notes := ""
				for i := range s.gate.count(protocol.Notification) {
					notes += fired[protocol.NotificationData](t, s.gate, protocol.Notification, i).Text + "\n"
				}
				if !strings.Contains(notes, c.says) {
					t.Errorf("the person read %q", notes)
				}
				if name == "agent-stop" {
					last := fired[protocol.AgentStopData](t, s.gate, protocol.AgentStop, 5)
					if last.Continued != 5 || last.ContinuedTotal != 5 {
						t.Errorf("the hook was told %d and %d", last.Continued, last.ContinuedTotal)
					}
					s.prompt(t, t.Context(), "again") // a new prompt counts anew
					if n := len(s.model.requests); n != 12 {
						t.Errorf("%d model calls after the second prompt", n)
					}
				}
			})
		})
	}
}

func TestFurtherRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hook{on: protocol.AgentEnd, times: 1, reply: protocol.Reply{Action: protocol.Continue,
			Messages: raw(`[{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"three"}]`)}}
		s := newFakeLoop(t, answers(2, false), []hook{h}).prompt(t, t.Context(), "go!")
		second := fired[protocol.PromptSubmitData](t, s.gate, protocol.PromptSubmit, 1)
		if second.Source != "hook" || second.Prompt != "three" {
			t.Errorf("the further run's prompt is %+v", second)
		}
		want := `user: "go!"
assistant: "answer 1"
user: "one"
assistant: "two"
user: "three"
`
		if got := s.model.sent(1); !strings.HasSuffix(got, want) {
			t.Errorf("the model read:\n%s", got)
		}
		if s.loop.agent.history.Turn() != 1 {
			t.Errorf("turn %d: a hook's prompt is no user's", s.loop.agent.history.Turn())
		}
	})
}

// usages is a script of tool calls and a last answer, each with its output
// tokens, "" for none told.
func usages(output ...string) string {
	var b strings.Builder
	b.WriteString("turns:\n")
	for i, tokens := range output {
		if i < len(output)-1 {
			fmt.Fprintf(&b, "- toolCalls: [{id: c%d, name: echo, args: {text: hi}}]\n", i)
		} else {
			b.WriteString("- text: done\n")
		}
		if tokens != "" {
			fmt.Fprintf(&b, "  usage: {inputTokens: 1, outputTokens: %s}\n", tokens)
		}
	}
	return b.String()
}

// TestLimits runs each limit to its end. A limit is a hook: it is told as one.
func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		providers []Provider
		script    string
		end       string
		calls     int
		took      time.Duration
	}{
		"steps by default":  {nil, answers(30, true), "agent-end steps", 20, 0},
		"steps":             {[]Provider{builtin.Steps(3)}, answers(30, true), "agent-end steps", 3, 0},
		"no step":           {[]Provider{builtin.Steps(0)}, answers(30, true), "agent-end steps", 0, 0},
		"ceiling":           {[]Provider{}, answers(1100, true), "agent-error limit", 1000, 0},
		"time by default":   {nil, "turns: [{hang: true}]", "agent-end time", 1, 300 * time.Second},
		"time":              {[]Provider{builtin.Time(10 * time.Second)}, "turns: [{text: slow, delay: 20s}]", "agent-end time", 1, 10 * time.Second},
		"the earliest time": {[]Provider{builtin.Time(time.Minute), builtin.Time(10 * time.Second), builtin.Time(time.Hour)}, "turns: [{hang: true}]", "agent-end time", 1, 10 * time.Second},
		"no time left":      {[]Provider{builtin.Time(0)}, "turns: [{text: slow, delay: 20s}]", "agent-end time", 0, 0},
		"no time limit":     {[]Provider{}, "turns: [{text: slow, delay: 1000s}]", done, 1, 1000 * time.Second},
		"tokens by default": {nil, usages("20000", "12768", "1"), "agent-end tokens", 2, 0},
		"tokens":            {[]Provider{builtin.Tokens(100)}, usages("50", "49", "1", "1"), "agent-end tokens", 3, 0},
		"tokens, not told":  {[]Provider{builtin.Tokens(8)}, usages("", "", "", "", "", ""), "agent-end tokens", 2, 0},
		"tokens, told late": {[]Provider{builtin.Tokens(100)}, usages("", "100", "100"), done, 3, 0},
		"tokens enough":     {[]Provider{builtin.Tokens(100)}, usages("50", "49"), done, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// Each event of a step holds the whole conversation: keep it short.
				short := hook{on: protocol.StepStart, reply: protocol.Reply{Changes: raw("%s", newMessage)}}
				s := newFakeLoop(t, c.script, []hook{short}, func(o *Options) { o.Providers, o.NoDefaults = c.providers, c.providers != nil })
				began := time.Now()
				s.prompt(t, t.Context(), "go!")
				if got := s.ending(); got != c.end {
					t.Errorf("ended with %s: %v", got, s.err)
				}
				if (s.err != nil) != strings.HasPrefix(c.end, "agent-error") {
					t.Errorf("Wait returned %v", s.err)
				}
				if n := len(s.model.requests); n != c.calls {
					t.Errorf("%d model calls, want %d", n, c.calls)
				}
				if took := time.Since(began); took != c.took {
					t.Errorf("took %s, want %s", took, c.took)
				}
				if c.providers != nil && len(c.providers) == 0 && len(s.gate.goHooks) > 0 {
					t.Error("an empty list of providers has hooks")
				}
				if n := s.gate.count(protocol.AgentStop); (n > 0) != (c.end == done) {
					t.Errorf("agent-stop fired %d times", n)
				}
			})
		})
	}
}

// TestTimeLimitInATool asserts that the call that the limit cut has its result
// and its event.
func TestTimeLimitInATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeLoop(t, twoSteps, nil, func(o *Options) { o.Providers, o.NoDefaults = []Provider{builtin.Time(time.Second)}, true })
		s.tool.run = func(ctx context.Context, _ string) (protocol.Result, error) {
			<-ctx.Done()
			return protocol.Result{}, ctx.Err()
		}
		s.prompt(t, t.Context(), "go!")
		got := fired[protocol.ToolCallErrorData](t, s.gate, protocol.ToolCallError, 0)
		if got.Error.Kind != protocol.CallTimeout || s.ending() != "agent-end time" {
			t.Errorf("%+v, %s", got.Error, s.ending())
		}
	})
}

func TestModelFailures(t *testing.T) {
	for name, script := range map[string]string{
		"at once":       "turns: [{fail: overloaded}]",
		"after text":    "turns: [{text: half an, fail: overloaded}]",
		"error finish":  "turns: [{text: half an, finishReason: error}]",
		"script is out": answers(1, true),
		"unexpected":    "turns: [{text: hi, expect: [{in: system, contains: nothing of this}]}]",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeLoop(t, script, nil).prompt(t, t.Context(), "go!")
				var e *Error
				if !errors.As(s.err, &e) || e.Cause != "model" || s.ending() != "agent-error model" {
					t.Errorf("%s: %v", s.ending(), s.err)
				}
				starts := s.gate.count(protocol.MessageStart)
				if ends := s.gate.count(protocol.MessageEnd); starts != ends {
					t.Errorf("%d message-start, %d message-end", starts, ends)
				}
				if strings.Contains(render("", s.loop.Messages()), "half an") {
					t.Error("the half answer was kept")
				}
			})
		})
	}
}

func TestABrokenGateIsNoYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, at := range []protocol.EventName{protocol.PromptSubmit, protocol.ToolCallStart, protocol.ToolCallEnd, protocol.ToolCallError} {
			s := newFakeLoop(t, twoSteps, nil)
			s.gate.before = func(_ int, e protocol.Event) error {
				if e.Event == at || at == protocol.ToolCallError && e.Event == protocol.ToolCallStart {
					return errors.New("broken")
				}
				return nil
			}
			s.prompt(t, t.Context(), "go!")
			if got := s.ending(); got != "agent-error internal" {
				t.Errorf("%s: ended with %s", at, got)
			}
			if at != protocol.ToolCallEnd && len(s.tool.ran()) > 0 {
				t.Errorf("%s: the tool ran", at)
			}
			if strings.Contains(render("", s.loop.Messages()), "echo hi") {
				t.Errorf("%s: an unjudged result was kept", at)
			}
		}
	})
}

func TestOnePromptAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeLoop(t, "turns: [{text: slow, delay: 1s}]", nil)
		run, err := s.loop.Run(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.loop.Run(t.Context(), "two"); !errors.Is(err, ErrRunning) {
			t.Errorf("second prompt: %v", err)
		}
		if _, err := s.loop.Close(t.Context(), "exit"); !errors.Is(err, ErrRunning) {
			t.Errorf("close: %v", err)
		}
		for range run.Events() {
		}
		if _, open := <-run.Events(); open {
			t.Error("the channel is not closed")
		}
		if _, err := s.loop.Run(t.Context(), ""); err == nil {
			t.Error("an empty prompt was taken")
		}
	})
}

func TestSessionStopRefusesEveryRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stop()
		h.on = protocol.SessionStart
		s := newFakeLoop(t, twoSteps, []hook{h})
		for range 2 {
			s.prompt(t, t.Context(), "go!")
			if s.err == nil || !strings.Contains(s.err.Error(), "no run in this session: enough") {
				t.Errorf("Wait returned %v", s.err)
			}
		}
		if n := s.gate.count(protocol.SessionStart, protocol.PromptSubmit); n != 1 {
			t.Errorf("fired %v", s.gate.names())
		}
	})
}

func TestCallbackOfNoEffectIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := callback()
		h.on = protocol.StepStart
		s := newFakeLoop(t, twoSteps, []hook{h}).prompt(t, t.Context(), "go!")
		if got := fired[protocol.NotificationData](t, s.gate, protocol.Notification, 0).Text; !strings.Contains(got, "recipe compact, asked for by h, came to nothing: there is nothing to compact") {
			t.Errorf("the person read %q", got)
		}
	})
}

// TestNoFurtherRunAfterAStop asserts that agent-end cannot undo a stop or a
// limit.
func TestNoFurtherRunAfterAStop(t *testing.T) {
	again := hook{on: protocol.AgentEnd, reply: protocol.Reply{Action: protocol.Continue, Reason: "again"}}
	ender := stop()
	ender.on = protocol.StepStart
	for name, c := range map[string]struct {
		hooks     []hook
		providers []Provider
		end       string
	}{
		"stop":  {[]hook{ender, again}, nil, stopped},
		"steps": {[]hook{again}, []Provider{builtin.Steps(1)}, "agent-end steps"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeLoop(t, answers(9, true), c.hooks, func(o *Options) { o.Providers, o.NoDefaults = c.providers, c.providers != nil }).prompt(t, t.Context(), "go!")
				if n := s.gate.count(protocol.PromptSubmit); n != 1 || s.ending() != c.end {
					t.Errorf("%d runs, ended with %s", n, s.ending())
				}
				if n := s.gate.count(protocol.Notification); n != 1 {
					t.Error("the person was not told")
				}
			})
		})
	}
}

// TestDoneSwitchedOff asserts that an agent without the feature done goes on when
// its model is done, and how far: as far as any hook may force it.
func TestDoneSwitchedOff(t *testing.T) {
	for name, c := range map[string]struct {
		limits   Limits
		more     []Provider
		toolEach bool // the model calls a tool in between
		calls    int
		end      string
		told     string
	}{
		"in a row":        {Limits{}, nil, false, 6, done, "forced on 5 times in a row without a tool call"},
		"in all":          {Limits{}, nil, true, 41, done, "forced on 20 times since the last prompt"},
		"as the settings": {Limits{Forced: 2}, nil, false, 3, done, "forced on 2 times in a row"},
		"never forced":    {Limits{Forced: -1}, nil, false, 1, done, "forced on 0 times"},
		"to a limit":      {Limits{}, []Provider{builtin.Steps(4)}, false, 4, "agent-end steps", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := "turns:\n"
				for i := range 50 {
					script += fmt.Sprintf("- text: answer %d\n", i)
					if c.toolEach && i%2 == 1 {
						script += fmt.Sprintf("  toolCalls: [{id: c%d, name: echo, args: {text: hi}}]\n", i)
					}
				}
				s := newFakeLoop(t, script, nil, func(o *Options) {
					o.Providers, o.NoDefaults, o.Limits = append(c.more, builtin.GoOn()), true, c.limits
				}).prompt(t, t.Context(), "go!")
				if n := len(s.model.requests); n != c.calls || s.ending() != c.end || s.err != nil {
					t.Errorf("%d calls, ended with %s, %v", n, s.ending(), s.err)
				}
				if n := s.gate.count(protocol.Notification); c.told == "" && n > 0 || c.told != "" &&
					(n != 1 || !strings.Contains(fired[protocol.NotificationData](t, s.gate, protocol.Notification, 0).Text, c.told)) {
					t.Errorf("told %d times: %v", n, s.gate.names())
				}
				if c.calls > 1 && !strings.Contains(s.model.sent(1), "Go on with the task.") {
					t.Errorf("the model was not told to go on:\n%s", s.model.sent(1))
				}
			})
		})
	}
}

// TestContinuation is what a gate that folds nothing may hand over.
func TestContinuation(t *testing.T) {
	by := "h"
	for name, c := range map[string]struct {
		name protocol.EventName
		o    protocol.Outcome
		want int
	}{
		"block":              {protocol.AgentStop, protocol.Outcome{Action: protocol.Block, By: &by, Reason: "no"}, 1},
		"block by exit code": {protocol.AgentStop, protocol.Outcome{Action: protocol.Block, By: &by, Reason: "no", ByExit: true}, 1},
		"block by failure":   {protocol.AgentStop, protocol.Outcome{Action: protocol.Block, By: &by, Failure: protocol.FailTimeout}, 0},
		"stop":               {protocol.AgentStop, protocol.Outcome{Action: protocol.Stop, By: &by, Messages: make([]protocol.Message, 1)}, 0},
		"continue":           {protocol.AgentStop, protocol.Outcome{Action: protocol.Continue, By: &by, Reason: "more"}, 1},
		"bare continue":      {protocol.AgentStop, protocol.Outcome{Action: protocol.Continue, By: &by}, 0},
		"with a change":      {protocol.StepStop, protocol.Outcome{Action: protocol.Modify, By: &by, Messages: make([]protocol.Message, 2)}, 2},
	} {
		v := &verdict{Outcome: c.o, name: c.name}
		if got := v.continuation(); len(got) != c.want {
			t.Errorf("%s: %d messages, want %d", name, len(got), c.want)
		}
	}
}
