package agentloop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/protocol"
)

// TestCompactByHandDuringAnother asserts that a person's compaction does not begin
// while an automatic one is under way, at any of its events, and can after it.
func TestCompactByHandDuringAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newExecutorLoop(t, fills, nil)
		tried := 0
		s.gate.before = func(_ int, e protocol.Event) {
			if len(s.gate.of(protocol.CompactStart, "")) == 0 || len(s.gate.of(protocol.AgentEnd, "main")) > 0 {
				return
			}
			tried++
			if run, err := s.loop.Compact(t.Context(), "", ""); run != nil || !errors.Is(err, agentloop.ErrRunning) {
				t.Errorf("at %s: %v", e.Event, err)
			}
		}
		s.prompt(t, t.Context(), "do it")
		if tried < 10 || len(s.gate.of(protocol.CompactEnd, "")) != 1 || s.ending(t) != "agent-end done" {
			t.Errorf("tried %d times, %s", tried, s.gate.names())
		}
		s.gate.before = nil
		run, err := s.loop.Compact(t.Context(), "", "")
		s.follow(t, run, err)
		if s.err != nil || len(s.gate.of(protocol.CompactEnd, "")) != 2 {
			t.Errorf("after it: %v, %s", s.err, s.gate.names())
		}
	})
}

// TestCompactionDuringParallelCalls asserts that a compaction which is asked for
// when the first of several calls has ended waits until all have: each call has
// its result, and what is summed up is the whole step.
func TestCompactionDuringParallelCalls(t *testing.T) {
	var running sync.Map
	synctest.Test(t, func(t *testing.T) {
		var summed string
		s := newExecutorLoop(t, func(n int, r model.Request) turn {
			switch {
			case isCompact(r):
				running.Range(func(any, any) bool { t.Error("a tool still runs"); return true })
				summed = rendered(r.Messages)
				return turn{text: "SUMMARY"}
			case n == 1:
				return turn{text: "both", calls: []protocol.Part{
					calling("c1", "echo", `{"text":"a"}`), calling("c2", "slow", `{"text":"b"}`), calling("c3", "slow", `{"text":"c"}`),
				}}
			}
			return turn{text: "done"}
		}, []protocol.GoHook{wants("h", protocol.ToolCallEnd, "compact", "")}, func(o *agentloop.Options) {
			o.Tools = append(o.Tools, slow(&running))
		}).prompt(t, t.Context(), "do it")
		for _, want := range []string{`result c1 error=false "echo a"`, `result c2 error=false "slept"`, `result c3 error=false "slept"`} {
			if !strings.Contains(summed, want) {
				t.Errorf("%s was not summed up:\n%s", want, summed)
			}
		}
		want := "user: \"do it\"\nuser: \"" + summaryHead + "SUMMARY\"\nassistant: \"done\"\n"
		if got := rendered(s.loop.Messages()); got != want {
			t.Errorf("the conversation is\n%s", got)
		}
	})
}

// scouting is a hook that asks for a recipe in whose thread a sub-agent works.
func scouting(t *testing.T, act func(int, model.Request) turn, options ...func(*agentloop.Options)) *executorLoop {
	library, findings := recipe.New(recipe.File{Name: "scout", Path: "/r/scout.md", Layer: protocol.Project,
		Text: []byte("---\nallowed_tools: [spawn_subagent, echo]\n---\nSCOUT ahead")})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	options = append(options, func(o *agentloop.Options) { o.Recipes = library })
	return newExecutorLoop(t, act, []protocol.GoHook{wants("h", protocol.StepStop, "scout", protocol.AsState)}, options...)
}

// scouts has the recipe's thread start a sub-agent, which calls a tool.
func scouts(n int, r model.Request) turn {
	switch {
	case strings.HasPrefix(r.Messages[0].Content.Text(), "SUB"):
		if last(r) == "tool result" {
			return turn{text: "nobody there"}
		}
		return turn{text: "looking", calls: []protocol.Part{calling("s1", "echo", `{"text":"sub"}`)}}
	case last(r) == "SCOUT ahead":
		return turn{text: "on my way", calls: []protocol.Part{calling("r1", "spawn_subagent", `{"prompt":"SUB"}`)}}
	case strings.Contains(rendered(r.Messages), "SCOUT ahead"):
		return turn{text: "all clear"}
	}
	return works(n, r)
}

// TestAbortInASubAgentInACallback aborts at each event of a sub-agent in the
// thread of a recipe, and of all around it.
func TestAbortInASubAgentInACallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scouting(t, scouts).prompt(t, t.Context(), "do it")
		deepest := 0
		for _, e := range s.gate.fired {
			deepest = max(deepest, e.Agent.Depth)
		}
		if deepest != 2 || s.ending(t) != "agent-end done" {
			t.Fatalf("%d deep, %s", deepest, s.gate.names())
		}
	})
	abortAnywhere(t, func(t *testing.T) *executorLoop { return scouting(t, scouts) })
}

// TestAbortBetweenEvents aborts while a model does not answer: in the thread of a
// recipe, and in a sub-agent in it.
func TestAbortBetweenEvents(t *testing.T) {
	gone := errors.New("gone")
	for _, where := range []string{"SCOUT ahead", "SUB"} {
		t.Run(fmt.Sprintf("in %s", where), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				hung := false
				s := scouting(t, func(n int, r model.Request) turn {
					if last(r) == where {
						hung = true
						return turn{hang: true}
					}
					return scouts(n, r)
				})
				at := time.Now().Add(time.Second)
				time.AfterFunc(time.Second, func() { cancel(gone) })
				s.prompt(t, ctx, "do it")
				if took := time.Since(at); !hung || took < 0 || took > 250*time.Millisecond {
					t.Errorf("hung %v, control came back %s after the abort", hung, took)
				}
				if !errors.Is(s.err, gone) || s.result.StopReason != "aborted" || s.ending(t) != "agent-end aborted" {
					t.Errorf("%v, %+v, ended with %s", s.err, s.result, s.ending(t))
				}
				s.checkEnds(t, where)
			})
		})
	}
}
