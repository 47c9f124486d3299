package agentloop

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hookd-dev/hookd/protocol"
)

// TestAnswerIsPending asserts that no text is shown that a hook may still refuse.
func TestAnswerIsPending(t *testing.T) {
	streams := "turns:\n- thinking: SECRET thought\n  text: the SECRET answer\n  chunk: 3\n  chunkDelay: 1s\n"
	for name, c := range map[string]struct {
		holds          bool
		hook           hook
		secret         bool   // is shown
		text           string // all deltas of the answer together
		beforeDecision bool   // deltas come before inference-end was decided
	}{
		"free":              {false, hook{on: protocol.Notification}, true, "the SECRET answer", true},
		"held, passed":      {true, hook{on: protocol.Notification}, true, "the SECRET answer", false},
		"held, blocked":     {true, block("no"), false, "", false},
		"held, stopped":     {true, stop(), false, "", false},
		"held, could not":   {true, fails(protocol.RuleBlock), false, "", false},
		"held, changed":     {true, modify(`{"message":{"role":"assistant","content":"tamed"}}`), false, "tamed", false},
		"held, model fails": {true, hook{on: protocol.Notification}, false, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := streams
				if name == "held, model fails" {
					script = "turns:\n- text: the SECRET answer\n  fail: overloaded\n"
				}
				if c.hook.on == "" {
					c.hook.on = protocol.InferenceEnd
				}
				s := newFakeLoop(t, script, []hook{c.hook})
				s.gate.holds = c.holds
				var decided atomic.Bool
				s.gate.after = func(_ int, e protocol.Event) {
					if e.Event == protocol.InferenceEnd {
						decided.Store(true)
					}
				}
				early := false
				run, _ := s.loop.Run(t.Context(), "go!")
				text := ""
				for u := range run.Events() {
					s.updates = append(s.updates, u)
					if u.Kind == UpdateDelta {
						early = early || !decided.Load()
						if !u.Delta.Thinking {
							text += u.Delta.Text
						}
					}
				}
				run.Wait()
				if text != c.text {
					t.Errorf("the deltas are %q, want %q", text, c.text)
				}
				if got := strings.Contains(s.shown(), "SECRET"); got != c.secret {
					t.Errorf("shown: %v\n%s", got, s.shown())
				}
				if early != c.beforeDecision {
					t.Errorf("deltas before the decision: %v", early)
				}
			})
		})
	}
}

func TestWithheldResultIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := block("withheld")
		h.on = protocol.ToolCallEnd
		s := newFakeLoop(t, twoSteps, []hook{h}).prompt(t, t.Context(), "go!")
		if strings.Contains(s.shown(), "echo hi") {
			t.Errorf("the result was shown:\n%s", s.shown())
		}
	})
}
