package chat

import (
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/protocol"
)

func used(in, out, context, most int64, usd float64) protocol.RunUsage {
	return protocol.RunUsage{InputTokens: &in, OutputTokens: &out, ContextTokens: &context, ContextMax: &most, CostUSD: &usd}
}

// TestStatusLineAddsTurnsUp asserts that the status line shows the whole conversation while
// a turn runs and after it, once each, and nothing that no model told.
func TestStatusLineAddsTurnsUp(t *testing.T) {
	for _, width := range []int{80, 120} {
		s := newScene(t, width).press("one", "enter")
		s.took()
		if got := s.frame(); strings.Contains(got, "context") || strings.Contains(got, "$") {
			t.Errorf("shown although nothing is known:\n%s", got)
		}
		s.press("/cost", "enter")
		if got := s.frame(); !strings.Contains(got, "the model has not told what it used") {
			t.Errorf("/cost without figures:\n%s", got)
		}
		step := event(t, protocol.InferenceEnd, protocol.InferenceEndData{}, protocol.Outcome{})
		step.Event.Usage = used(900, 100, 1000, 200000, 0.005)
		s.tell(step)
		nested := step
		nested.Event.Agent.Depth, nested.Event.Usage = 1, used(1, 1, 7, 200000, 0.001)
		s.tell(nested)
		if got := s.frame(); !strings.HasSuffix(got, "context 0% of 200k · 900 in, 100 out · $0.0050") {
			t.Errorf("while the turn runs:\n%s", got)
		}
		s.tell(endedMsg{result: agentloop.Result{StopReason: "done", Usage: used(12000, 400, 50000, 200000, 0.5)}})
		s.press("two", "enter").tell(step, endedMsg{result: agentloop.Result{StopReason: "done", Usage: used(900, 100, 60000, 200000, 0.25)}})
		const sum = "context 30% of 200k · 12k in, 500 out · $0.75"
		if got := s.frame(); !strings.HasSuffix(got, "\n"+sum) {
			t.Errorf("after two turns:\n%s", got)
		}
		s.press("/cost", "enter")
		if got := s.up.String(); !strings.HasSuffix(got, "since hookd began: "+sum+"\n") {
			t.Errorf("/cost:\n%s", got)
		}
	}
}

// TestSlowHookIsNamed asserts that the line of a turn names the hook that it waits for.
func TestSlowHookIsNamed(t *testing.T) {
	s := newScene(t, 80)
	s.screen.hookAtWork = func() (string, time.Time) { return "slow\x1b[2J.sh", s.at.Add(-2 * time.Second) }
	s.press("go", "enter")
	if got := s.frame(); !strings.Contains(got, `working 0s, esc aborts · waiting for slow\x1b[2J.sh, 2s`) {
		t.Errorf("the frame:\n%s", got)
	}
}

// TestRecipeRunsByItsName asserts that /NAME of a recipe runs it, between turns only, and
// that a command counts before a recipe of the same name.
func TestRecipeRunsByItsName(t *testing.T) {
	s := newScene(t, 80)
	s.screen.talk.isRecipe = func(name string) bool { return name == "review" || name == "help" }
	s.press("/review  since=main ", "enter")
	s.wants(recipeEffect{"review", "since=main"})
	s.press("/review again", "enter")
	s.wants()
	if !strings.Contains(s.frame(), "/review works only between turns") {
		t.Errorf("during a turn:\n%s", s.frame())
	}
	s.tell(endedMsg{})
	s.press("/help", "enter")
	s.wants(commandEffect{"help", ""})
}
