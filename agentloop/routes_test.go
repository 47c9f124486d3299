package agentloop

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// route is a way through the loop and every event on it, as "agent turn.step
// event details".
type route struct {
	script  string
	hooks   []hook
	prompts int // default 1

	providers []Provider // default: the default ones
	resumed   bool
	tool      func(ctx context.Context, args string) (protocol.Result, error)
	want      string
}

// line is an event as a route lists it.
func line(e *protocol.Event) string {
	var d struct {
		ToolCallID, Source, Reason, StopReason, Outcome, Cause, AgentID string
		Attempt                                                         int
		Synthetic                                                       bool
		Error                                                           struct{ Kind string }
		Calls                                                           []struct{ ToolCallID, Outcome string }
	}
	json.Unmarshal(e.Data, &d, json.MatchCaseInsensitiveNames(true))
	agent := e.Agent.ID
	if e.Agent.Parent != nil {
		agent = *e.Agent.Parent + "/sub"
	}
	text := fmt.Sprintf("%s %d.%d %s", agent, e.Turn, e.Step, e.Event)
	for _, detail := range []string{d.ToolCallID, d.Source, cmp.Or(d.StopReason, d.Reason), d.Cause, d.Error.Kind} {
		if detail != "" {
			text += " " + detail
		}
	}
	if d.Attempt > 0 {
		text += fmt.Sprintf(" #%d", d.Attempt)
	}
	for _, c := range d.Calls {
		text += " " + c.ToolCallID + ":" + c.Outcome
	}
	if d.Synthetic {
		text += " synthetic"
	}
	return text
}

var routes = map[string]route{
	"one shot": {
		script: "turns: [{thinking: hm, text: done}]",
		want: `
main 0.0 session-start startup
main 0.0 prompt-submit user
main 1.0 agent-start
main 1.0 step-start
main 1.0 inference-start #1
main 1.1 thinking-start
main 1.1 thinking-end
main 1.1 message-start
main 1.1 message-end
main 1.1 inference-end
main 1.1 step-stop
main 1.1 agent-stop done
main 1.1 agent-end done
main 1.0 session-end exit`,
	},
	"a second prompt": {
		script: "turns: [{text: one}, {text: two}]", prompts: 2,
		want: `
main 0.0 session-start startup
main 0.0 prompt-submit user
main 1.0 agent-start
main 1.0 step-start
main 1.0 inference-start #1
main 1.1 message-start
main 1.1 message-end
main 1.1 inference-end
main 1.1 step-stop
main 1.1 agent-stop done
main 1.1 agent-end done
main 1.0 prompt-submit user
main 2.0 agent-start
main 2.0 step-start
main 2.0 inference-start #1
main 2.1 message-start
main 2.1 message-end
main 2.1 inference-end
main 2.1 step-stop
main 2.1 agent-stop done
main 2.1 agent-end done
main 2.0 session-end exit`,
	},
	"a resumed session": {
		script: "turns: [{text: two}]", resumed: true,
		want: `
main 1.0 session-start resume
main 1.0 prompt-submit user
main 2.0 agent-start
main 2.0 step-start
main 2.0 inference-start #1
main 2.1 message-start
main 2.1 message-end
main 2.1 inference-end
main 2.1 step-stop
main 2.1 agent-stop done
main 2.1 agent-end done
main 2.0 session-end exit`,
	},
	"parallel tool calls": {
		script: `turns:
- toolCalls: [{id: c1, name: echo, args: {text: 3s}}, {id: c2, name: echo, args: {text: 1s}}, {id: c3, name: nope}, {id: c4, name: echo, args: {text: fail}}]
- text: done`,
		tool: func(_ context.Context, args string) (protocol.Result, error) {
			if d, err := time.ParseDuration(args); err == nil {
				time.Sleep(d)
				return protocol.Result{Content: protocol.TextContent(args)}, nil
			}
			time.Sleep(2 * time.Second)
			return protocol.Result{}, fmt.Errorf("it failed")
		},
		want: `
main 0.0 session-start startup
main 0.0 prompt-submit user
main 1.0 agent-start
main 1.0 step-start
main 1.0 inference-start #1
main 1.1 inference-end
main 1.1 tool-call-start c1
main 1.1 tool-call-start c2
main 1.1 tool-call-start c3
main 1.1 tool-call-error c3 unknownTool
main 1.1 tool-call-start c4
main 1.1 tool-call-end c2
main 1.1 tool-call-error c4 failed
main 1.1 tool-call-end c1
main 1.1 step-stop c1:ok c2:ok c3:error c4:error
main 1.1 step-start
main 1.1 inference-start #1
main 1.2 message-start
main 1.2 message-end
main 1.2 inference-end
main 1.2 step-stop
main 1.2 agent-stop done
main 1.2 agent-end done
main 1.0 session-end exit`,
	},
	"a retried call": {
		script: `turns:
- {text: half, fail: gone, lost: true}
- {fail: busy, status: 529}
- text: done`,
		want: `
main 0.0 session-start startup
main 0.0 prompt-submit user
main 1.0 agent-start
main 1.0 step-start
main 1.0 inference-start #1
main 1.1 message-start
main 1.1 message-end
main 1.1 inference-start #2
main 1.1 notification
main 1.1 inference-start #3
main 1.1 notification
main 1.1 message-start
main 1.1 message-end
main 1.1 inference-end
main 1.1 step-stop
main 1.1 agent-stop done
main 1.1 agent-end done
main 1.0 session-end exit`,
	},
	"tries that are used up": {
		script: "turns: [" + strings.Repeat("{fail: busy, status: 529}, ", 4) + "{text: too late}]",
		want: `
main 0.0 session-start startup
main 0.0 prompt-submit user
main 1.0 agent-start
main 1.0 step-start
main 1.0 inference-start #1
main 1.1 inference-start #2
main 1.1 notification
main 1.1 inference-start #3
main 1.1 notification
main 1.1 inference-start #4
main 1.1 notification
main 1.1 inference-start #5
main 1.1 agent-error model
main 1.0 session-end error`,
	},
	"hooks answer in the place of model and tool": {
		script: "turns: [{text: done}]",
		hooks: []hook{
			{on: protocol.InferenceStart, times: 1, reply: protocol.Reply{Action: protocol.Modify,
				Response: raw(`{"message":{"role":"assistant","content":[{"type":"toolCall","toolCallId":"c1","name":"echo","args":{"text":"hi"}}]}}`)}},
			{on: protocol.ToolCallStart, times: 1, reply: protocol.Reply{Action: protocol.Modify, Result: raw(`{"content":"canned","isError":false}`)}},
		},
		want: `
main 0.0 session-start startup
main 0.0 prompt-submit user
main 1.0 agent-start
main 1.0 step-start
main 1.0 inference-start #1
main 1.1 inference-end synthetic
main 1.1 tool-call-start c1
main 1.1 tool-call-end c1 synthetic
main 1.1 step-stop c1:ok
main 1.1 step-start
main 1.1 inference-start #1
main 1.2 message-start
main 1.2 message-end
main 1.2 inference-end
main 1.2 step-stop
main 1.2 agent-stop done
main 1.2 agent-end done
main 1.0 session-end exit`,
	},
	"forced on, asked, and a further run": {
		script: "turns: [{toolCalls: [{id: c1, name: echo, args: {text: hi}}]}, {text: one}, {text: two}, {text: three}]",
		hooks: []hook{
			{on: protocol.ToolCallStart, reply: protocol.Reply{Action: protocol.Ask, Reason: "really?"}},
			{on: protocol.AgentStop, times: 1, reply: protocol.Reply{Action: protocol.Continue, Reason: "not yet"}},
			{on: protocol.AgentEnd, times: 1, reply: protocol.Reply{Action: protocol.Continue, Reason: "once more"}},
		},
		want: `
main 0.0 session-start startup
main 0.0 prompt-submit user
main 1.0 agent-start
main 1.0 step-start
main 1.0 inference-start #1
main 1.1 inference-end
main 1.1 tool-call-start c1
main 1.1 permission-request c1
main 1.1 tool-call-error c1 denied
main 1.1 step-stop c1:blocked
main 1.1 step-start
main 1.1 inference-start #1
main 1.2 message-start
main 1.2 message-end
main 1.2 inference-end
main 1.2 step-stop
main 1.2 agent-stop done
main 1.2 step-start
main 1.2 inference-start #1
main 1.3 message-start
main 1.3 message-end
main 1.3 inference-end
main 1.3 step-stop
main 1.3 agent-stop done
main 1.3 agent-end done
main 1.0 prompt-submit hook
main 1.0 agent-start
main 1.0 step-start
main 1.0 inference-start #1
main 1.1 message-start
main 1.1 message-end
main 1.1 inference-end
main 1.1 step-stop
main 1.1 agent-stop done
main 1.1 agent-end done
main 1.0 session-end exit`,
	},
	"a sub-agent": {
		script: `turns:
- toolCalls: [{id: c1, name: spawn_subagent, args: {prompt: look}}]
- toolCalls: [{id: c2, name: echo, args: {text: hi}}]
- {text: half, fail: gone, lost: true}
- text: found
- text: done`,
		providers: []Provider{builtin.Retries(1), builtin.SubAgents()},
		want: `
main 0.0 session-start startup
main 0.0 prompt-submit user
main 1.0 agent-start
main 1.0 step-start
main 1.0 inference-start #1
main 1.1 inference-end
main 1.1 tool-call-start c1
main 1.1 subagent-start c1
main/sub 1.0 prompt-submit sub-agent
main/sub 1.0 agent-start
main/sub 1.0 step-start
main/sub 1.0 inference-start #1
main/sub 1.1 inference-end
main/sub 1.1 tool-call-start c2
main/sub 1.1 tool-call-end c2
main/sub 1.1 step-stop c2:ok
main/sub 1.1 step-start
main/sub 1.1 inference-start #1
main/sub 1.2 message-start
main/sub 1.2 message-end
main/sub 1.2 inference-start #2
main/sub 1.2 notification
main/sub 1.2 message-start
main/sub 1.2 message-end
main/sub 1.2 inference-end
main/sub 1.2 step-stop
main/sub 1.2 agent-stop done
main/sub 1.2 agent-end done
main 1.1 subagent-stop c1 done
main 1.1 tool-call-end c1
main 1.1 step-stop c1:ok
main 1.1 step-start
main 1.1 inference-start #1
main 1.2 message-start
main 1.2 message-end
main 1.2 inference-end
main 1.2 step-stop
main 1.2 agent-stop done
main 1.2 agent-end done
main 1.0 session-end exit`,
	},
	"the step limit": {
		script: answers(20, true),
		want:   stepLimitRoute(),
	},
}

func stepLimitRoute() string {
	var b strings.Builder
	b.WriteString("\nmain 0.0 session-start startup\nmain 0.0 prompt-submit user\nmain 1.0 agent-start\n")
	for i := range 20 {
		fmt.Fprintf(&b, "main 1.%[1]d step-start\nmain 1.%[1]d inference-start #1\nmain 1.%[2]d inference-end\n"+
			"main 1.%[2]d tool-call-start c%[1]d\nmain 1.%[2]d tool-call-end c%[1]d\nmain 1.%[2]d step-stop c%[1]d:ok\n", i, i+1)
	}
	b.WriteString("main 1.20 step-start\nmain 1.20 agent-end steps\nmain 1.0 session-end exit")
	return b.String()
}

// TestRoutes asserts every event of each route: at its place, once, in order,
// with the ids of its agent and call and the numbers of turn, step and attempt,
// whether or not what streams is held back.
func TestRoutes(t *testing.T) {
	for name, c := range routes {
		for _, holds := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/held %v", name, holds), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { c.run(t, holds) })
			})
		}
	}
}

func (c route) run(t *testing.T, holds bool) {
	s := newFakeLoop(t, c.script, c.hooks, func(o *Options) {
		o.Providers, o.NoDefaults = c.providers, c.providers != nil
		if c.resumed {
			o.Session = usedSession(t)
		}
	})
	s.gate.holds, s.tool.run = holds, c.tool
	for range max(1, c.prompts) {
		s.prompt(t, t.Context(), "go!")
	}
	reason := "exit"
	if s.err != nil {
		reason = "error"
	}
	if _, err := s.loop.Close(t.Context(), reason); err != nil {
		t.Error(err)
	}
	var got []string
	for i := range s.gate.fired {
		got = append(got, line(&s.gate.fired[i]))
	}
	if diff := gocmp.Diff(strings.Split(strings.TrimSpace(c.want), "\n"), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	checkAgents(t, s.gate.fired)
	ids := map[string]bool{}
	for _, e := range s.gate.fired {
		if ids[e.ID] || e.ID == "" || e.Session.ID != s.loop.Session().ID {
			t.Errorf("%s: id %q, session %v", e.Event, e.ID, e.Session)
		}
		ids[e.ID] = true
	}
}

// checkAgents asserts that each agent but the top one was announced by its
// parent, a level above.
func checkAgents(t *testing.T, events []protocol.Event) {
	t.Helper()
	type agent struct {
		parent string
		depth  int
	}
	known := map[string]agent{"main": {}}
	for _, e := range events {
		got := agent{depth: e.Agent.Depth}
		if e.Agent.Parent != nil {
			got.parent = *e.Agent.Parent
		}
		if want, announced := known[e.Agent.ID]; !announced || got != want {
			t.Errorf("%s by agent %s: %+v, announced %v as %+v", e.Event, e.Agent.ID, got, announced, want)
		}
		if e.Event == protocol.SubagentStart {
			var d protocol.SubagentStartData
			json.Unmarshal(e.Data, &d)
			known[d.AgentID] = agent{e.Agent.ID, e.Agent.Depth + 1}
		}
	}
}

// usedSession is a session in which one prompt was answered.
func usedSession(t *testing.T) *store.Session {
	dir := t.TempDir()
	session, err := store.Create(dir, "", store.Header{})
	if err != nil {
		t.Fatal(err)
	}
	scripted, err := model.Parse("script.yaml", []byte("turns: [{text: one}]"))
	if err != nil {
		t.Fatal(err)
	}
	loop, err := New(Options{Gate: &fakeGate{}, Model: scripted, Session: session, Tools: []tool.Tool{}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := loop.Run(t.Context(), "before")
	if err != nil {
		t.Fatal(err)
	}
	for range run.Events() {
	}
	if _, err := loop.Close(t.Context(), "exit"); err != nil || run.Wait() != nil {
		t.Fatal(err, run.Wait())
	}
	id := session.ID()
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if session, err = store.Open(dir, id); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}
