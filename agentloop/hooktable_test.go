package agentloop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hookd-dev/hookd/protocol"
)

// cell is one cell of the events table, as a run shows it.
type cell struct {
	event protocol.EventName
	what  string // the column
	hook  hook   // its event is filled in
	end   string // the run's ending
	reads string // text the model was sent, in any call
	lacks string // text the model was never sent
	holds string // text the conversation holds at the end
	ran   string // what the tool was given, "hi" if nothing else is said, "-" if it did not run
	calls int    // model calls

	broken bool // the tool fails
}

const (
	done    = "agent-end done"
	stopped = "agent-end hook"
	blocked = "agent-error blocked"
	failed  = "agent-error failure"
)

func block(reason string) hook {
	return hook{reply: protocol.Reply{Action: protocol.Block, Reason: reason}}
}
func stop() hook { return hook{reply: protocol.Reply{Action: protocol.Stop, Reason: "enough"}} }
func modify(changes string) hook {
	return hook{times: 1, reply: protocol.Reply{Action: protocol.Modify, Changes: raw("%s", changes)}}
}
func say(text string) hook { return hook{times: 1, reply: protocol.Reply{Context: text}} }
func goOn(text string) hook {
	return hook{times: 1, reply: protocol.Reply{Action: protocol.Continue, Reason: text}}
}
func ask() hook { return hook{reply: protocol.Reply{Action: protocol.Ask, Reason: "really?"}} }
func callback() hook {
	return hook{times: 1, reply: protocol.Reply{Action: protocol.Callback, Callback: &protocol.CallbackCall{Name: "compact"}}}
}
func fails(rule protocol.Rule) hook { return hook{failure: protocol.FailTimeout, rule: rule} }

const (
	couldNot   = "blocked: the check h could not be made (timeout)"
	framed     = "[context from hook h]\nctx"
	userTwo    = `{"role":"user","content":"changed conversation"}`
	newMessage = `{"messages":[` + userTwo + `]}`
)

var cells = []cell{
	{event: "session-start", what: "stop", hook: stop(), end: blocked, ran: "-"},
	{event: "session-start", what: "context", hook: say("ctx"), end: done, reads: "system: be good\n\n" + framed, calls: 2},
	{event: "session-start", what: "block fails", hook: block("no"), end: done, calls: 2},
	{event: "session-start", what: "rule block", hook: fails(protocol.RuleBlock), end: done, calls: 2},
	{event: "session-start", what: "rule stop", hook: fails(protocol.RuleStop), end: failed, ran: "-"},

	{event: "prompt-submit", what: "block", hook: block("no"), end: blocked, ran: "-"},
	{event: "prompt-submit", what: "stop", hook: stop(), end: blocked, ran: "-"},
	{event: "prompt-submit", what: "change", hook: modify(`{"prompt":"other"}`), end: done, reads: `user: "other"`, lacks: "go!", holds: `user: "other"`, calls: 2},
	{event: "prompt-submit", what: "ask, nobody", hook: ask(), end: blocked, ran: "-"},
	{event: "prompt-submit", what: "context", hook: say("ctx"), end: done, reads: `user: "go!" "[context from hook h]\nctx"`, holds: "ctx", calls: 2},
	{event: "prompt-submit", what: "rule block", hook: fails(protocol.RuleBlock), end: failed, ran: "-"},
	{event: "prompt-submit", what: "rule stop", hook: fails(protocol.RuleStop), end: failed, ran: "-"},
	{event: "prompt-submit", what: "rule continue", hook: fails(protocol.RuleContinue), end: done, calls: 2},

	{event: "agent-start", what: "block", hook: block("no"), end: blocked, holds: "go!", ran: "-"},
	{event: "agent-start", what: "stop", hook: stop(), end: stopped, ran: "-"},
	{event: "agent-start", what: "change system", hook: modify(`{"system":"be bad"}`), end: done, reads: "system: be bad", calls: 2},
	{event: "agent-start", what: "change messages", hook: modify(newMessage), end: done, reads: "changed conversation", lacks: "go!", holds: "changed conversation", calls: 2},
	{event: "agent-start", what: "change tools", hook: modify(`{"tools":[]}`), end: done, reads: `there is no tool named \"echo\"`, ran: "-", calls: 2},
	{event: "agent-start", what: "ask, nobody", hook: ask(), end: blocked, ran: "-"},
	{event: "agent-start", what: "context", hook: say("ctx"), end: done, reads: `user: "[context from hook h]\nctx"`, holds: "ctx", calls: 2},
	{event: "agent-start", what: "rule block", hook: fails(protocol.RuleBlock), end: failed, ran: "-"},

	{event: "step-start", what: "block", hook: block("no"), end: blocked, ran: "-"},
	{event: "step-start", what: "stop", hook: stop(), end: stopped, ran: "-"},
	{event: "step-start", what: "change", hook: modify(newMessage), end: done, reads: "changed conversation", holds: "changed conversation", calls: 2},
	{event: "step-start", what: "ask, nobody", hook: ask(), end: blocked, ran: "-"},
	{event: "step-start", what: "context", hook: say("ctx"), end: done, reads: `user: "[context from hook h]\nctx"`, holds: "ctx", calls: 2},
	{event: "step-start", what: "callback", hook: callback(), end: done, calls: 2},
	{event: "step-start", what: "rule stop", hook: fails(protocol.RuleStop), end: failed, ran: "-"},

	{event: "inference-start", what: "block", hook: block("no"), end: blocked, ran: "-"},
	{event: "inference-start", what: "stop", hook: stop(), end: stopped, ran: "-"},
	{event: "inference-start", what: "change", hook: modify(newMessage), end: done, reads: "changed conversation", holds: "go!", calls: 2},
	{event: "inference-start", what: "change system", hook: modify(`{"system":"this call"}`), end: done, reads: "system: this call", calls: 2},
	{event: "inference-start", what: "change tools", hook: modify(`{"tools":[]}`), end: done, reads: `there is no tool named \"echo\"`, ran: "-", calls: 2},
	{event: "inference-start", what: "response", hook: hook{times: 1, reply: protocol.Reply{Action: protocol.Modify, Response: raw(`{"message":{"role":"assistant","content":"canned"}}`)}}, end: done, holds: `assistant: "canned"`, ran: "-", calls: 0},
	{event: "inference-start", what: "ask, nobody", hook: ask(), end: blocked, ran: "-"},
	{event: "inference-start", what: "context", hook: say("ctx"), end: done, reads: `user: "[context from hook h]\nctx"`, calls: 2},

	{event: "inference-end", what: "block", hook: block("no"), end: blocked, ran: "-", calls: 1},
	{event: "inference-end", what: "stop", hook: stop(), end: stopped, ran: "-", calls: 1},
	{event: "inference-end", what: "change", hook: modify(`{"message":{"role":"assistant","content":"tamed"}}`), end: done, holds: `assistant: "tamed"`, ran: "-", calls: 1},
	{event: "inference-end", what: "context", hook: say("ctx"), end: done, reads: `user: "[context from hook h]\nctx"`, holds: "ctx", calls: 2},
	{event: "inference-end", what: "callback", hook: callback(), end: done, holds: "[Summary of the conversation", calls: 3},
	{event: "inference-end", what: "rule block", hook: fails(protocol.RuleBlock), end: failed, ran: "-", calls: 1},

	{event: "tool-call-start", what: "block", hook: block("not that"), end: done, reads: `error=true "not that"`, ran: "-", calls: 2},
	{event: "tool-call-start", what: "stop", hook: stop(), end: stopped, holds: `error=true "enough"`, ran: "-", calls: 1},
	{event: "tool-call-start", what: "change", hook: modify(`{"args":{"text":"ho"}}`), end: done, reads: `"echo ho"`, ran: "ho", calls: 2},
	{event: "tool-call-start", what: "bad change", hook: modify(`{"args":{"text":3}}`), end: done, reads: `"echo hi"`, calls: 2},
	{event: "tool-call-start", what: "result", hook: hook{reply: protocol.Reply{Action: protocol.Modify, Result: raw(`{"content":"from the hook","isError":false}`)}}, end: done, reads: `error=false "from the hook"`, ran: "-", calls: 2},
	{event: "tool-call-start", what: "ask, nobody", hook: ask(), end: done, reads: "nobody is there to ask (really?)", ran: "-", calls: 2},
	{event: "tool-call-start", what: "context", hook: say("ctx"), end: done, reads: `"echo hi\n[context from hook h]\nctx"`, holds: "ctx", calls: 2},
	{event: "tool-call-start", what: "rule block", hook: fails(protocol.RuleBlock), end: done, reads: couldNot, lacks: "SECRET", ran: "-", calls: 2},
	{event: "tool-call-start", what: "rule stop", hook: fails(protocol.RuleStop), end: failed, holds: couldNot, lacks: "SECRET", ran: "-", calls: 1},

	{event: "tool-call-end", what: "block", hook: block("not for you"), end: done, reads: `error=true "not for you"`, lacks: "echo hi", calls: 2},
	{event: "tool-call-end", what: "stop", hook: stop(), end: stopped, holds: `"echo hi"`, calls: 1},
	{event: "tool-call-end", what: "change", hook: modify(`{"result":{"content":"redacted","isError":false}}`), end: done, reads: `"redacted"`, lacks: "echo hi", holds: `"redacted"`, calls: 2},
	{event: "tool-call-end", what: "context", hook: say("ctx"), end: done, reads: `"echo hi\n[context from hook h]\nctx"`, calls: 2},
	{event: "tool-call-end", what: "callback", hook: callback(), end: done, holds: "[Summary of the conversation", calls: 3},
	{event: "tool-call-end", what: "rule block", hook: fails(protocol.RuleBlock), end: done, reads: couldNot, lacks: "echo hi", calls: 2},
	{event: "tool-call-end", what: "rule stop", hook: fails(protocol.RuleStop), end: failed, holds: couldNot, calls: 1},

	{event: "step-stop", what: "stop", hook: stop(), end: stopped, calls: 1},
	{event: "step-stop", what: "block fails", hook: block("no"), end: done, calls: 2},
	{event: "step-stop", what: "change", hook: modify(newMessage), end: done, reads: "changed conversation", holds: "changed conversation", calls: 2},
	{event: "step-stop", what: "continue", hook: goOn("and this"), end: done, reads: `user: "and this"`, calls: 2},
	{event: "step-stop", what: "context", hook: say("ctx"), end: done, reads: `user: "[context from hook h]\nctx"`, calls: 2},
	{event: "step-stop", what: "callback", hook: callback(), end: done, holds: "[Summary of the conversation", calls: 3},
	{event: "step-stop", what: "rule block", hook: fails(protocol.RuleBlock), end: done, calls: 2},
	{event: "step-stop", what: "rule stop", hook: fails(protocol.RuleStop), end: failed, calls: 1},

	{event: "agent-stop", what: "block", hook: hook{times: 1, reply: protocol.Reply{Action: protocol.Block, Reason: "not yet"}}, end: done, reads: `user: "not yet"`, holds: "forced answer 1", calls: 3},
	{event: "agent-stop", what: "block by exit code", hook: hook{times: 1, byExit: true, reply: protocol.Reply{Action: protocol.Block, Reason: "not yet"}}, end: done, reads: `user: "not yet"`, holds: "forced answer 1", calls: 3},
	{event: "agent-stop", what: "stop", hook: stop(), end: stopped, calls: 2},
	{event: "agent-stop", what: "continue", hook: goOn("not yet"), end: done, reads: `user: "not yet"`, calls: 3},
	{event: "agent-stop", what: "change", hook: modify(newMessage), end: done, holds: "changed conversation", calls: 2},
	{event: "agent-stop", what: "context dropped", hook: say("ctx"), end: done, lacks: "ctx", calls: 2},
	{event: "agent-stop", what: "context with continue", hook: hook{times: 1, reply: protocol.Reply{Action: protocol.Continue, Reason: "more", Context: "ctx"}}, end: done, reads: framedRead, calls: 3},
	{event: "agent-stop", what: "callback", hook: callback(), end: done, holds: "[Summary of the conversation", calls: 3},
	{event: "agent-stop", what: "rule block", hook: fails(protocol.RuleBlock), end: failed, calls: 2},
	{event: "agent-stop", what: "rule stop", hook: fails(protocol.RuleStop), end: failed, calls: 2},
	{event: "agent-stop", what: "rule continue", hook: fails(protocol.RuleContinue), end: done, calls: 2},

	{event: "agent-end", what: "continue", hook: goOn("again"), end: done, reads: `user: "again"`, calls: 3},
	{event: "agent-end", what: "context dropped", hook: say("ctx"), end: done, lacks: "ctx", calls: 2},
	{event: "agent-end", what: "rule stop", hook: fails(protocol.RuleStop), end: done, calls: 2},
	{event: "agent-end", what: "block fails", hook: block("no"), end: done, lacks: "no", calls: 2},

	{event: "tool-call-error", what: "stop", broken: true, hook: stop(), end: stopped, holds: `error=true "no echo here"`, calls: 1},
	{event: "tool-call-error", what: "block fails", broken: true, hook: block("no"), end: done, reads: `error=true "no echo here"`, calls: 2},
	{event: "tool-call-error", what: "change", broken: true, hook: modify(`{"error":{"text":"ask the user"}}`), end: done, reads: `error=true "ask the user"`, lacks: "no echo here", holds: "ask the user", calls: 2},
	{event: "tool-call-error", what: "a change of its kind fails", broken: true, hook: modify(`{"error":{"kind":"aborted"}}`), end: done, reads: `error=true "no echo here"`, calls: 2},
	{event: "tool-call-error", what: "context", broken: true, hook: say("ctx"), end: done, reads: `"no echo here\n[context from hook h]\nctx"`, calls: 2},
	{event: "tool-call-error", what: "callback fails", broken: true, hook: callback(), end: done, lacks: "[Summary", calls: 2},
	{event: "tool-call-error", what: "rule block", broken: true, hook: fails(protocol.RuleBlock), end: done, reads: `error=true "no echo here"`, lacks: "SECRET", calls: 2},
	{event: "tool-call-error", what: "rule stop", broken: true, hook: fails(protocol.RuleStop), end: failed, holds: `error=true "no echo here"`, lacks: "SECRET", calls: 1},

	{event: "agent-start", what: "rule stop", hook: fails(protocol.RuleStop), end: failed, ran: "-"},
	{event: "agent-start", what: "allow is none", hook: hook{reply: protocol.Reply{Action: protocol.Allow}}, end: done, calls: 2},
	{event: "agent-start", what: "continue fails", hook: goOn("more"), end: done, lacks: "more", calls: 2},
	{event: "step-start", what: "rule block", hook: fails(protocol.RuleBlock), end: failed, lacks: "SECRET", ran: "-"},
	{event: "inference-start", what: "rule block", hook: fails(protocol.RuleBlock), end: failed, lacks: "SECRET", ran: "-"},
	{event: "inference-start", what: "rule stop", hook: fails(protocol.RuleStop), end: failed, lacks: "SECRET", ran: "-"},
	{event: "inference-start", what: "callback fails", hook: callback(), end: done, lacks: "[Summary", calls: 2},
	{event: "inference-end", what: "ask fails", hook: ask(), end: done, calls: 2},
	{event: "inference-end", what: "rule stop", hook: fails(protocol.RuleStop), end: failed, lacks: "SECRET", ran: "-", calls: 1},
	{event: "inference-end", what: "rule continue", hook: fails(protocol.RuleContinue), end: done, lacks: "SECRET", calls: 2},
	{event: "tool-call-start", what: "allow is none", hook: hook{reply: protocol.Reply{Action: protocol.Allow}}, end: done, calls: 2},
	{event: "tool-call-start", what: "rule continue", hook: fails(protocol.RuleContinue), end: done, lacks: "SECRET", calls: 2},
	{event: "tool-call-end", what: "ask fails", hook: ask(), end: done, reads: `error=false "echo hi"`, calls: 2},
	{event: "tool-call-end", what: "rule continue", hook: fails(protocol.RuleContinue), end: done, reads: `error=false "echo hi"`, lacks: "SECRET", calls: 2},
	{event: "step-stop", what: "ask fails", hook: ask(), end: done, calls: 2},
	{event: "agent-stop", what: "ask fails", hook: ask(), end: done, calls: 2},

	{event: "thinking-start", what: "stop fails", hook: stop(), end: done, calls: 2},
	{event: "thinking-end", what: "context dropped", hook: say("ctx"), end: done, lacks: "ctx", calls: 2},
	{event: "message-start", what: "block fails", hook: block("no"), end: done, calls: 2},
	{event: "message-end", what: "context dropped", hook: say("ctx"), end: done, lacks: "ctx", calls: 2},
}

const framedRead = `user: "[context from hook h]\nctx"`

func TestTable(t *testing.T) {
	for _, c := range cells {
		t.Run(string(c.event)+"/"+c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.run(t) })
		})
	}
}

func (c cell) run(t *testing.T) {
	c.hook.on = c.event
	s := newFakeLoop(t, twoSteps, []hook{c.hook})
	if c.broken {
		s.tool.run = func(context.Context, string) (protocol.Result, error) {
			return protocol.Result{}, errors.New("no echo here")
		}
	}
	s.prompt(t, t.Context(), "go!")
	if got := s.ending(); got != c.end {
		t.Errorf("the run ended with %s, want %s (%v)", got, c.end, s.err)
	}
	if wantErr := strings.HasPrefix(c.end, "agent-error"); (s.err != nil) != wantErr {
		t.Errorf("Wait returned %v", s.err)
	}
	sent := ""
	for i := range s.model.requests {
		sent += s.model.sent(i)
	}
	history := render(s.loop.agent.history.System(), s.loop.Messages())
	switch {
	case !strings.Contains(sent, c.reads) && !strings.Contains(sent, escaped(c.reads)):
		t.Errorf("the model never read %q:\n%s", c.reads, sent)
	case c.lacks != "" && strings.Contains(sent+history, c.lacks):
		t.Errorf("the model read %q:\n%s", c.lacks, sent)
	case !strings.Contains(history, c.holds):
		t.Errorf("the conversation lacks %q:\n%s", c.holds, history)
	case len(s.model.requests) != c.calls:
		t.Errorf("%d model calls, want %d", len(s.model.requests), c.calls)
	}
	want := []string{"hi"}
	switch c.ran {
	case "-":
		want = []string{}
	case "":
	default:
		want = []string{c.ran}
	}
	if got := s.tool.ran(); !slices.Equal(got, want) {
		t.Errorf("the tool was given %q, want %q", got, want)
	}
	if s.gate.count(c.event) == 0 {
		t.Errorf("%s was not fired", c.event)
	}
	c.lastEvents(t, s)
}

// TestNotification asserts that nothing a hook says to a notification has an
// effect, and that none follows from it.
func TestNotification(t *testing.T) {
	for name, h := range map[string]hook{"stop": stop(), "block": block("no"), "context": say("ctx"), "callback": callback(), "rule stop": fails(protocol.RuleStop)} {
		synctest.Test(t, func(t *testing.T) {
			lost := say("dropped")
			lost.on, lost.name, h.on = protocol.AgentStop, "other", protocol.Notification
			s := newFakeLoop(t, twoSteps, []hook{lost, h}).prompt(t, t.Context(), "go!")
			if n := s.gate.count(protocol.Notification); n != 1 || s.ending() != done || s.err != nil || len(s.model.requests) != 2 {
				t.Errorf("%s: %d notifications, ended with %s, %v", name, n, s.ending(), s.err)
			}
		})
	}
}

// TestSessionEnd asserts that the session ends once, whatever hooks say, and not if
// it never began.
func TestSessionEnd(t *testing.T) {
	for name, h := range map[string]hook{"stop": stop(), "block": block("no"), "context": say("ctx"), "rule stop": fails(protocol.RuleStop)} {
		synctest.Test(t, func(t *testing.T) {
			h.on = protocol.SessionEnd
			s := newFakeLoop(t, twoSteps, []hook{h})
			for _, want := range []int{1, 1} {
				if s.gate.count(protocol.SessionStart) == 0 {
					s.prompt(t, t.Context(), "go!")
				}
				if _, err := s.loop.Close(t.Context(), "exit"); err != nil || s.gate.count(protocol.SessionEnd) != want {
					t.Errorf("%s: %v, fired %v", name, err, s.gate.names())
				}
			}
			if got := fired[protocol.SessionEndData](t, s.gate, protocol.SessionEnd, 0).Reason; got != "exit" {
				t.Errorf("%s: reason %q", name, got)
			}
			if _, err := s.loop.Run(t.Context(), "more"); !errors.Is(err, ErrClosed) {
				t.Errorf("%s: a prompt after the end: %v", name, err)
			}
		})
	}
	s := newFakeLoop(t, twoSteps, nil)
	if _, err := s.loop.Close(t.Context(), "exit"); err != nil || len(s.gate.names()) > 0 {
		t.Errorf("a session that never began: %v, fired %v", err, s.gate.names())
	}
}

// lastEvents asserts that each run ends with exactly one of agent-end and
// agent-error.
func (c cell) lastEvents(t *testing.T, s *fakeLoop) {
	runs := s.gate.count(protocol.PromptSubmit)
	if runs == 0 {
		runs = 1 // refused at session-start
	}
	if got := s.gate.count(protocol.AgentEnd, protocol.AgentError); got != runs {
		t.Errorf("%d runs ended %d times: %v", runs, got, s.gate.names())
	}
}

// TestTableIsWhole asserts that each event of the protocol has cells, here or in
// the table of what fires it.
func TestTableIsWhole(t *testing.T) {
	have := map[protocol.EventName]string{
		protocol.PermissionRequest: "TestPermission", protocol.SessionEnd: "TestSessionEnd", protocol.Notification: "TestNotification", protocol.AgentError: "TestModelFailures",
		protocol.CompactStart: "TestCompactionTable", protocol.CompactEnd: "TestCompactionTable",
		protocol.SubagentStart: "TestSubAgentTable", protocol.SubagentStop: "TestSubAgentTable",
	}
	for _, c := range cells {
		have[c.event] = "TestTable"
	}
	for _, spec := range protocol.Table {
		if have[spec.Name] == "" {
			t.Errorf("%s has no cell", spec.Name)
		}
	}
}

// escaped is a text with its newlines as %q shows them.
func escaped(text string) string { return strings.ReplaceAll(text, "\n", `\n`) }
