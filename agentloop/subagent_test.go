package agentloop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// delegates starts one sub-agent, whose prompt is SUB, and is done.
func delegates(n int, r model.Request) turn {
	switch first := r.Messages[0].Content.Text(); {
	case !strings.HasPrefix(first, "do it"): // the sub-agent
		if last(r) == "tool result" || len(r.Messages) > 1 {
			return turn{text: fmt.Sprintf("found it (%d)", len(r.Messages))}
		}
		return turn{text: "looking", calls: []protocol.Part{calling("s1", "echo", `{"text":"sub"}`)}}
	case last(r) == "tool result":
		return turn{text: "done"}
	default:
		return turn{calls: []protocol.Part{calling("c1", "spawn_subagent", `{"name":"finder","prompt":"SUB"}`)}}
	}
}

func TestSubAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newExecutorLoop(t, delegates, nil).prompt(t, t.Context(), "do it")
		want := "session-start prompt-submit agent-start step-start inference-start inference-end tool-call-start subagent-start " +
			">prompt-submit >agent-start >step-start >inference-start >inference-end >tool-call-start >tool-call-end >step-stop " +
			">step-start >inference-start >inference-end >step-stop >agent-stop >agent-end " +
			"subagent-stop tool-call-end step-stop step-start inference-start inference-end step-stop agent-stop agent-end"
		if diff := cmp.Diff(want, s.gate.names()); diff != "" {
			t.Error(diff)
		}
		start := dataOf[protocol.SubagentStartData](t, s.gate.of(protocol.SubagentStart, "main")[0])
		if start.Name != "finder" || start.Prompt != "SUB" || start.ToolCallID != "c1" || len(start.Tools) != 3 {
			t.Errorf("subagent-start %+v", start)
		}
		stop := dataOf[protocol.SubagentStopData](t, s.gate.of(protocol.SubagentStop, "main")[0])
		if stop.AgentID != start.AgentID || stop.Response != "found it (3)" || stop.StopReason != "done" || stop.ToolCallID != "c1" ||
			stop.Usage.OutputTokens == nil || *stop.Usage.OutputTokens != 4 {
			t.Errorf("subagent-stop %+v", stop)
		}
		for _, e := range s.gate.fired {
			if e.Agent.Depth == 1 && (e.Agent.ID != start.AgentID || e.Agent.Parent == nil || *e.Agent.Parent != "main" || e.Recipe != nil) {
				t.Errorf("%s: agent %+v", e.Event, e.Agent)
			}
			if e.Event == protocol.PromptSubmit && e.Agent.Depth == 1 && dataOf[protocol.PromptSubmitData](t, e).Source != "sub-agent" {
				t.Errorf("source %s", e.Data)
			}
		}
		if got := rendered(s.loop.Messages()); !strings.Contains(got, `result c1 error=false "found it (3)"`) || strings.Contains(got, "looking") {
			t.Errorf("the conversation is\n%s", got)
		}
		if got := s.result.Usage; *got.OutputTokens != 8 || *got.InputTokens != 40 || *got.CostUSD != 2 {
			t.Errorf("usage %d in, %d out, %v USD: the sub-agent's counts", *got.InputTokens, *got.OutputTokens, *got.CostUSD)
		}
		deltas := map[string]string{}
		for _, u := range s.updates {
			if u.Kind == agentloop.UpdateDelta {
				deltas[u.Delta.AgentID] += u.Delta.Text
			}
		}
		if deltas["main"] != "done" || deltas[start.AgentID] != "lookingfound it (3)" {
			t.Errorf("streamed %v", deltas)
		}
	})
}

// TestSubAgentTable holds subagent-start and subagent-stop to their rows.
func TestSubAgentTable(t *testing.T) {
	failing := func(on protocol.EventName, rule protocol.Rule) protocol.GoHook {
		h := asHook("h", 0, on, func(*protocol.Event) (protocol.Reply, error) { return protocol.Reply{}, errors.New("SECRET") })
		h.OnFailure = rule
		return h
	}
	const start, stop = protocol.SubagentStart, protocol.SubagentStop
	act := func(a protocol.Action, reason string) protocol.Reply {
		return protocol.Reply{Action: a, Reason: reason}
	}
	for _, c := range []struct {
		what   string
		hook   protocol.GoHook
		person string
		end    string
		holds  string
		reads  string // by any model
		lacks  string // in the conversation and by any model
		calls  int    // model calls: 4 if all goes its way
	}{
		{"block", replies("h", 0, start, act(protocol.Block, "not here")), "", "agent-end done", `result c1 error=true "not here"`, "", "SUB", 2},
		{"stop", replies("h", 0, start, act(protocol.Stop, "enough")), "", "agent-end hook", `result c1 error=true "enough"`, "", "SUB", 1},
		{"change", replies("h", 0, start, protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"prompt":"OTHER"}`)}), "", "agent-end done", "found it", `user: "OTHER"`, `"SUB"`, 4},
		{"ask, granted", replies("h", 0, start, act(protocol.Ask, "may it?")), "allow", "agent-end done", "found it", "", "", 4},
		{"ask, denied", replies("h", 0, start, act(protocol.Ask, "may it?")), "reject", "agent-end done", `result c1 error=true "denied by the person (may it?)"`, "", "SUB", 2},
		{"ask, nobody", replies("h", 0, start, act(protocol.Ask, "may it?")), "", "agent-end done", `error=true "nobody is there to ask (may it?)"`, "", "SUB", 2},
		{"context", replies("h", 0, start, protocol.Reply{Context: "CTX"}), "", "agent-end done", "found it", `user: "SUB" "[context from hook h]\nCTX"`, "", 4},
		{"continue fails", replies("h", 0, start, act(protocol.Continue, "MORE")), "", "agent-end done", "found it", "", "MORE", 4},
		{"rule block", failing(start, protocol.RuleBlock), "", "agent-end done", `error=true "blocked: the check h could not be made`, "", "SECRET", 2},
		{"rule stop", failing(start, protocol.RuleStop), "", "agent-error failure", `error=true "blocked: the check h could not be made`, "", "SECRET", 1},
		{"rule continue", failing(start, protocol.RuleContinue), "", "agent-end done", "found it", "", "SECRET", 4},

		{"block", replies("h", 1, stop, act(protocol.Block, "look again")), "", "agent-end done", `"found it (5)"`, `user: "look again"`, "", 5},
		{"stop", replies("h", 0, stop, act(protocol.Stop, "enough")), "", "agent-end hook", `result c1 error=false "found it (3)"`, "", "", 3},
		{"change", replies("h", 0, stop, protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"response":"TAMED"}`)}), "", "agent-end done", `result c1 error=false "TAMED"`, "", "", 4},
		{"continue", replies("h", 1, stop, protocol.Reply{Action: protocol.Continue, Messages: protocol.RawMessage(`[{"role":"user","content":"look again"}]`), Context: "CTX"}), "", "agent-end done", `"found it (5)"`, `user: "look again" "[context from hook h]\nCTX"`, "", 5},
		{"continue for ever", replies("h", 0, stop, act(protocol.Continue, "look again")), "", "agent-end done", `"found it (13)"`, "", "", 9},
		{"context", replies("h", 0, stop, protocol.Reply{Context: "CTX"}), "", "agent-end done", `result c1 error=false "found it (3)\n[context from hook h]\nCTX"`, "", "", 4},
		{"ask fails", replies("h", 0, stop, act(protocol.Ask, "?")), "allow", "agent-end done", "found it (3)", "", "", 4},
		{"callback fails", wants("h", stop, "judge", ""), "", "agent-end done", "found it (3)", "", "JUDGE", 4},
		{"rule block", failing(stop, protocol.RuleBlock), "", "agent-error failure", `error=true "blocked: the check h could not be made`, "", "SECRET", 3},
		{"rule stop", failing(stop, protocol.RuleStop), "", "agent-error failure", `error=true "blocked: the check h could not be made`, "", "SECRET", 3},
		{"rule continue", failing(stop, protocol.RuleContinue), "", "agent-end done", "found it (3)", "", "SECRET", 4},
	} {
		t.Run(string(c.hook.Events[0])+"/"+c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newExecutorLoop(t, delegates, []protocol.GoHook{c.hook}, func(o *agentloop.Options) {
					if c.person != "" {
						o.Approver = answering(c.person)
					}
				}).prompt(t, t.Context(), "do it")
				conversation, sent := rendered(s.loop.Messages()), s.model.sent()
				if got := s.ending(t); got != c.end {
					t.Errorf("ended with %s", got)
				}
				if !strings.Contains(strings.ReplaceAll(conversation, `\n`, "\n"), strings.ReplaceAll(c.holds, `\n`, "\n")) {
					t.Errorf("the conversation lacks %q:\n%s", c.holds, conversation)
				}
				if !strings.Contains(sent, c.reads) && !strings.Contains(strings.ReplaceAll(sent, `\n`, "\n"), strings.ReplaceAll(c.reads, `\n`, "\n")) {
					t.Errorf("no model read %q:\n%s", c.reads, sent)
				}
				if c.lacks != "" && strings.Contains(conversation+strings.ReplaceAll(sent, "call c1", ""), c.lacks) {
					t.Errorf("a model read %q:\n%s", c.lacks, sent)
				}
				if got := len(s.model.requests); got != c.calls {
					t.Errorf("%d model calls, want %d:\n%s", got, c.calls, sent)
				}
				s.checkEnds(t, c.what)
			})
		})
	}
}

// answering is a person who always chooses the same.
type answering string

func (a answering) Approve(context.Context, agentloop.Question) (agentloop.Answer, error) {
	return agentloop.Answer{OptionID: string(a)}, nil
}

// TestSubAgentEnds asserts what the parent reads of a sub-agent that does not
// come to its end.
func TestSubAgentEnds(t *testing.T) {
	for name, c := range map[string]struct {
		sub   turn
		hook  protocol.GoHook
		reads string
		stop  string
	}{
		"agent-error":     {sub: turn{fail: errors.New("no such model")}, reads: `error=true "the sub-agent failed: the model failed: no such model"`, stop: "error"},
		"blocked":         {hook: replies("h", 0, protocol.StepStart, protocol.Reply{Action: protocol.Block, Reason: "not in here"}), reads: `error=true "the sub-agent failed: not in here"`, stop: "error"},
		"stopped":         {hook: replies("h", 0, protocol.StepStart, protocol.Reply{Action: protocol.Stop, Reason: "not in here"}), reads: `error=true "[the sub-agent ended early (hook); its last words:]\n"`, stop: "hook"},
		"steps":           {sub: turn{text: "hm", calls: []protocol.Part{calling("s", "echo", `{"text":"x"}`)}}, reads: `error=true "[the sub-agent ended early (steps); its last words:]\nhm"`, stop: "steps"},
		"length":          {sub: turn{text: "half an ans", finish: "length"}, reads: `error=true "[the sub-agent ended early (length); its last words:]\nhalf an ans"`, stop: "length"},
		"nothing to say":  {sub: turn{}, reads: `error=false "[the sub-agent ended without an answer]"`, stop: "done"},
		"asked to go on?": {sub: turn{fail: errors.New("no such model")}, hook: replies("h", 0, protocol.SubagentStop, protocol.Reply{Action: protocol.Continue, Reason: "go on"}), reads: `error=true "the sub-agent failed`, stop: "error"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var hooks []protocol.GoHook
				if c.hook.Func != nil {
					if c.hook.Events[0] == protocol.StepStart {
						c.hook.Match = protocol.Match{Agent: "sub"}
					}
					hooks = append(hooks, c.hook)
				}
				s := newExecutorLoop(t, func(n int, r model.Request) turn {
					if !strings.HasPrefix(r.Messages[0].Content.Text(), "do it") {
						return c.sub
					}
					return delegates(n, r)
				}, hooks).prompt(t, t.Context(), "do it")
				if got := rendered(s.loop.Messages()); !strings.Contains(got, c.reads) {
					t.Errorf("the parent did not read %q:\n%s", c.reads, got)
				}
				if got := dataOf[protocol.SubagentStopData](t, s.gate.of(protocol.SubagentStop, "main")[0]).StopReason; got != c.stop {
					t.Errorf("subagent-stop says %s", got)
				}
				if s.ending(t) != "agent-end done" || s.err != nil {
					t.Errorf("the parent ended with %s, %v", s.ending(t), s.err)
				}
			})
		})
	}
}

// TestSubAgentDepth has each agent start one more.
func TestSubAgentDepth(t *testing.T) {
	for limit, agents := range map[int]int{0: 4, 1: 2, 2: 3, -1: 1} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newExecutorLoop(t, func(n int, r model.Request) turn {
					if last(r) == "tool result" {
						return turn{text: "done"}
					}
					return turn{calls: []protocol.Part{calling("c", "spawn_subagent", `{"prompt":"again"}`)}}
				}, nil, func(o *agentloop.Options) { o.Limits.Depth = limit }).prompt(t, t.Context(), "do it")
				if got := len(s.gate.of(protocol.AgentStart, "")); got != agents {
					t.Errorf("%d agents, want %d", got, agents)
				}
				want := fmt.Sprintf("no sub-agent was started: sub-agents may be %d deep and this agent is %[1]d deep already", agents-1)
				if !strings.Contains(s.model.sent(), want) || s.ending(t) != "agent-end done" {
					t.Errorf("nobody read %q", want)
				}
				offered := 0 // the deepest is not offered what would be refused
				for _, r := range s.model.requests {
					if slices.ContainsFunc(r.Tools, func(t protocol.Tool) bool { return t.Name == "spawn_subagent" }) {
						offered++
					}
				}
				if offered != 2*(agents-1) {
					t.Errorf("spawn_subagent was offered in %d of %d calls", offered, len(s.model.requests))
				}
				started := dataOf[protocol.SessionStartData](t, s.gate.of(protocol.SessionStart, "")[0])
				if slices.Contains(started.Tools, "spawn_subagent") != (agents > 1) || !slices.Contains(started.Tools, "echo") {
					t.Errorf("session-start names the tools %q", started.Tools)
				}
				s.checkEnds(t, "")
			})
		})
	}
}

// TestSubAgentTools asserts that a sub-agent has no more tools than it is given,
// and is given none that its parent lacks.
func TestSubAgentTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newExecutorLoop(t, func(n int, r model.Request) turn {
			switch {
			case n == 1:
				return turn{calls: []protocol.Part{
					calling("c1", "spawn_subagent", `{"prompt":"SUB","tools":["echo"]}`),
					calling("c2", "spawn_subagent", `{"prompt":"SUB","tools":["echo","rm"]}`),
				}}
			case last(r) == "SUB":
				return turn{calls: []protocol.Part{calling("s1", "other", `{"text":"x"}`), calling("s2", "spawn_subagent", `{"prompt":"x"}`)}}
			default:
				return turn{text: "fine"}
			}
		}, nil).prompt(t, t.Context(), "do it")
		sent := s.model.sent()
		for _, want := range []string{
			`result s1 error=true "there is no tool named \"other\""`, `result s2 error=true "there is no tool named \"spawn_subagent\""`,
			`result c2 error=true "no sub-agent was started: there is no tool named \"rm\" to give it; there are: echo, other, spawn_subagent"`,
		} {
			if !strings.Contains(sent, want) {
				t.Errorf("nobody read %s:\n%s", want, sent)
			}
		}
		if got := dataOf[protocol.SubagentStartData](t, s.gate.of(protocol.SubagentStart, "")[0]).Tools; !cmp.Equal(got, []string{"echo"}) {
			t.Errorf("tools %v", got)
		}
	})
}

// TestNoHookInPlaceOfAToolThatIsNotThere asserts that a hook which answers calls
// of a tool, as those of the feature metadata do, lends it to no agent without it.
func TestNoHookInPlaceOfAToolThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		virtual := replies("h", 0, protocol.ToolCallStart, protocol.Reply{Action: protocol.Modify, Result: protocol.RawMessage(`{"content":"LENT","isError":false}`)})
		virtual.Match.Tool = []string{"other"}
		s := newExecutorLoop(t, func(n int, r model.Request) turn {
			switch {
			case n == 1:
				return turn{calls: []protocol.Part{calling("c1", "spawn_subagent", `{"prompt":"SUB","tools":["echo"]}`), calling("c2", "other", `{"text":"x"}`)}}
			case last(r) == "SUB":
				return turn{calls: []protocol.Part{calling("s1", "other", `{"text":"x"}`)}}
			default:
				return turn{text: "fine"}
			}
		}, []protocol.GoHook{virtual}).prompt(t, t.Context(), "do it")
		for _, want := range []string{`result s1 error=true "there is no tool named \"other\""`, `result c2 error=false "LENT"`} {
			if sent := s.model.sent(); !strings.Contains(sent, want) {
				t.Errorf("nobody read %s:\n%s", want, sent)
			}
		}
	})
}

// sideBySide starts four sub-agents at once, each with a slow tool.
func sideBySide(n int, r model.Request) turn {
	switch {
	case last(r) == "tool result":
		return turn{text: "done with " + r.Messages[0].Content.Text()}
	case r.Messages[0].Content.Text() == "do it":
		var calls []protocol.Part
		for i := range 4 {
			calls = append(calls, calling(fmt.Sprintf("c%d", i), "spawn_subagent", fmt.Sprintf(`{"prompt":"SUB %d"}`, i)))
		}
		return turn{calls: calls}
	default:
		return turn{text: "hm", calls: []protocol.Part{calling("s", "slow", `{"text":"x"}`)}}
	}
}

// slow is a tool that takes a second and obeys its context.
func slow(running *sync.Map) tool.Tool {
	return tool.New(tool.Description{Name: "slow", Kind: protocol.KindOther},
		func(ctx context.Context, _ echoArgs) (protocol.Result, error) {
			key := new(int)
			running.Store(key, true)
			defer running.Delete(key)
			select {
			case <-time.After(time.Second):
				return protocol.Result{Content: protocol.TextContent("slept")}, nil
			case <-ctx.Done():
				return protocol.Result{}, context.Cause(ctx)
			}
		})
}

func TestSubAgentsAtTheSameTime(t *testing.T) {
	var running sync.Map
	withSlow := func(o *agentloop.Options) { o.Tools = append(o.Tools, slow(&running)) }
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := newExecutorLoop(t, sideBySide, nil, withSlow).prompt(t, t.Context(), "do it")
		if took := time.Since(began); took > 1100*time.Millisecond {
			t.Errorf("four took %s", took)
		}
		got := rendered(s.loop.Messages())
		for i := range 4 {
			if want := fmt.Sprintf("result c%d error=false \"done with SUB %d\"", i, i); !strings.Contains(got, want) {
				t.Errorf("%s is not there:\n%s", want, got)
			}
		}
		if out := s.result.Usage.OutputTokens; out == nil || *out != 20 {
			t.Errorf("usage %v", out)
		}
	})
	t.Run("a stop ends all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newExecutorLoop(t, sideBySide, []protocol.GoHook{asHook("h", 0, protocol.SubagentStart, func(ev *protocol.Event) (protocol.Reply, error) {
				if strings.Contains(string(ev.Data), "SUB 2") {
					return protocol.Reply{Action: protocol.Stop, Reason: "enough"}, nil
				}
				return protocol.Reply{}, nil
			})}, withSlow).prompt(t, t.Context(), "do it")
			if s.ending(t) != "agent-end hook" {
				t.Errorf("ended with %s", s.ending(t))
			}
			s.checkEnds(t, "")
		})
	})
	t.Run("one person", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &onePerson{t: t}
			s := newExecutorLoop(t, sideBySide, []protocol.GoHook{replies("h", 0, protocol.SubagentStart, protocol.Reply{Action: protocol.Ask, Reason: "?"})},
				withSlow, func(o *agentloop.Options) { o.Approver = p }).prompt(t, t.Context(), "do it")
			if p.asked != 4 || s.ending(t) != "agent-end done" {
				t.Errorf("asked %d times, ended with %s", p.asked, s.ending(t))
			}
		})
	})
	t.Run("abort", func(t *testing.T) {
		for after := 50 * time.Millisecond; after < 1200*time.Millisecond; after += 95 * time.Millisecond {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				gone := errors.New("gone")
				slowHook := replies("slow", 0, protocol.ToolCallError, protocol.Reply{})
				slowHook.Func = func(ctx context.Context, _ *protocol.Event) (protocol.Reply, error) {
					<-ctx.Done()
					return protocol.Reply{}, nil
				}
				s := newExecutorLoop(t, sideBySide, []protocol.GoHook{slowHook}, withSlow)
				at := time.Now().Add(after)
				time.AfterFunc(after, func() { cancel(gone) })
				s.prompt(t, ctx, "do it")
				if s.err == nil && time.Now().Before(at) {
					return // it was over before
				}
				if took := time.Since(at); took > 250*time.Millisecond {
					t.Errorf("aborted after %s, control came back %s later", after, took)
				}
				if s.err != nil && !errors.Is(s.err, gone) {
					t.Errorf("Wait returned %v", s.err)
				}
				running.Range(func(any, any) bool { t.Error("a tool still runs"); return true })
			})
		}
	})
}

// onePerson fails the test if two questions are put at once.
type onePerson struct {
	t     *testing.T
	busy  sync.Mutex
	asked int
}

func (p *onePerson) Approve(context.Context, agentloop.Question) (agentloop.Answer, error) {
	if !p.busy.TryLock() {
		p.t.Error("two questions at once")
		return agentloop.Answer{}, nil
	}
	defer p.busy.Unlock()
	p.asked++
	time.Sleep(time.Second)
	return agentloop.Answer{OptionID: "allow"}, nil
}

// TestTimeOfAParent asserts that a sub-agent ends when its parent's time is over,
// and that the parent says so.
func TestTimeOfAParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newExecutorLoop(t, func(n int, r model.Request) turn {
			if r.Messages[0].Content.Text() != "do it" {
				return turn{hang: true}
			}
			return delegates(n, r)
		}, []protocol.GoHook{asHook("later", 0, protocol.SubagentStart, func(*protocol.Event) (protocol.Reply, error) {
			time.Sleep(10 * time.Second) // so that the sub-agent's own time is over later
			return protocol.Reply{}, nil
		})})
		began := time.Now()
		s.prompt(t, t.Context(), "do it")
		if took := time.Since(began); took < 300*time.Second || took > 301*time.Second || s.ending(t) != "agent-end time" {
			t.Errorf("ended with %s after %s", s.ending(t), took)
		}
		s.checkEnds(t, "")
	})
}

// TestRecipeForASubAgentsHook asserts that a judgement asked for in one agent does
// not reach the hook in another.
func TestRecipeForASubAgentsHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		var mu sync.Mutex
		h := asHook("h", 0, protocol.StepStop, func(ev *protocol.Event) (protocol.Reply, error) {
			mu.Lock()
			defer mu.Unlock()
			if text := judged(ev); text != "" {
				got = append(got, fmt.Sprintf("%d %s", ev.Agent.Depth, text))
				return protocol.Reply{}, nil
			}
			if ev.Agent.Depth == 1 && ev.Step == 1 {
				return protocol.Reply{Action: protocol.Callback, Callback: &protocol.CallbackCall{Name: "judge", As: protocol.AsState}}, nil
			}
			return protocol.Reply{}, nil
		})
		s := newExecutorLoop(t, func(n int, r model.Request) turn {
			if strings.HasPrefix(last(r), "JUDGE") {
				return turn{text: "VERDICT"}
			}
			return delegates(n, r)
		}, []protocol.GoHook{h}).prompt(t, t.Context(), "do it")
		if !cmp.Equal(got, []string{"1 VERDICT"}) || s.ending(t) != "agent-end done" {
			t.Errorf("judgements %v, ended with %s", got, s.ending(t))
		}
	})
}

// TestHookStartsASubAgent has a hook of the loop's own start one.
func TestHookStartsASubAgent(t *testing.T) {
	for name, c := range map[string]struct {
		reply protocol.Reply
		end   string
		calls int // of models
	}{
		"runs":    {protocol.Reply{}, "agent-end done", 3},
		"blocked": {protocol.Reply{Action: protocol.Block, Reason: "no"}, "agent-end done", 2},
		"stopped": {protocol.Reply{Action: protocol.Stop, Reason: "enough"}, "agent-end hook", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				starts := asHook("starts", 0, protocol.StepStart, nil)
				starts.Layer, starts.Func = protocol.Builtin, func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
					if ev.Agent.Depth > 0 || ev.Step > 0 {
						return protocol.Reply{}, nil
					}
					sub, err := provider.RunContextOf(ctx).Spawn(ctx, provider.SubAgent{Prompt: "SUB"})
					if err != nil {
						return protocol.Reply{}, err
					}
					return protocol.Reply{Context: "the scout says " + sub.Response}, nil
				}
				s := newExecutorLoop(t, func(n int, r model.Request) turn {
					if strings.HasPrefix(r.Messages[0].Content.Text(), "SUB") || last(r) == "tool result" {
						return turn{text: "fine"}
					}
					return works(n, r)
				}, []protocol.GoHook{starts, replies("h", 0, protocol.SubagentStart, c.reply)}).prompt(t, t.Context(), "do it")
				if got := s.ending(t); got != c.end || len(s.model.requests) != c.calls {
					t.Errorf("ended with %s after %d calls, %v", got, len(s.model.requests), s.err)
				}
				if name == "runs" && !strings.Contains(s.model.sent(), "the scout says fine") {
					t.Errorf("sent:\n%s", s.model.sent())
				}
				s.checkEnds(t, name)
			})
		})
	}
}

func TestAbortInASubAgent(t *testing.T) {
	abortAnywhere(t, func(t *testing.T) *executorLoop { return newExecutorLoop(t, delegates, nil) })
}
