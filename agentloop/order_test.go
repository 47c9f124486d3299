package agentloop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

func TestNewNeedsAModelAndAGateThatTakesHooks(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("without a model: no error")
	}
	plain := protocol.GateFunc(func(_ context.Context, e protocol.Event) (protocol.Outcome, error) { return protocol.Outcome{}, nil })
	scripted, _ := model.Parse("script.yaml", []byte(twoSteps))
	if _, err := New(Options{Gate: plain, Model: scripted}); err == nil || !strings.Contains(err.Error(), "set Options.NoDefaults") {
		t.Errorf("a gate that no limit can join: %v", err)
	}
	if _, err := New(Options{Gate: plain, Model: scripted, NoDefaults: true}); err != nil {
		t.Errorf("the same gate without providers: %v", err)
	}
}

// TestOrder is the skeleton: every event at its place, once, in order, and
// shown in the same order after it was decided.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeLoop(t, "turns:\n- thinking: hm\n  text: first\n  toolCalls: [{id: c1, name: echo, args: {text: hi}}]\n- text: last\n", nil)
		s.prompt(t, t.Context(), "go!")
		want := []string{
			"session-start", "prompt-submit", "agent-start",
			"step-start", "inference-start", "thinking-start", "thinking-end", "message-start", "message-end", "inference-end",
			"tool-call-start", "tool-call-end", "step-stop",
			"step-start", "inference-start", "message-start", "message-end", "inference-end", "step-stop",
			"agent-stop", "agent-end",
		}
		if diff := cmp.Diff(want, s.gate.names()); diff != "" {
			t.Errorf("fired (-want +got):\n%s", diff)
		}
		var shown []string
		for _, u := range s.updates {
			if u.Kind == UpdateEvent {
				shown = append(shown, string(u.Event.Event))
			}
		}
		if diff := cmp.Diff(want, shown); diff != "" {
			t.Errorf("shown (-want +got):\n%s", diff)
		}
		if _, err := s.loop.Close(t.Context(), "exit"); err != nil {
			t.Error(err)
		}
		if last := s.gate.names()[len(want):]; !slices.Equal(last, []string{"session-end"}) {
			t.Errorf("Close fired %v", last)
		}
		if _, err := s.loop.Run(t.Context(), "more"); !errors.Is(err, ErrClosed) {
			t.Errorf("Run after Close: %v", err)
		}
	})
}

func TestCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeLoop(t, twoSteps, nil).prompt(t, t.Context(), "one")
		s.prompt(t, t.Context(), "two")
		type counted struct {
			Event      string
			Turn, Step int
			Input      any
		}
		var got []counted
		for _, e := range s.gate.fired {
			if slices.Contains([]protocol.EventName{protocol.PromptSubmit, protocol.InferenceStart, protocol.InferenceEnd, protocol.StepStop}, e.Event) {
				c := counted{string(e.Event), e.Turn, e.Step, nil}
				if e.Usage.InputTokens != nil {
					c.Input = *e.Usage.InputTokens
				}
				got = append(got, c)
			}
		}
		want := []counted{
			{"prompt-submit", 0, 0, nil},
			{"inference-start", 1, 0, nil}, {"inference-end", 1, 1, int64(10)}, {"step-stop", 1, 1, int64(10)},
			{"inference-start", 1, 1, int64(10)}, {"inference-end", 1, 2, int64(30)}, {"step-stop", 1, 2, int64(30)},
			{"prompt-submit", 1, 0, nil},                                                           // the usage of a run begins anew
			{"inference-start", 2, 0, nil}, {"inference-end", 2, 1, nil}, {"step-stop", 2, 1, nil}, // unknown is null
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if start := fired[protocol.StepStartData](t, s.gate, protocol.StepStart, 1); *start.StepsLeft != 19 {
			t.Errorf("%d steps left at the second step", *start.StepsLeft)
		}
		if n := s.gate.count(protocol.SessionStart); n != 1 {
			t.Errorf("session-start fired %d times", n)
		}
	})
}
