package chat

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/question"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

const canary = "touch CANARY"

var yesNo = []protocol.PermissionOption{
	{OptionID: "yes", Name: "Allow", Kind: "allow-once"}, {OptionID: "no", Name: "Reject", Kind: "reject-once"},
}

// tails are calls whose end is what matters, after text that could push it out of sight.
func tails(t *testing.T) map[string]protocol.Call {
	call := func(name string, kind protocol.ToolKind, args map[string]any) protocol.Call {
		encoded, err := protocol.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		return protocol.Call{ToolCallID: "c", Name: name, Kind: kind, Args: encoded}
	}
	bash := func(command string) protocol.Call {
		return call("bash", protocol.KindShell, map[string]any{"command": command})
	}
	calls := map[string]protocol.Call{
		"characters":    bash("echo '" + strings.Repeat("x", 4000) + "' && " + canary),
		"blanks":        bash("true" + strings.Repeat(" ", 5000) + "; " + canary),
		"tabs":          bash("true" + strings.Repeat("\t", 5000) + "; " + canary),
		"no-break":      bash("true" + strings.Repeat("\u00a0", 500) + "; " + canary),
		"empty lines":   bash("true" + strings.Repeat("\n", 5000) + canary),
		"lines":         bash(strings.Repeat("true\n", 500) + canary),
		"return":        bash("true; " + canary + "\rtrue" + strings.Repeat(" ", 30)),
		"erase":         bash("true; " + canary + "\x1b[2K\x1b[1Gtrue"),
		"right to left": bash("true; \u202e" + canary + "\u202c"),
		"zero width":    bash("true; \u200b\u2060" + canary),
		"wide":          bash(strings.Repeat("漢", 3000) + "; " + canary),
		"combining":     bash("true; a" + strings.Repeat("\u0301", 3000) + canary),
		"file":          call("write_file", protocol.KindWrite, map[string]any{"path": "a.sh", "content": strings.Repeat("x", 1500) + canary}),
		"file, lines":   call("write_file", protocol.KindWrite, map[string]any{"path": "a.sh", "content": strings.Repeat("# x\n", 1500) + canary + "\n"}),
		"edit":          call("edit_file", protocol.KindWrite, map[string]any{"path": "a.sh", "oldText": strings.Repeat("x\n", 900), "newText": strings.Repeat("x\n", 900) + canary}),
		"path":          call("write_file", protocol.KindWrite, map[string]any{"path": strings.Repeat("a/", 500) + canary, "content": ""}),
		"pictures":      bash("true " + strings.Repeat("\u00a9\ufe0f", 500) + "; " + canary),
		"name":          call("mcp__s__"+strings.Repeat("read_", 200)+canary, protocol.KindMCP, map[string]any{}),
		"mcp":           call("mcp__s__run", protocol.KindMCP, map[string]any{"text": strings.Repeat("x", 3000), "then": canary}),
		"other member":  call("bash", protocol.KindShell, map[string]any{"command": "true", "env": strings.Repeat("x", 2000) + canary}),
		"no object":     {ToolCallID: "c", Name: "bash", Kind: protocol.KindShell, Args: []byte(`["` + strings.Repeat("x", 3000) + canary + `"]`)},
		"twice":         {ToolCallID: "c", Name: "bash", Kind: protocol.KindShell, Args: []byte(`{"command":"true","command":"` + strings.Repeat("x", 2000) + canary + `"}`)},
	}
	return calls
}

// unbroken is what a person reads in lines that were broken for the screen.
func unbroken(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if rest, goesOn := strings.CutPrefix(strings.TrimLeft(line, " │+-?"), "↪ "); goesOn {
			b.WriteString(rest)
			continue
		}
		b.WriteString("\n" + line)
	}
	return b.String()
}

// TestQuestionShowsAllThatRuns asserts that nothing is left out of a question, and that
// nothing in it reaches the terminal as a control character.
func TestQuestionShowsAllThatRuns(t *testing.T) {
	for name, call := range tails(t) {
		for _, width := range []int{0, 19, 20, 33, 79, 200} {
			q := agentloop.Question{Event: protocol.PermissionRequest, Call: &call, AskedBy: "policy", Options: yesNo}
			lines := question.Lines(&show.Printer{Width: width}, &q)
			if !strings.Contains(unbroken(lines), canary) {
				t.Errorf("%s, %d columns: %d lines without the end", name, width, len(lines))
			}
			for _, line := range lines {
				if strings.ContainsAny(line, "\x1b\r\u202e\u200b\u2060") {
					t.Errorf("%s: %q", name, line)
				}
				if width > 0 && show.Width(line) > width && !strings.Contains(line, " characters, ") && !strings.Contains(line, "… ") {
					t.Errorf("%s: a line of %d columns in %d", name, show.Width(line), width)
				}
			}
		}
	}
}

// TestChatTakesNoYesBeforeTheEnd asserts that a question which does not fit is shown part
// by part, that yes counts after the last one only, and no at any time.
func TestChatTakesNoYesBeforeTheEnd(t *testing.T) {
	for name, call := range tails(t) {
		for _, height := range []int{3, 8, 24, 60} {
			t.Run(fmt.Sprint(name, " ", height), func(t *testing.T) {
				reply := make(chan agentloop.Answer, 1)
				s := newScene(t, 60)
				s.tell(tea.WindowSizeMsg{Width: 60, Height: height})
				s.tell(askMsg{agentloop.Question{Event: protocol.PermissionRequest, Call: &call, AskedBy: "policy", Options: yesNo}, reply})
				var seen []string
				for range 10_000 {
					view := strings.Split(s.screen.view(), "\n")
					if len(view) > max(height, 3) {
						t.Fatalf("%d lines on a screen of %d", len(view), height)
					}
					a := s.screen.asked[0]
					seen = append(seen, a.lines[a.at:a.end()]...)
					s.at = s.at.Add(minShown)
					if a.end() == len(a.lines) {
						break
					}
					if s.press("y", "1", "a"); len(s.took()) > 0 {
						t.Fatalf("yes after %d of %d lines", a.end(), len(a.lines))
					}
					s.press(" ")
				}
				if !strings.Contains(unbroken(seen), canary) {
					t.Error("the end was not shown")
				}
				s.at = s.at.Add(minPause)
				s.press("y")
				if done := s.took(); len(done) != 1 || done[0].(answerEffect).answer.OptionID != "yes" {
					t.Errorf("yes after the end: %v", done)
				}
				s.tell(askMsg{agentloop.Question{Event: protocol.PermissionRequest, Call: &call, AskedBy: "policy", Options: yesNo}, reply})
				s.press("w", "use make", "enter")
				if done := s.took(); len(done) != 1 || done[0].(answerEffect).answer != (agentloop.Answer{OptionID: "no", Text: "use make"}) {
					t.Errorf("no with a reason: %v", done)
				}
			})
		}
	}
}

// A terminal that had a size and has none now shows nothing: no yes is taken, and no key
// goes on to parts that nobody sees. One that never had a size has a usual one.
func TestChatWithoutSizeAtAQuestion(t *testing.T) {
	call := tails(t)["lines"]
	asked := func(before, size tea.WindowSizeMsg) *scene {
		s := newScene(t, 60)
		s.tell(before, askMsg{agentloop.Question{Event: protocol.PermissionRequest, Call: &call, AskedBy: "policy", Options: yesNo}, make(chan agentloop.Answer, 1)})
		s.screen.view()
		s.tell(size)
		for range 60 {
			s.screen.view()
			s.at = s.at.Add(minShown)
			s.press(" ")
		}
		s.at = s.at.Add(minPause)
		return s
	}
	full := tea.WindowSizeMsg{Width: 60, Height: 20}
	for _, size := range []tea.WindowSizeMsg{{}, {Width: 60}, {Height: 20}, {Width: -1, Height: -1}} {
		s := asked(full, size)
		if s.press("y", "up", "enter"); len(s.took()) > 0 {
			t.Fatalf("%v: yes to what nobody sees", size)
		}
		s.tell(full)
		s.screen.view()
		s.at = s.at.Add(minPause)
		if s.press("y"); len(s.took()) > 0 {
			t.Errorf("%v: yes to parts that were not shown", size)
		}
		if s.press("n"); len(s.took()) != 1 {
			t.Errorf("%v: no is not taken", size)
		}
	}
	s := asked(tea.WindowSizeMsg{}, tea.WindowSizeMsg{})
	if s.press("y"); len(s.took()) != 1 {
		t.Error("a terminal that never knew its size takes no yes")
	}
}

// A terminal that changes its size begins the question anew.
func TestChatResizedAtAQuestion(t *testing.T) {
	call := tails(t)["lines"]
	s := newScene(t, 60)
	s.tell(tea.WindowSizeMsg{Width: 60, Height: 600})
	s.tell(askMsg{agentloop.Question{Event: protocol.PermissionRequest, Call: &call, AskedBy: "policy", Options: yesNo}, make(chan agentloop.Answer, 1)})
	s.screen.view()
	s.at = s.at.Add(minShown)
	s.tell(tea.WindowSizeMsg{Width: 60, Height: 20})
	s.screen.view()
	if s.press("y"); len(s.took()) > 0 {
		t.Error("yes to what the new size does not show")
	}
}

// What a terminal has no room for was seen by nobody: no yes counts there.
func TestTinyTerminalTakesNoYes(t *testing.T) {
	call := tails(t)["characters"]
	for _, size := range []tea.WindowSizeMsg{{Width: 10, Height: 24}, {Width: 80, Height: 1}, {Width: 80, Height: 2}, {Width: 1, Height: 1}} {
		reply := make(chan agentloop.Answer, 1)
		s := newScene(t, 60)
		s.tell(tea.WindowSizeMsg{Width: 60, Height: 600})
		s.tell(askMsg{agentloop.Question{Event: protocol.PermissionRequest, Call: &call, AskedBy: "policy", Options: yesNo}, reply})
		s.tell(size)
		for range 1000 {
			s.screen.view()
			s.at = s.at.Add(minShown)
			s.press("y", "1", " ")
		}
		s.press("up", "enter")
		if done := s.took(); len(done) > 0 {
			t.Fatalf("%v: %v", size, done)
		}
		if lines := strings.Split(s.screen.view(), "\n"); len(lines) > size.Height {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		if s.press("n"); len(s.took()) != 1 {
			t.Errorf("%v: no is not taken", size)
		}
	}
}

// What the person writes with a refusal is seen as it is written: the end of a long reason, in
// one line.
func TestTheEndOfAReasonIsSeen(t *testing.T) {
	call := tails(t)["lines"]
	for _, width := range []int{20, 40, 80, 120} {
		s := newScene(t, width)
		s.tell(tea.WindowSizeMsg{Width: width, Height: 20}, askMsg{agentloop.Question{Event: protocol.PermissionRequest, Call: &call, AskedBy: "policy", Options: yesNo}, make(chan agentloop.Answer, 1)})
		s.press("w", strings.Repeat("because it is not to be ", 10), "END")
		lines := strings.Split(s.screen.view(), "\n")
		if last := lines[len(lines)-1]; !strings.HasSuffix(last, "END▏") || show.Width(last) > width {
			t.Errorf("%d columns: %q", width, last)
		}
	}
}
