package agentloop_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

// alone is a person who looks whether a tool runs while a question is open.
type alone struct {
	running *sync.Map
	asked   int
	during  int // questions during which a tool ran
}

func (p *alone) Approve(context.Context, agentloop.Question) (agentloop.Answer, error) {
	p.asked++
	for range 100 {
		p.running.Range(func(_, _ any) bool { p.during++; return false })
		time.Sleep(20 * time.Millisecond)
	}
	return agentloop.Answer{OptionID: "allow"}, nil
}

// TestNoToolRunsDuringAQuestion asserts that no tool of a step, nor of the agents
// that work for it, runs while a person is asked, and that each runs all the same.
func TestNoToolRunsDuringAQuestion(t *testing.T) {
	ask := asHook("asks", 0, protocol.ToolCallStart, func(ev *protocol.Event) (protocol.Reply, error) {
		if strings.Contains(string(ev.Data), "risky") {
			return protocol.Reply{Action: protocol.Ask, Reason: "really?"}, nil
		}
		return protocol.Reply{}, nil
	})
	answered := func(r model.Request) bool { return last(r) == "tool result" }
	for name, test := range map[string]struct {
		act   func(int, model.Request) turn
		asked int
	}{
		"calls of a step": {func(_ int, r model.Request) turn {
			if answered(r) {
				return turn{text: "done"}
			}
			return turn{calls: []protocol.Part{
				calling("c1", "slow", `{"text":"a"}`), calling("c2", "echo", `{"text":"risky"}`), calling("c3", "slow", `{"text":"b"}`),
				calling("c4", "echo", `{"text":"risky, too"}`), calling("c5", "slow", `{"text":"c"}`),
			}}
		}, 2},
		"of sub-agents": {func(_ int, r model.Request) turn {
			switch {
			case answered(r):
				return turn{text: "done"}
			case strings.HasPrefix(r.Messages[0].Content.Text(), "SUB"):
				return turn{calls: []protocol.Part{calling("s1", "slow", `{"text":"s"}`), calling("s2", "echo", `{"text":"risky"}`), calling("s3", "slow", `{"text":"t"}`)}}
			}
			return turn{calls: []protocol.Part{
				calling("c1", "slow", `{"text":"a"}`), calling("c2", "spawn_subagent", `{"prompt":"SUB one","name":"one"}`),
				calling("c3", "spawn_subagent", `{"prompt":"SUB two","name":"two"}`), calling("c4", "slow", `{"text":"b"}`),
			}}
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var running sync.Map
				p := &alone{running: &running}
				s := newExecutorLoop(t, test.act, []protocol.GoHook{ask}, func(o *agentloop.Options) {
					o.Tools = append(o.Tools, slow(&running))
					o.Approver = p
				}).prompt(t, t.Context(), "do it")
				if p.asked != test.asked || p.during > 0 {
					t.Errorf("asked %d times, a tool ran during %d of them", p.asked, p.during)
				}
				if s.ending(t) != "agent-end done" || strings.Contains(rendered(s.loop.Messages()), "error=true") {
					t.Errorf("ended with %s:\n%s", s.ending(t), rendered(s.loop.Messages()))
				}
			})
		})
	}
}
