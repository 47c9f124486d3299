package agentloop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// call runs a call of the person to its end.
func (s *fakeLoop) call(t *testing.T, ctx context.Context, name, args string) (Result, error) {
	t.Helper()
	run, err := s.loop.RunCall(ctx, name, protocol.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	for u := range run.Events() {
		s.updates = append(s.updates, u)
	}
	err = run.Wait()
	return run.Result(), err
}

// TestCallOfThePerson asserts that a call which a person makes is judged like the model's,
// that the loop asks about none, and what of it the model reads with the next prompt.
func TestCallOfThePerson(t *testing.T) {
	at := func(on protocol.EventName, reply protocol.Reply) []hook { return []hook{{on: on, reply: reply}} }
	start, end := protocol.ToolCallStart, protocol.ToolCallEnd
	no, yes := &fakePerson{option: "reject"}, &fakePerson{option: "allow"}
	for name, c := range map[string]struct {
		hooks  []hook
		person *fakePerson
		tool   func(context.Context, string) (protocol.Result, error)
		ran    bool
		asked  int
		reads  string // "" for nothing
		unread string
	}{
		"plain":             {nil, no, nil, true, 0, "echo hi", ""},
		"blocked":           {at(start, protocol.Reply{Action: protocol.Block, Reason: "house rule"}), yes, nil, false, 0, "", "text"},
		"stopped":           {at(start, protocol.Reply{Action: protocol.Stop, Reason: "house rule"}), yes, nil, false, 0, "", "text"},
		"asked, no":         {at(start, protocol.Reply{Action: protocol.Ask}), no, nil, false, 1, "", "text"},
		"asked, yes":        {at(start, protocol.Reply{Action: protocol.Ask}), yes, nil, true, 1, "echo hi", ""},
		"asked, nobody":     {at(start, protocol.Reply{Action: protocol.Ask}), nil, nil, false, 0, "", "text"},
		"args changed":      {at(start, protocol.Reply{Changes: raw(`{"args":{"text":"ho"}}`)}), no, nil, true, 0, `{\"text\":\"ho\"}`, "hi"},
		"replaced":          {at(start, protocol.Reply{Action: protocol.Modify, Result: raw(`{"content":"42","isError":false}`)}), no, nil, false, 0, "42", "echo hi"},
		"result changed":    {at(end, protocol.Reply{Changes: raw(`{"result":{"content":"gone"}}`)}), no, nil, true, 0, "gone", "echo hi"},
		"result withheld":   {at(end, protocol.Reply{Action: protocol.Block, Reason: "a secret"}), no, nil, true, 0, "a secret", "echo hi"},
		"context of a hook": {at(end, protocol.Reply{Context: "mind the step"}), no, nil, true, 0, "mind the step", ""},
		"the tool fails": {nil, no, func(context.Context, string) (protocol.Result, error) {
			return protocol.Result{}, errors.New("disk on fire")
		}, true, 0, "disk on fire", ""},
		"exit code": {nil, no, func(context.Context, string) (protocol.Result, error) {
			code := 3
			return protocol.Result{Content: protocol.TextContent("oh"), IsError: true, ExitCode: &code}, nil
		}, true, 0, "[exit code 3]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeLoop(t, "turns:\n- text: final\n", c.hooks, func(o *Options) {
					o.Consent.Asks = func(*protocol.Call) (bool, *protocol.Answered) { return true, nil }
					if c.person != nil {
						c.person.asked = nil
						o.Approver = c.person
					}
				})
				s.tool.run = c.tool
				if result, err := s.call(t, t.Context(), "echo", `{"text":"hi"}`); err != nil || result.StopReason != "done" {
					t.Errorf("%+v, %v", result, err)
				}
				if got := len(s.tool.ran()) > 0; got != c.ran {
					t.Errorf("ran: %v", got)
				}
				if c.person != nil && len(c.person.asked) != c.asked {
					t.Errorf("the person was asked %d times", len(c.person.asked))
				}
				if got := fired[protocol.ToolCallStartData](t, s.gate, start, 0); got.Source != "user" {
					t.Errorf("the source is %q", got.Source)
				}
				before := s.gate.names()
				if before[0] != string(protocol.SessionStart) || slices.Contains(before, string(protocol.AgentStart)) {
					t.Errorf("fired %s", before)
				}
				s.prompt(t, t.Context(), "go!")
				if n := s.gate.count(protocol.SessionStart); n != 1 {
					t.Errorf("the session began %d times", n)
				}
				sent := s.model.sent(0)
				if c.reads != "" && (!strings.Contains(sent, c.reads) || !strings.Contains(sent, "The user ran this with echo")) {
					t.Errorf("the model did not read %q:\n%s", c.reads, sent)
				}
				if c.reads == "" && strings.Contains(sent, "The user ran") || c.unread != "" && strings.Contains(sent, `"`+c.unread) {
					t.Errorf("the model read:\n%s", sent)
				}
			})
		})
	}
}

// TestCallOfThePersonIsRecordedAsTheirs asserts that the decided event says who allowed the
// call.
func TestCallOfThePersonIsRecordedAsTheirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeLoop(t, "turns:\n- text: final\n", nil)
		s.call(t, t.Context(), "echo", `{"text":"hi"}`)
		i := slices.IndexFunc(s.updates, func(u Update) bool { return u.Event.Event == protocol.ToolCallStart })
		if i < 0 || s.updates[i].Outcome.Answered == nil || s.updates[i].Outcome.Answered.By != protocol.ByPerson {
			t.Errorf("%+v", s.updates)
		}
	})
}

// TestCallOfThePersonAborted asserts that an abort ends the tool, and that the next prompt
// goes on.
func TestCallOfThePersonAborted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeLoop(t, "turns:\n- text: final\n", nil)
		s.tool.run = func(ctx context.Context, _ string) (protocol.Result, error) {
			<-ctx.Done()
			return protocol.Result{}, ctx.Err()
		}
		ctx, abort := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { abort(errors.New("enough")) })
		result, err := s.call(t, ctx, "echo", `{"text":"hi"}`)
		if result.StopReason != "aborted" || err == nil || err.Error() != "enough" {
			t.Errorf("%+v, %v", result, err)
		}
		s.prompt(t, t.Context(), "go!")
		if sent := s.model.sent(0); !strings.Contains(sent, "aborted: enough") {
			t.Errorf("the model read:\n%s", sent)
		}
	})
}

// TestCallOfThePersonInARefusedSession asserts that no command runs where no run may be.
func TestCallOfThePersonInARefusedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeLoop(t, "turns:\n- text: final\n", []hook{{on: protocol.SessionStart, reply: protocol.Reply{Action: protocol.Stop, Reason: "not here"}}})
		if _, err := s.call(t, t.Context(), "echo", `{"text":"hi"}`); err == nil || !strings.Contains(err.Error(), "not here") || len(s.tool.ran()) > 0 {
			t.Errorf("%v", err)
		}
	})
}

// TestCallOfThePersonCannotRun asserts that a tool that is not there and args that do not fit
// have a reason each, and that nothing joins the conversation.
func TestCallOfThePersonCannotRun(t *testing.T) {
	for name, c := range map[string]struct {
		tool, args string
		hooks      []hook
		says       string
	}{
		"no such tool": {"bash", `{"command":"ls"}`, nil, `there is no tool named \"bash\"`},
		"bad args":     {"echo", `{"text":3}`, nil, "do not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeLoop(t, "turns:\n- text: final\n", c.hooks)
				if _, err := s.call(t, t.Context(), c.tool, c.args); err != nil {
					t.Error(err)
				}
				if got := string(s.gate.fired[len(s.gate.fired)-1].Data); !strings.Contains(got, c.says) {
					t.Errorf("it does not say %q: %s", c.says, got)
				}
				if n := len(s.loop.Messages()); n > 0 || len(s.tool.ran()) > 0 {
					t.Errorf("%d messages", n)
				}
			})
		})
	}
}
