package agentloop

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/protocol"
)

func opened(t *testing.T, session *store.Session, err error) *store.Session {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// TestResume asserts that a session goes on as it was left: same conversation,
// same system text, numbers from 1 on of a later opening, and the same events around each call (H35).
func TestResume(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		session, err := store.Create(folder, "s1", store.Header{})
		session = opened(t, session, err)
		begin := hook{on: protocol.SessionStart, reply: protocol.Reply{Context: "house rules"}}
		s := newFakeLoop(t, twoSteps, []hook{begin}, func(o *Options) { o.Session = session }).prompt(t, t.Context(), "one")
		first := render(s.loop.agent.history.System(), s.loop.Messages())
		opening := s.gate.fired[0].Epoch
		if _, err := s.loop.Close(t.Context(), "exit"); err != nil {
			t.Fatal(err)
		}
		session.Close()

		time.Sleep(time.Millisecond) // the test's clock would stand still
		session, err = store.Open(folder, "s1")
		session = opened(t, session, err)
		again := newFakeLoop(t, twoSteps, []hook{begin}, func(o *Options) { o.Session = session })
		if diff := cmp.Diff(first, render(again.loop.agent.history.System(), again.loop.Messages())); diff != "" {
			t.Errorf("the conversation changed (-before +after):\n%s", diff)
		}
		again.promptResumed(t, 1)
		if later := again.gate.fired[0].Epoch; opening == 0 || later <= opening {
			t.Errorf("opening %d after %d", later, opening)
		}
		if got := fired[protocol.SessionStartData](t, again.gate, protocol.SessionStart, 0).Source; got != "resume" {
			t.Errorf("source %s", got)
		}
		if n := strings.Count(again.loop.agent.history.System(), "house rules"); n != 1 {
			t.Errorf("the hook's context is in the system text %d times", n)
		}
		if e := again.gate.fired[len(again.gate.fired)-1]; e.Turn != 2 || e.Session.ID != "s1" || !filepath.IsAbs(e.Session.Transcript) {
			t.Errorf("turn %d, session %+v", e.Turn, e.Session)
		}
		checkEvents(t, again.gate.fired)
	})
}

// promptResumed runs a prompt whose first event must have the given number.
func (s *fakeLoop) promptResumed(t *testing.T, first int64) {
	t.Helper()
	run, err := s.loop.Run(t.Context(), "two")
	if err != nil {
		t.Fatal(err)
	}
	for range run.Events() {
	}
	if err := run.Wait(); err != nil {
		t.Error(err)
	}
	if got := *s.gate.fired[0].Seq; got != first {
		t.Errorf("the first event has number %d, want %d", got, first)
	}
	CheckPaired(t, s.loop.Messages())
}

// TestResumeAfterACrash asserts that calls a crash left open get a result, and
// that numbers begin anew as after any other end.
func TestResumeAfterACrash(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		session, err := store.Create(folder, "s1", store.Header{})
		session = opened(t, session, err)
		s := newFakeLoop(t, twoSteps, nil, func(o *Options) { o.Session = session }).prompt(t, t.Context(), "one")
		session.Close()
		// The crash: the file ends after the answer that asks for a tool.
		path := filepath.Join(folder, "s1.jsonl")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(data), "\n")
		for i, line := range lines {
			if strings.Contains(line, `"toolCall"`) {
				torn := strings.Join(lines[:i+1], "") + lines[i+1][:10]
				if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		time.Sleep(time.Millisecond)
		session, err = store.Open(folder, "s1")
		session = opened(t, session, err)
		again := newFakeLoop(t, twoSteps, nil, func(o *Options) { o.Session = session })
		again.promptResumed(t, 1)
		if before, after := s.gate.fired[0].Epoch, again.gate.fired[0].Epoch; after <= before {
			t.Errorf("opening %d after %d", after, before)
		}
		if sent := again.model.sent(0); !strings.Contains(sent, "no result was kept") {
			t.Errorf("the model read:\n%s", sent)
		}
	})
}

// TestStoredIsWhatTheModelReads asserts that hooks' changes are kept: a session
// that is resumed holds what the model read.
func TestStoredIsWhatTheModelReads(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		session, err := store.Create(folder, "s1", store.Header{})
		session = opened(t, session, err)
		hooks := []hook{
			{on: protocol.AgentStart, times: 1, reply: protocol.Reply{Changes: raw(`{"system":"be bad","tools":[]}`)}},
			{on: protocol.StepStart, times: 1, reply: protocol.Reply{Changes: raw("%s", newMessage), Context: "ctx"}},
			{on: protocol.InferenceEnd, times: 1, reply: protocol.Reply{Changes: raw(`{"message":{"role":"assistant","content":"tamed"}}`)}},
		}
		s := newFakeLoop(t, twoSteps, hooks, func(o *Options) { o.Session = session }).prompt(t, t.Context(), "one")
		session.Close()
		session, err = store.Open(folder, "s1")
		session = opened(t, session, err)
		state := session.State()
		if diff := cmp.Diff(s.loop.Messages(), state.Messages); diff != "" {
			t.Errorf("messages (-loop +file):\n%s", diff)
		}
		if state.System == nil || *state.System != "be bad" || state.Tools == nil || len(state.Tools) != 0 {
			t.Errorf("system %v, tools %v", state.System, state.Tools)
		}
		for _, m := range state.Messages {
			for _, p := range m.Content {
				if strings.Contains(p.Text, "ctx") && (p.Hook != "h" || p.Layer != protocol.Project) {
					t.Errorf("the context does not say whose it is: %+v", p)
				}
			}
		}
	})
}

// TestAFileThatCannotBeWrittenEndsTheRun asserts that no model reads on when
// nothing is kept any more.
func TestAFileThatCannotBeWrittenEndsTheRun(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		session, err := store.Create(folder, "s1", store.Header{})
		session = opened(t, session, err)
		closing := hook{on: protocol.InferenceEnd, dynamic: func(protocol.Event) protocol.Reply {
			session.Close()
			return protocol.Reply{}
		}}
		s := newFakeLoop(t, twoSteps, []hook{closing}, func(o *Options) { o.Session = session }).prompt(t, t.Context(), "one")
		var e *Error
		if !errors.As(s.err, &e) || e.Cause != "internal" || s.ending() != "agent-error internal" {
			t.Errorf("%s: %v", s.ending(), s.err)
		}
		if len(s.tool.ran()) > 0 {
			t.Error("the tool ran")
		}
	})
}

// TestADamagedSessionIsNotResumed asserts that what no model could read, or no run
// can have left, is told with its line, and that nothing of the file changes.
func TestADamagedSessionIsNotResumed(t *testing.T) {
	const header = `{"kind":"session","v":1,"id":"s1","created":"2026-11-27T20:54:00Z","project":""}` + "\n"
	user := func(text string) string {
		return `{"kind":"message","message":{"id":"` + text + `","role":"user","content":"` + text + `"}}` + "\n"
	}
	call := `{"kind":"message","message":{"id":"c","role":"assistant","content":[{"type":"toolCall","toolCallId":"c1","name":"echo","args":{}}]}}` + "\n"
	result := `{"kind":"message","message":{"id":"r","role":"tool","content":[{"type":"toolResult","toolCallId":"c1","content":"x"}]}}` + "\n"
	for name, c := range map[string]struct {
		lines, want string
		line        int
	}{
		"result without a call":       {user("a") + result, `the result of the tool call "c1" has no call of its own`, 3},
		"open call in the middle":     {user("a") + call + user("b"), `the tool call "c1" has no result`, 3},
		"call twice":                  {user("a") + call + result + call, `the tool call "c1" is there twice`, 5},
		"two results":                 {user("a") + call + result + result, `the result of the tool call "c1" has no call of its own`, 5},
		"in a replaced conversation":  {user("a") + `{"kind":"conversation","messages":[{"id":"r","role":"tool","content":[{"type":"toolResult","toolCallId":"c1","content":"x"}]}]}` + "\n" + user("b"), "has no call of its own", 3},
		"replaced and therefore well": {user("a") + result + `{"kind":"conversation","messages":[{"id":"m","role":"user","content":"x"}]}` + "\n", "", 0},
		"what a crash leaves":         {user("a") + call, "", 0},
		"high but good numbers":       {`{"kind":"reserve","seq":9007199254740991}` + "\n" + `{"kind":"message","turn":9007199254740991,"message":{"id":"m","role":"user","content":"x"}}` + "\n", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "s1.jsonl")
			if err := os.WriteFile(path, []byte(header+c.lines), 0o600); err != nil {
				t.Fatal(err)
			}
			scripted, err := model.Parse("script.yaml", []byte(twoSteps))
			if err != nil {
				t.Fatal(err)
			}
			session, err := store.Open(folder, "s1")
			session = opened(t, session, err)
			_, err = New(Options{Gate: &fakeGate{}, Model: scripted, Session: session})
			if c.want == "" {
				if err != nil {
					t.Errorf("it was not resumed: %v", err)
				}
				return
			}
			var damage *store.DamageError
			if !errors.As(err, &damage) || damage.Line != c.line || damage.Path != path || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v (%+v), want line %d: %s", err, damage, c.line, c.want)
			}
			if after, _ := os.ReadFile(path); string(after) != header+c.lines {
				t.Error("the file was changed")
			}
		})
	}
}
