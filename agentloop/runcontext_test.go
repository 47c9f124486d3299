package agentloop

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// TestStopReasons asserts whose stop is a limit's: a hook of a project that
// takes a limit's name is a hook.
func TestStopReasons(t *testing.T) {
	for name, c := range map[string]struct {
		layer protocol.Layer
		name  string
		want  string
	}{
		"steps": {protocol.Builtin, "steps", "steps"}, "tokens": {protocol.Builtin, "tokens", "tokens"},
		"time": {protocol.Builtin, "time", "time"}, "budget": {protocol.Builtin, "budget", "budget"},
		"another built-in": {protocol.Builtin, "skills", "hook"},
		"a project's hook": {protocol.Project, "steps", "hook"},
		"a managed hook":   {protocol.Managed, "budget", "hook"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := stop()
				h.on, h.layer, h.name = protocol.InferenceEnd, c.layer, c.name
				s := newFakeLoop(t, twoSteps, []hook{h}).prompt(t, t.Context(), "go!")
				if got := s.ending(); got != "agent-end "+c.want || s.run.Result().StopReason != c.want || s.err != nil {
					t.Errorf("%s, %v", got, s.err)
				}
			})
		})
	}
}

// TestRunContext asserts that hooks and tools find the run they work in, that a limit
// they set is the run's, and that the next run does not have it.
func TestRunContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept provider.RunContext
		feature := Provider{Name: "feature", Hooks: []protocol.GoHook{{
			Name: "feature", Events: []protocol.EventName{protocol.AgentStart, protocol.StepStop},
			Func: func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
				host := provider.RunContextOf(ctx)
				if ev.Event == protocol.AgentStart && ev.Turn == 1 {
					kept = host
					host.LimitSteps(9)
					host.LimitSteps(5)
					host.LimitSteps(7)
				}
				return protocol.Reply{}, nil
			},
		}}}
		s := newFakeLoop(t, "turns: [{toolCalls: [{id: c1, name: echo, args: {text: hi}}]}, {text: done, delay: 1h}, {text: again, delay: 1h}]",
			nil, func(o *Options) { o.Providers, o.NoDefaults = []Provider{feature}, true })
		s.tool.run = func(ctx context.Context, _ string) (protocol.Result, error) {
			if tool.CallID(ctx) != "c1" {
				t.Errorf("the tool works on the call %q", tool.CallID(ctx))
			}
			provider.RunContextOf(ctx).EndAfter(time.Minute, "budget")
			return protocol.Result{}, nil
		}
		began := time.Now()
		s.prompt(t, t.Context(), "go!")
		if got := s.ending(); got != "agent-end budget" || time.Since(began) != time.Minute || s.err != nil {
			t.Errorf("%s after %s, %v", got, time.Since(began), s.err)
		}
		for n, want := range []int{5, 4} {
			if left := fired[protocol.StepStartData](t, s.gate, protocol.StepStart, n).StepsLeft; left == nil || *left != want {
				t.Errorf("steps left at step %d: %v, want %d", n, left, want)
			}
		}
		kept.EndAfter(0, "time") // of a run that is over
		s.prompt(t, t.Context(), "again")
		if got := s.ending(); got != done {
			t.Errorf("the second run: %s", got)
		}
		if left := fired[protocol.StepStartData](t, s.gate, protocol.StepStart, 2).StepsLeft; left != nil {
			t.Errorf("the second run has %d steps left", *left)
		}
	})
}

// TestUnknownUsage asserts that what a call does not tell is null to hooks.
func TestUnknownUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeLoop(t, "turns: [{text: done, usage: {outputTokens: 3}}]", nil).prompt(t, t.Context(), "go!")
		for _, e := range s.gate.fired {
			if e.Event == protocol.InferenceEnd && !strings.Contains(string(e.Data), `"usage":{"inputTokens":null,"outputTokens":3,`) {
				t.Errorf("hooks read %s", e.Data)
			}
		}
		if u := s.run.Result().Usage; u.InputTokens != nil || u.OutputTokens == nil || *u.OutputTokens != 3 {
			t.Errorf("the run used %+v", u)
		}
	})
}
