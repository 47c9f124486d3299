package chat

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/protocol"
)

// scene drives a chat without a terminal: up collects what it prints, done what
// else it wants.
type scene struct {
	t      *testing.T
	screen *screen
	at     time.Time
	up     strings.Builder
	done   []effect
}

func newScene(t *testing.T, width int) *scene {
	s := &scene{t: t, screen: newScreen(width, false), at: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)}
	s.screen.talk.now = func() time.Time { return s.at }
	return s
}

func (s *scene) tell(msgs ...any) *scene {
	s.t.Helper()
	for _, msg := range msgs {
		for _, e := range s.screen.update(msg) {
			if up, prints := e.(printEffect); prints {
				s.up.WriteString(string(up) + "\n")
				continue
			}
			if _, idle := e.(idleEffect); idle {
				continue // that the agent is done is told to hooks, not here
			}
			s.done = append(s.done, e)
		}
	}
	return s
}

var keys = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"tab": {Code: tea.KeyTab}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl},
	"ctrl+o": {Code: 'o', Mod: tea.ModCtrl}, "ctrl+j": {Code: 'j', Mod: tea.ModCtrl}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt},
}

// press presses named keys; any other text is typed.
func (s *scene) press(names ...string) *scene {
	s.t.Helper()
	for _, name := range names {
		if key, named := keys[name]; named {
			s.tell(key)
			continue
		}
		for _, r := range name {
			s.tell(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return s
}

// took are the effects since the last call.
func (s *scene) took() []effect {
	done := s.done
	s.done = nil
	return done
}

// frame is what the screen shows: what went up, then what stands below.
func (s *scene) frame() string {
	var lines []string
	for line := range strings.SplitSeq(s.up.String()+"----\n"+s.screen.view(), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

func (s *scene) shows(want string) {
	s.t.Helper()
	if diff := cmp.Diff(strings.Trim(want, "\n"), strings.TrimRight(s.frame(), "\n")); diff != "" {
		s.t.Errorf("the screen (-want +got):\n%s", diff)
	}
}

func (s *scene) wants(want ...effect) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.took(), cmp.AllowUnexported(promptEffect{}, commandEffect{}, recipeEffect{}, shellEffect{})); diff != "" {
		s.t.Errorf("it wants (-want +got):\n%s", diff)
	}
}

func event(t *testing.T, name protocol.EventName, data any, outcome protocol.Outcome) yieldMsg {
	t.Helper()
	text, err := protocol.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return yieldMsg{agentloop.Update{
		Kind: agentloop.UpdateEvent, Outcome: outcome,
		Event: protocol.Event{Event: name, Data: text, Time: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)},
	}}
}

func delta(text string) yieldMsg {
	return yieldMsg{agentloop.Update{Kind: agentloop.UpdateDelta, Delta: agentloop.Delta{MessageID: "m1", Text: text}}}
}

func bashCall(id, command string) protocol.Call {
	args, _ := protocol.Marshal(map[string]string{"command": command})
	return protocol.Call{ToolCallID: id, Name: "bash", Kind: protocol.KindShell, Args: args}
}

// TestChatStreams asserts that text appears as it comes, wrapped between words,
// and anew when the terminal gets narrower.
func TestChatStreams(t *testing.T) {
	s := newScene(t, 38).press("say it", "enter")
	s.wants(promptEffect{"say it", "user"})
	s.tell(event(t, protocol.PromptSubmit, protocol.PromptSubmitData{Prompt: "say it"}, protocol.Outcome{}))
	s.tell(delta("Once upon a time there was a hook that ans"))
	s.shows(`
› say it
● Once upon a time there was a hook
----
  that ans
⠋ working 0s, esc aborts
›`)
	s.tell(tea.WindowSizeMsg{Width: 24, Height: 20}, delta("wered each event\nin order. "))
	s.shows(`
› say it
● Once upon a time there was a hook
  that answered each
  event
----
  in order.
⠋ working 0s, esc aborts
›`)
	s.at = s.at.Add(3 * time.Second)
	s.tell(event(t, protocol.MessageEnd, protocol.DeltaEndData{MessageID: "m1"}, protocol.Outcome{}), endedMsg{result: agentloop.Result{StopReason: "done"}})
	if got := s.frame(); strings.Contains(got, "working") || !strings.Contains(got, "0 steps") {
		t.Errorf("after the end:\n%s", got)
	}
}

// TestChatFoldsCalls asserts that a call is a line with its outcome, that what
// hooks decided stands below it with who and why, and that the rest is shown on
// demand.
func TestChatFoldsCalls(t *testing.T) {
	s := newScene(t, 70)
	by := "flag.sh"
	changed := protocol.Outcome{Event: protocol.Event{Event: protocol.ToolCallStart}, Action: protocol.Modify, By: &by, Changes: []protocol.Change{{Path: "/args/command", By: by, Before: []byte(`"ls"`), After: []byte(`"ls -la"`)}}}
	s.tell(event(t, protocol.ToolCallStart, protocol.ToolCallStartData{Call: bashCall("c1", "ls -la")}, changed))
	s.tell(yieldMsg{agentloop.Update{Kind: agentloop.UpdateOutput, Output: agentloop.Output{ToolCallID: "c1", Text: "one\ntwo\nthree\nfo\x1bur"}}})
	s.at = s.at.Add(2 * time.Second)
	s.shows(`
----
… bash ls -la 2s
  │ two
  │ three
  │ fo\x1bur
›
/help lists the commands`)
	s.tell(event(t, protocol.ToolCallEnd, protocol.ToolCallEndData{Call: bashCall("c1", "ls -la"), Result: protocol.Result{Content: protocol.TextContent("one\ntwo")}, DurationMs: 1500}, protocol.Outcome{}))
	guard := "guard.sh"
	s.tell(event(t, protocol.ToolCallStart, protocol.ToolCallStartData{Call: bashCall("c2", "rm -rf /")}, protocol.Outcome{Action: protocol.Block, By: &guard, Reason: "too dangerous"}))
	s.tell(event(t, protocol.ToolCallError, protocol.ToolCallErrorData{Call: bashCall("c2", "rm -rf /"), Error: protocol.CallError{Kind: protocol.CallBlocked, Text: "too dangerous"}, BlockedBy: &guard}, protocol.Outcome{}))
	s.tell(event(t, protocol.ToolCallStart, protocol.ToolCallStartData{Call: bashCall("c3", "ls")}, protocol.Outcome{}))
	s.tell(event(t, protocol.ToolCallError, protocol.ToolCallErrorData{Call: bashCall("c3", "ls"), Error: protocol.CallError{Kind: protocol.CallBlocked, Text: "no hook said so"}}, protocol.Outcome{}))
	folded := `
✓ bash ls -la · one … 2 lines, 1.5s  #1
    flag.sh changed args.command
✗ bash rm -rf / · not run  #2
    ✗ blocked by guard.sh: too dangerous
✗ bash ls · no hook said so  #3
`
	s.shows(folded + `----
›
/help lists the commands`)
	s.press("/show 1", "enter", "/show 2", "enter", "/show 9", "enter")
	s.shows(folded + `#1 bash ls -la
  command: ls -la
  flag.sh changed args.command
    -ls
    +ls -la
  │ one
  │ two
#2 bash rm -rf /
  command: rm -rf /
  ✗ blocked by guard.sh: too dangerous
  │ too dangerous
! nothing is folded under #9
----
›
/help lists the commands`)
	s.wants()
	s.up.Reset() // the key opens the last one, then those before
	s.press("ctrl+o", "ctrl+o", "ctrl+o", "ctrl+o")
	var opened []string
	for line := range strings.SplitSeq(s.up.String(), "\n") {
		if strings.HasPrefix(line, "#") {
			opened = append(opened, line)
		}
	}
	if diff := cmp.Diff([]string{"#3 bash ls", "#2 bash rm -rf /", "#1 bash ls -la", "#1 bash ls -la"}, opened); diff != "" {
		t.Error(diff)
	}
}

// TestChatAborts asserts that the first press ends the turn and what waits comes
// back, that a second one soon after ends hookd, and that a late one does not.
func TestChatAborts(t *testing.T) {
	s := newScene(t, 60).press("go", "enter", "and then", "enter")
	s.wants(promptEffect{"go", "user"})
	s.press("esc")
	s.wants(abortEffect{})
	s.tell(endedMsg{err: conversation.ErrAborted})
	s.shows(`
■ aborted
----
› and then
again to end hookd`)
	s.at = s.at.Add(againWithin)
	s.press("ctrl+c") // clears the line, ends nothing
	s.wants()
	s.press("ctrl+c")
	s.wants()
	s.press("ctrl+c")
	s.wants(quitEffect{})
	if s.screen.view() != "" {
		t.Errorf("something stays on the screen: %q", s.screen.view())
	}
}

func TestChatQueuesFollowUps(t *testing.T) {
	s := newScene(t, 60).press("one", "enter", "two", "enter", "three", "enter")
	s.wants(promptEffect{"one", "user"})
	if got := s.frame(); !strings.Contains(got, "waits: two\n  waits: three") {
		t.Errorf("what waits is not shown:\n%s", got)
	}
	s.tell(endedMsg{result: agentloop.Result{StopReason: "done"}})
	s.wants(promptEffect{"two", "follow-up"})
	s.tell(endedMsg{err: errors.New("the model failed")})
	s.wants()
	if got := s.screen.input.Value(); got != "three" {
		t.Errorf("after a failure the line is %q", got)
	}
}

func TestChatAsks(t *testing.T) {
	options := []protocol.PermissionOption{
		{OptionID: "o1", Name: "Allow once", Kind: "allow-once"}, {OptionID: "o2", Name: "Always allow", Kind: "allow-always"},
		{OptionID: "o3", Name: "Reject", Kind: "reject-once"}, {OptionID: "o4", Name: "Always reject", Kind: "reject-always"},
	}
	call := bashCall("c1", "make deploy")
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"enter"}, "o3"}, {[]string{"y"}, "o1"}, {[]string{"a"}, "o2"}, {[]string{"n"}, "o3"}, {[]string{"N"}, "o4"},
		{[]string{"x", "up", "enter"}, "o2"}, {[]string{"down", "enter"}, "o4"}, {[]string{"2"}, "o2"},
	} {
		reply := make(chan agentloop.Answer, 1)
		s := newScene(t, 60).press("go", "enter")
		s.took()
		s.tell(askMsg{agentloop.Question{Event: protocol.ToolCallStart, Call: &call, AskedBy: "hook:asker", Layer: protocol.User, Text: "really?", Options: options}, reply})
		s.shows(`
----
? your hook asker asks before bash runs:
  command:
  │ make deploy
  reason: really?
    Allow once (y)
    Always allow (a)
  ▸ Reject (n)
    Always reject (N)
    Reject and say why (w)`)
		if s.press("y", "a"); len(s.took()) > 0 {
			t.Error("a key that was pressed as the question came up answered it")
		}
		for range 40 { // y is held down
			s.at = s.at.Add(30 * time.Millisecond)
			s.press("y")
			s.screen.view()
		}
		for _, r := range "yay, a yes, a" { // the person writes on
			s.at = s.at.Add(minPause / 2)
			if s.press(string(r)); len(s.took()) > 0 {
				t.Error("a key of what the person was writing answered it")
			}
		}
		if !strings.Contains(s.frame(), "too early for a yes") {
			t.Error("a yes that did not count is not told")
		}
		s.at = s.at.Add(minPause)
		s.press(c.keys...)
		done := s.took()
		if len(done) != 1 {
			t.Fatalf("%v: %v", c.keys, done)
		}
		if got := done[0].(answerEffect).answer.OptionID; got != c.want {
			t.Errorf("%v answers %s, want %s", c.keys, got, c.want)
		}
	}
}

func TestChatInput(t *testing.T) {
	s := newScene(t, 60).press("one", "alt+enter", "two", "ctrl+j", "three\\", "enter", "four", "enter")
	s.wants(promptEffect{"one\ntwo\nthree\nfour", "user"})
	s.tell(endedMsg{})
	s.tell(tea.PasteMsg{Content: "a\r\nb\x1b[2J"}).press("enter")
	s.tell(endedMsg{})
	done := s.took()
	if p, is := done[0].(promptEffect); !is || strings.Contains(p.text, "\r") || !strings.HasPrefix(p.text, "a\nb") {
		t.Errorf("pasted: %+v", done)
	}
	s.press("draft", "up", "up", "up", "up", "up")
	if got := s.screen.input.Value(); got != "one\ntwo\nthree\nfour" {
		t.Errorf("the oldest line is %q", got)
	}
	s.press("down", "down", "down", "down", "down", "down", "down")
	if got := s.screen.input.Value(); got != "draft" {
		t.Errorf("back from the history: %q", got)
	}
	s.press("ctrl+c", "ctrl+d")
	s.wants(quitEffect{})
}

func TestChatCommands(t *testing.T) {
	for text, want := range map[string][]effect{
		"/hooks": {commandEffect{"hooks", ""}}, "/model  x:y ": {commandEffect{"model", "x:y"}}, "/compact keep names": {commandEffect{"compact", "keep names"}},
		"/new": {quitEffect{}}, "/quit": {quitEffect{}}, "/quitt": nil, "/hook": nil, "/Help": nil, "/modle x:y": nil, "/hepl": nil,
		"/show-off": {promptEffect{"/show-off", "user"}}, "/mode-change": {promptEffect{"/mode-change", "user"}},
		"/review the diff": {promptEffect{"/review the diff", "user"}}, "/": {promptEffect{"/", "user"}},
	} {
		newScene(t, 60).press(text, "enter").wants(want...)
	}
	for text, want := range map[string][]effect{ // of a conversation with the skills hook and review-diff
		"/hook": {promptEffect{"/hook", "user"}}, "/hoks": nil, "/reviw-diff now": nil, "/review-diff now": {promptEffect{"/review-diff now", "user"}}, "/deploy": {promptEffect{"/deploy", "user"}},
	} {
		s := newScene(t, 60)
		s.screen.talk.callable = func() []string { return []string{"help", "hooks", "hook", "review-diff"} }
		s.press(text, "enter").wants(want...)
		if told := strings.Contains(s.frame(), "did you mean /"); told != (want == nil) {
			t.Errorf("%s:\n%s", text, s.frame())
		}
	}
	s := newScene(t, 60).press("go", "enter", "/model x", "enter")
	s.wants(promptEffect{"go", "user"})
	if !strings.Contains(s.frame(), "works only between turns") {
		t.Errorf("a command during a turn:\n%s", s.frame())
	}
}

// FuzzChat asserts that nothing that is pressed or said breaks the view.
func FuzzChat(f *testing.F) {
	f.Add("hello", "some \x1b[2J text\nmore", 30, 10)
	f.Fuzz(func(t *testing.T, typed, said string, width, height int) {
		s := newScene(t, width%500)
		s.tell(tea.WindowSizeMsg{Width: width % 500, Height: height % 200})
		s.press(typed, "enter").tell(delta(said), tea.WindowSizeMsg{Width: 1, Height: 1}, delta(said))
		s.press("up", "down", "ctrl+o")
		s.tell(endedMsg{})
		if strings.ContainsAny(s.up.String(), "\x1b\r\x00\u202e") {
			t.Errorf("control characters went up: %q", s.up.String())
		}
	})
}
