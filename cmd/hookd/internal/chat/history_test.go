package chat

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// TestHistoryGoesOnInTheNextConversation asserts that a later conversation of the project
// finds what was sent, and one of another project does not.
func TestHistoryGoesOnInTheNextConversation(t *testing.T) {
	state := t.TempDir()
	h := openHistory(state, "/p")
	for _, text := range []string{"one", "two\nlines \x1b[2J", "two\nlines \x1b[2J", strings.Repeat("x", longestKept+1), "bad \xff"} {
		if err := h.keep(text); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(state, "history.jsonl")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	half, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	half.WriteString(`{"project":"/p","te`) // a process that died
	half.Close()
	again := openHistory(state, "/p")
	if diff := cmp.Diff([]string{"one", "two\nlines \x1b[2J"}, again.sent); diff != "" {
		t.Error(diff)
	}
	if got := again.move(-1, "draft"); got != "two\nlines \x1b[2J" {
		t.Errorf("the line before is %q", got)
	}
	if other := openHistory(state, "/q"); len(other.sent) > 0 {
		t.Errorf("another project sees %q", other.sent)
	}
}

// TestHistoryIsBounded asserts that the file does not grow without end, and that the newest
// lines stay, whole.
func TestHistoryIsBounded(t *testing.T) {
	state := t.TempDir()
	h := openHistory(state, "/p")
	for i := range 400 {
		if err := h.keep(fmt.Sprintf("%d %s", i, strings.Repeat("x", 4000))); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(state, "history.jsonl"))
	if err != nil || info.Size() > largestFile+longestKept || info.Mode().Perm() != 0o600 {
		t.Errorf("%+v %v", info, err)
	}
	sent := openHistory(state, "/p").sent
	if len(sent) < 30 || !strings.HasPrefix(sent[len(sent)-1], "399 ") {
		t.Errorf("%d lines stay", len(sent))
	}
	for i, text := range sent {
		if want := fmt.Sprintf("%d x", 400-len(sent)+i); !strings.HasPrefix(text, want) {
			t.Fatalf("line %d begins with %.10q, want %q", i, text, want)
		}
	}
}

// TestHistoryKeepsPromptsAsHooksLeftThem asserts that what a hook took out of a prompt, or
// refused, gets into no file, and that commands of the conversation are kept.
func TestHistoryKeepsPromptsAsHooksLeftThem(t *testing.T) {
	state := t.TempDir()
	s := newScene(t, 80)
	s.screen.history = openHistory(state, "/p")
	guard := "guard.sh"
	s.press("my key is hunter2", "enter")
	s.tell(event(t, protocol.PromptSubmit, protocol.PromptSubmitData{Prompt: "my key is [gone]", Source: "user"}, protocol.Outcome{Action: protocol.Modify, By: &guard}), endedMsg{})
	s.press("hunter2 again", "enter")
	s.tell(event(t, protocol.PromptSubmit, protocol.PromptSubmitData{Prompt: "hunter2 again", Source: "user"}, protocol.Outcome{Action: protocol.Block, By: &guard}), endedMsg{})
	s.tell(event(t, protocol.PromptSubmit, protocol.PromptSubmitData{Prompt: "of a hook", Source: "hook"}, protocol.Outcome{}))
	ended := func(command string, problem *protocol.ToolCallErrorData) yieldMsg {
		call := bashCall("c", command)
		call.Source = "user"
		if problem != nil {
			problem.Call = call
			return event(t, protocol.ToolCallError, *problem, protocol.Outcome{})
		}
		return event(t, protocol.ToolCallEnd, protocol.ToolCallEndData{Call: call}, protocol.Outcome{})
	}
	s.tell(ended("echo [gone]", nil), ended("echo hunter2", &protocol.ToolCallErrorData{BlockedBy: &guard}), ended("sleep 70", &protocol.ToolCallErrorData{}))
	s.tell(event(t, protocol.ToolCallEnd, protocol.ToolCallEndData{Call: bashCall("c", "of the model")}, protocol.Outcome{}))
	s.press("/model x:y", "enter", "/deploy key=hunter2", "enter")
	if diff := cmp.Diff([]string{"my key is [gone]", "!echo [gone]", "!sleep 70", "/model x:y"}, openHistory(state, "/p").sent); diff != "" {
		t.Error(diff)
	}
}

// TestHistoryThatCannotBeKeptIsToldOnce asserts that the conversation goes on.
func TestHistoryThatCannotBeKeptIsToldOnce(t *testing.T) {
	state := t.TempDir()
	if err := os.Mkdir(filepath.Join(state, "history.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := newScene(t, 120)
	s.screen.history = openHistory(state, "/p")
	s.press("/help", "enter", "/hooks", "enter")
	s.wants(commandEffect{"help", ""}, commandEffect{"hooks", ""})
	if n := strings.Count(s.frame(), "is not kept for later"); n != 1 {
		t.Errorf("told %d times:\n%s", n, s.frame())
	}
}

// TestReplayShowsTheEnd asserts what a conversation that goes on begins with, at both
// widths: the last two prompts with their answers, and nothing that hooks added.
func TestReplayShowsTheEnd(t *testing.T) {
	say := func(role protocol.Role, parts ...protocol.Part) protocol.Message {
		return protocol.Message{Role: role, Content: parts}
	}
	text := func(s string) protocol.Part { return protocol.Part{Type: protocol.PartText, Text: s} }
	hooks := text("added by a hook")
	hooks.Hook = "context.sh"
	messages := []protocol.Message{
		say(protocol.RoleUser, text("first")), say(protocol.RoleAssistant, text("answer")),
		say(protocol.RoleUser, text("second\x1b[2J"), hooks),
		say(protocol.RoleAssistant, protocol.Part{Type: protocol.PartToolCall, Name: "bash"}),
		say(protocol.RoleTool, protocol.Part{Type: protocol.PartToolResult}),
		say(protocol.RoleAssistant, text("1\n2\n3\n4\n5\n6\n7\n8")),
		say(protocol.RoleUser, hooks),
		say(protocol.RoleUser, text("third")), say(protocol.RoleAssistant, text(strings.Repeat("word ", 20))),
	}
	call := text("[The user ran this with bash; it is no call of yours.]\n$ ls\x1b[2J\n")
	call.ToolCallID, call.Args = "user-1", []byte(`{"command":"ls\u001b[2J"}`)
	messages = slices.Insert(messages, 7, say(protocol.RoleUser, call, text("one\ntwo")))
	for width, last := range map[int]string{
		79:  "● word word word word word word word word word word word word word word word\n  word word word word word",
		119: "● word word word word word word word word word word word word word word word word word word word word",
	} {
		want := "… 2 messages before; hookd sessions show ID\n› second\\x1b[2J\n● 1\n  2\n  3\n  4\n  5\n  6\n  … 2 lines more\n! ls\\x1b[2J\n› third\n" + last
		if diff := cmp.Diff(want, replay(&show.Printer{Width: width}, "ID", messages)); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", width, diff)
		}
	}
	if got := replay(&show.Printer{}, "ID", nil); got != "" {
		t.Errorf("a new one begins with %q", got)
	}
}

// TestTabCompletes asserts that tab completes commands and files, shows what is left to
// choose from, cut to the width, and that the next key takes it away.
func TestTabCompletes(t *testing.T) {
	root := t.TempDir()
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("file%02d.txt", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, width := range []int{80, 120} {
		s := newScene(t, width)
		s.screen.known = known{root: root}
		s.screen.talk.callable = func() []string { return []string{"help", "hooks"} }
		s.press("/h", "tab")
		s.shows("----\n› /h\nhelp  hooks")
		s.press("e", "tab", "enter")
		s.wants(commandEffect{"help", ""})
		s.press("see @f", "tab")
		got := strings.Split(s.frame(), "\n")
		if last := got[len(got)-1]; !strings.HasPrefix(last, "file00.txt  file01.txt") || show.Width(last) > width-1 || got[len(got)-2] != "› see @file" {
			t.Errorf("width %d:\n%s", width, s.frame())
		}
		s.press("07", "tab", "please", "enter")
		s.wants(promptEffect{"see @file07.txt please", "user"})
	}
}
