package agentloop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// judged says what a hook found in its state.
func judged(ev *protocol.Event) string {
	var state struct{ Callback string }
	if len(ev.State) == 0 || jsonspan.Kind(ev.State) != '{' {
		return ""
	}
	if err := unmarshal(ev.State, &state); err != nil {
		return err.Error()
	}
	return state.Callback
}

// works calls a tool, then is done; the recipe judge gets its verdict.
func works(n int, r model.Request) turn {
	switch {
	case strings.HasPrefix(last(r), "JUDGE"):
		return turn{text: "VERDICT"}
	case isCompact(r):
		return turn{text: "SUMMARY"}
	case last(r) == "tool result":
		return turn{text: "done"}
	default:
		return turn{text: "working", calls: []protocol.Part{calling("", "echo", `{"text":"hi"}`)}}
	}
}

// TestRecipeForAHook asserts for each event that may ask for a recipe as state when
// it runs, that the hook that asked has the text once, at the next event it is
// asked about, and that it is not asked about the recipe's own events of that
// name while all others are.
func TestRecipeForAHook(t *testing.T) {
	const thread = ">prompt-submit >agent-start >step-start >inference-start >inference-end >step-stop >agent-stop >agent-end"
	for on, order := range map[protocol.EventName]string{
		protocol.StepStart:    "step-start " + thread + " inference-start",
		protocol.InferenceEnd: "inference-end tool-call-start tool-call-end step-stop " + thread + " step-start",
		protocol.ToolCallEnd:  "tool-call-end step-stop " + thread + " step-start",
		protocol.StepStop:     "step-stop " + thread + " step-start",
		protocol.AgentStop:    "agent-stop " + thread + " agent-end",
	} {
		t.Run(string(on), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen []string // of the hook that asks
				asks := asHook("asks", 0, on, func(ev *protocol.Event) (protocol.Reply, error) {
					seen = append(seen, fmt.Sprintf("%s %d %s", ev.Event, ev.Agent.Depth, judged(ev)))
					if len(seen) > 1 {
						return protocol.Reply{}, nil
					}
					return protocol.Reply{Action: protocol.Callback, Callback: &protocol.CallbackCall{Name: "judge", As: protocol.AsState}}, nil
				})
				asks.Events = append(asks.Events, protocol.AgentEnd, protocol.PromptSubmit) // asked there too, in the thread as well
				var others []string
				other := asHook("other", 0, on, func(ev *protocol.Event) (protocol.Reply, error) {
					others = append(others, fmt.Sprint(ev.Agent.Depth, judged(ev)))
					return protocol.Reply{}, nil
				})
				asks.Func, seen = skipFirst(asks.Func, protocol.PromptSubmit), nil
				s := newExecutorLoop(t, works, []protocol.GoHook{asks, other}).prompt(t, t.Context(), "do it")
				if got := s.gate.names(); !strings.Contains(got, order) || strings.Count(got, ">agent-start") != 1 {
					t.Errorf("events %s\nwant %s", got, order)
				}
				depths := 0
				for i, at := range seen {
					if strings.HasPrefix(at, string(on)+" 1") {
						t.Errorf("the hook that asked was asked again in its recipe: %v", seen)
					}
					if strings.HasSuffix(at, "VERDICT") {
						depths++
						if strings.Contains(at, " 1 ") || i == 0 {
							t.Errorf("the text went to %s", at)
						}
					}
				}
				if depths != 1 {
					t.Errorf("the hook had the text %d times: %v", depths, seen)
				}
				inThread := slices.Contains(others, "1")
				if want := on != protocol.ToolCallEnd; inThread != want { // the recipe calls no tool
					t.Errorf("another hook was asked in the recipe: %v (%v)", inThread, others)
				}
				if slices.ContainsFunc(others, func(o string) bool { return strings.Contains(o, "VERDICT") }) {
					t.Errorf("another hook has the text: %v", others)
				}
				if got := rendered(s.loop.Messages()); strings.Contains(got, "JUDGE") || strings.Contains(got, "VERDICT") {
					t.Errorf("the thread is in the conversation:\n%s", got)
				}
				if s.ending(t) != "agent-end done" {
					t.Errorf("ended with %s", s.ending(t))
				}
			})
		})
	}
}

// skipFirst leaves an event to a hook without its answer.
func skipFirst(f func(context.Context, *protocol.Event) (protocol.Reply, error), on protocol.EventName) func(context.Context, *protocol.Event) (protocol.Reply, error) {
	return func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
		if ev.Event == on && ev.Agent.Depth == 0 {
			return protocol.Reply{}, nil
		}
		return f(ctx, ev)
	}
}

// TestCallbackLost asserts that a callback without effect is told, with its
// reason.
func TestCallbackLost(t *testing.T) {
	arg := func(name string, args map[string]string) protocol.GoHook {
		return replies("h", 1, protocol.StepStop, protocol.Reply{Action: protocol.Callback, Callback: &protocol.CallbackCall{Name: name, Args: args, As: protocol.AsState}})
	}
	stop := replies("stopper", 1, protocol.ToolCallEnd, protocol.Reply{Action: protocol.Stop, Reason: "enough"})
	ask := replies("asker", 1, protocol.StepStart, protocol.Reply{Action: protocol.Ask, Reason: "?"})
	for name, c := range map[string]struct {
		hooks []protocol.GoHook
		told  string
		end   string
		calls int
	}{
		"no such recipe":     {[]protocol.GoHook{arg("jugde", nil)}, `recipe jugde, asked for by h, came to nothing: there is no recipe "jugde"; there are: compact, judge, look`, "agent-end done", 2},
		"argument missing":   {[]protocol.GoHook{arg("look", nil)}, "came to nothing: recipe look needs the argument what", "agent-end done", 2},
		"unknown argument":   {[]protocol.GoHook{arg("judge", map[string]string{"x": "y"})}, `came to nothing: recipe judge has no argument "x"`, "agent-end done", 2},
		"the run ended":      {[]protocol.GoHook{wants("h", protocol.InferenceEnd, "judge", protocol.AsState), stop}, "recipe judge, asked for by h, came to nothing: the run ended before", "agent-end hook", 1},
		"refused":            {[]protocol.GoHook{wants("h", protocol.StepStart, "judge", protocol.AsState), ask}, "recipe judge, asked for by h, came to nothing: the event was refused", "agent-error blocked", 0},
		"second replacement": {[]protocol.GoHook{wants("h", protocol.InferenceEnd, "compact", ""), wants("g", protocol.StepStop, "judge", "")}, "recipe judge, asked for by g, came to nothing: h had asked for compact before", "agent-end done", 4},
		"same hook again":    {[]protocol.GoHook{wants("h", protocol.InferenceEnd, "judge", protocol.AsState), wants("h2", protocol.StepStop, "judge", protocol.AsState)}, "", "agent-end done", 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newExecutorLoop(t, works, c.hooks).prompt(t, t.Context(), "do it")
				if got := s.told(t); !strings.Contains(got, c.told) || c.told == "" && got != "" {
					t.Errorf("told %q, want %q", got, c.told)
				}
				if s.ending(t) != c.end || len(s.model.requests) != c.calls {
					t.Errorf("ended with %s after %d calls", s.ending(t), len(s.model.requests))
				}
			})
		})
	}
}

func TestGateWithoutCallbackResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newExecutorLoop(t, works, []protocol.GoHook{wants("h", protocol.StepStop, "judge", protocol.AsState)}, noProviders, func(o *agentloop.Options) {
			full := o.Gate
			o.Gate = protocol.GateFunc(func(ctx context.Context, e protocol.Event) (protocol.Outcome, error) { return full.Begin(ctx, e)() })
		}).prompt(t, t.Context(), "do it")
		if got := s.told(t); !strings.Contains(got, "this gate cannot hand a text to a hook") || len(s.model.requests) != 2 {
			t.Errorf("told %q, %d calls", got, len(s.model.requests))
		}
	})
}

// TestNestedRunFails asserts that the run goes on when a recipe's thread does not
// come to its end.
func TestNestedRunFails(t *testing.T) {
	for name, c := range map[string]struct {
		hook protocol.GoHook
		told string
	}{
		"blocked": {replies("b", 0, protocol.PromptSubmit, protocol.Reply{Action: protocol.Block, Reason: "no recipes"}), "no recipes"},
		"stopped": {replies("b", 0, protocol.AgentStart, protocol.Reply{Action: protocol.Stop, Reason: "no recipes"}), "its run ended early (hook)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.hook.Match = protocol.Match{Agent: "sub"}
				s := newExecutorLoop(t, works, []protocol.GoHook{wants("h", protocol.StepStop, "judge", ""), c.hook}).prompt(t, t.Context(), "do it")
				if got := s.told(t); !strings.Contains(got, "recipe judge, asked for by h, came to nothing: "+c.told) || s.ending(t) != "agent-end done" || s.err != nil {
					t.Errorf("told %q, ended with %s, %v", got, s.ending(t), s.err)
				}
			})
		})
	}
}

// TestNestedCallbacks has a hundred hooks that ask for a recipe at each step,
// also in each other's recipes.
func TestNestedCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hooks []protocol.GoHook
		for i := range 100 {
			hooks = append(hooks, replies(fmt.Sprintf("h%02d", i), 0, protocol.StepStop, protocol.Reply{
				Action: protocol.Callback, Callback: &protocol.CallbackCall{Name: "judge", As: protocol.AsState}}))
		}
		s := newExecutorLoop(t, works, hooks, func(o *agentloop.Options) { o.Limits.Depth = 2 }).prompt(t, t.Context(), "do it")
		deepest := 0
		for _, e := range s.gate.fired {
			deepest = max(deepest, e.Agent.Depth)
		}
		if deepest != 3 || s.ending(t) != "agent-end done" {
			t.Errorf("%d deep, ended with %s", deepest, s.ending(t))
		}
		if n := len(s.model.requests); n != 8 { // in each of 2 steps: 1, and 3 below one another
			t.Errorf("%d model calls", n)
		}
		if got := s.told(t); !strings.Contains(got, "recipes and sub-agents are started 3 deep at most") {
			t.Errorf("told %q", got)
		}
	})
}

// TestRecipeForAHookRunsBeforeCompaction asserts that a judge reads the conversation that
// it was asked about.
func TestRecipeForAHookRunsBeforeCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newExecutorLoop(t, works, []protocol.GoHook{
			wants("a", protocol.InferenceEnd, "compact", ""), wants("b", protocol.StepStop, "judge", protocol.AsState),
		}).prompt(t, t.Context(), "do it")
		if len(s.model.requests) != 5 || last(s.model.requests[1]) != "JUDGE this" || len(s.model.requests[1].Messages) != 4 || !isCompact(s.model.requests[2]) {
			t.Errorf("sent:\n%s", s.model.sent())
		}
	})
}

// TestPromptSurvivesCompactionAtStepStart asserts that what nobody has answered
// yet is not summed up.
func TestPromptSurvivesCompactionAtStepStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := asHook("sum", 0, protocol.StepStart, func(ev *protocol.Event) (protocol.Reply, error) {
			if ev.Turn < 2 || ev.Step > 0 {
				return protocol.Reply{}, nil
			}
			return protocol.Reply{Action: protocol.Callback, Callback: &protocol.CallbackCall{Name: "compact"}}, nil
		})
		s := newExecutorLoop(t, works, []protocol.GoHook{hook}).prompt(t, t.Context(), "one")
		s.prompt(t, t.Context(), "two")
		want := "user: \"one\"\nuser: \"" + summaryHead + "SUMMARY\"\nuser: \"two\"\n"
		if got := rendered(s.loop.Messages()); !strings.HasPrefix(got, want) {
			t.Error(cmp.Diff(want, got))
		}
	})
}

func TestRunRecipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newExecutorLoop(t, inTurn(
			turn{calls: []protocol.Part{calling("c1", "echo", `{"text":"a"}`), calling("c2", "other", `{"text":"b"}`)}},
			turn{text: "looked"},
			turn{calls: []protocol.Part{calling("c3", "other", `{"text":"c"}`)}},
		), []protocol.GoHook{replies("adds", 0, protocol.InferenceStart, protocol.Reply{Action: protocol.Modify,
			Changes: []byte(`{"tools":[{"name":"echo","description":"","schema":{}},{"name":"other","description":"","schema":{}}]}`)})})
		run, err := s.loop.RunRecipe(t.Context(), "look", map[string]string{"what": "main.go"})
		s.follow(t, run, err)
		for _, e := range s.gate.fired {
			inRun := e.Event != protocol.SessionStart
			if inRun && (e.Recipe == nil || *e.Recipe != "look" || e.Agent.ID != "main" || !e.Compaction.Auto) {
				t.Errorf("%s: recipe %v, agent %s, compaction %+v", e.Event, e.Recipe, e.Agent.ID, e.Compaction)
			}
		}
		submit := dataOf[protocol.PromptSubmitData](t, s.gate.of(protocol.PromptSubmit, "main")[0])
		if submit.Source != "recipe" || submit.Prompt != "LOOK at main.go" {
			t.Errorf("prompt-submit %+v", submit)
		}
		want := "user: \"LOOK at main.go\"\nassistant: call c1 call c2\n" +
			"tool: result c1 error=false \"echo a\" result c2 error=true \"there is no tool named \\\"other\\\"\"\nassistant: \"looked\"\n"
		if diff := cmp.Diff(want, rendered(s.loop.Messages())); diff != "" {
			t.Error(diff)
		}
		if start := dataOf[protocol.AgentStartData](t, s.gate.of(protocol.AgentStart, "main")[0]); len(start.Tools) != 1 {
			t.Errorf("agent-start tells of %d tools", len(start.Tools))
		}
		s.prompt(t, t.Context(), "and now") // all tools are back
		e := s.gate.of(protocol.AgentStart, "main")[1]
		if start := dataOf[protocol.AgentStartData](t, e); len(start.Tools) != 3 || e.Recipe != nil || e.Turn != 2 {
			t.Errorf("after the recipe: %d tools, recipe %v, turn %d", len(start.Tools), e.Recipe, e.Turn)
		}
		if !strings.Contains(rendered(s.loop.Messages()), `result c3 error=false "echo c"`) {
			t.Error("the other tool was not given back")
		}
		for args, want := range map[string]string{"": "needs the argument what", "x": `has no argument "x"`} {
			given := map[string]string{}
			if args != "" {
				given[args] = "y"
			}
			if _, err := s.loop.RunRecipe(t.Context(), "look", given); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		}
	})
}

// TestAbortInANestedRun aborts at each event of a run that compacts and judges,
// before and after its hooks have answered.
func TestAbortInANestedRun(t *testing.T) {
	hooks := func() []protocol.GoHook {
		return []protocol.GoHook{wants("a", protocol.InferenceEnd, "compact", ""), wants("b", protocol.StepStop, "judge", protocol.AsState)}
	}
	abortAnywhere(t, func(t *testing.T) *executorLoop { return newExecutorLoop(t, works, hooks()) })
}

// abortAnywhere aborts a scene at each of its events.
func abortAnywhere(t *testing.T, scene func(t *testing.T) *executorLoop) {
	total := 0
	synctest.Test(t, func(t *testing.T) { total = len(scene(t).prompt(t, t.Context(), "do it").gate.fired) })
	if total < 30 {
		t.Fatalf("only %d events", total)
	}
	gone := errors.New("the user pressed Ctrl-C")
	for n := 1; n <= total; n++ {
		for _, moment := range []string{"before", "after"} {
			synctest.Test(t, func(t *testing.T) {
				s := scene(t)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				var at protocol.Event
				var aborted time.Time
				abort := func(k int, e protocol.Event) {
					if k == n {
						at, aborted = e, time.Now()
						cancel(gone)
					}
				}
				if moment == "before" {
					s.gate.before = abort
				} else {
					s.gate.after = abort
				}
				s.prompt(t, ctx, "do it")
				where := fmt.Sprintf("%s event %d, %s of %s", moment, n, at.Event, at.Agent.ID)
				if took := time.Since(aborted); took > 250*time.Millisecond {
					t.Errorf("%s: control came back after %s", where, took)
				}
				if !errors.Is(s.err, gone) && !(at.Event == protocol.AgentEnd && at.Agent.ID == "main") {
					t.Errorf("%s: Wait returned %v", where, s.err)
				}
				s.checkEnds(t, where)
			})
		}
	}
}

// checkEnds asserts that each run of an agent that began has ended once.
func (s *executorLoop) checkEnds(t *testing.T, where string) {
	t.Helper()
	begun, ended := map[string]int{}, map[string]int{}
	for _, e := range s.gate.fired {
		switch e.Event {
		case protocol.PromptSubmit:
			begun[e.Agent.ID]++
		case protocol.AgentEnd, protocol.AgentError:
			ended[e.Agent.ID]++
		}
	}
	for id, n := range begun {
		if ended[id] != n {
			t.Errorf("%s: agent %s began %d times and ended %d times: %s", where, id, n, ended[id], s.gate.names())
		}
	}
	if strings.Contains(rendered(s.loop.Messages()), "VERDICT") {
		t.Errorf("%s: the conversation has what it must not have", where)
	}
}
