package chat

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/protocol"
)

// TestAShellCommandOfThePerson asserts that a line with an exclamation mark is no turn: it
// waits for one that runs, what it prints is shown, and no hook hears that the agent is done.
func TestAShellCommandOfThePerson(t *testing.T) {
	s := newScene(t, 80).press("!")
	s.shows("----\n› !\na shell command of yours: hooks judge it, the model reads it")
	s.press("enter", "go", "enter", "! make test ", "enter")
	s.wants(promptEffect{"go", "user"})
	s.tell(endedMsg{result: agentloop.Result{StopReason: "done"}})
	s.wants(shellEffect{"make test"})
	s.up.Reset()
	call := bashCall("c1", "make test")
	call.Source = "user"
	s.tell(event(t, protocol.ToolCallStart, protocol.ToolCallStartData{Call: call}, protocol.Outcome{}))
	s.shows("----\n… ! make test 0s\n⠋ working 0s, esc aborts\n›")
	var output strings.Builder
	for i := range 50 {
		fmt.Fprintf(&output, "line %d \x1b[2J\n", i)
	}
	exit := 2
	s.tell(event(t, protocol.ToolCallEnd, protocol.ToolCallEndData{Call: call, Result: protocol.Result{Content: protocol.TextContent(output.String()), IsError: true, ExitCode: &exit}}, protocol.Outcome{}))
	for _, e := range s.screen.update(endedMsg{result: agentloop.Result{StopReason: "done"}}) {
		if _, idle := e.(idleEffect); idle {
			t.Error("hooks hear that the agent is done")
		}
	}
	up := s.up.String()
	if want := "✗ ! make test · exit code 2, 0.0ms  #1\n    │ line 0 \\x1b[2J\n"; !strings.HasPrefix(up, want) || !strings.HasSuffix(up, "│ line 39 \\x1b[2J\n    … 10 lines more: /show 1\n") {
		t.Errorf("shown:\n%s", up)
	}
	s.up.Reset()
	guard := "guard.sh"
	s.press("!rm -rf /", "enter").tell(event(t, protocol.ToolCallStart, protocol.ToolCallStartData{Call: call}, protocol.Outcome{Action: protocol.Block, By: &guard, Reason: "too dangerous"}))
	s.tell(event(t, protocol.ToolCallError, protocol.ToolCallErrorData{Call: call, Error: protocol.CallError{Kind: protocol.CallBlocked, Text: "too dangerous"}, BlockedBy: &guard}, protocol.Outcome{}), endedMsg{})
	s.shows("✗ ! make test · not run  #2\n    ✗ blocked by guard.sh: too dangerous\n----\n›")
}

// TestAFullLineLosesNothing asserts that no line that goes up fills the last column: the
// terminal is told to erase the rest of each line, which takes the last character of a full
// one.
func TestAFullLineLosesNothing(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		for _, length := range []int{width - 1, width, width + 1, 2 * width, 3*width - 1} {
			s := newScene(t, width)
			s.tell(tea.WindowSizeMsg{Width: width, Height: 24}, noteMsg(strings.Repeat("x", length-1)+"y"))
			for line := range strings.SplitSeq(strings.TrimSuffix(s.up.String(), "\n"), "\n") {
				if len(line)%width == 0 {
					t.Errorf("a line of %d columns in %d", len(line), width)
				}
			}
			if got := strings.ReplaceAll(s.up.String(), "\n", ""); len(got) != length || !strings.HasSuffix(got, "y") {
				t.Errorf("%d columns: %d of %d characters", width, len(got), length)
			}
		}
	}
}
