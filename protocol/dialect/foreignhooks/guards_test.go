package foreignhooks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

func callEvent(name string, kind protocol.ToolKind, args string) *protocol.Event {
	return &protocol.Event{Event: protocol.ToolCallStart, Project: "/p", Cwd: "/p",
		Data: fmt.Appendf(nil, `{"toolCallId":"c1","name":%q,"kind":%q,"args":%s,"parallel":1}`, name, kind, args)}
}

// toolsOf are the names that an agent has for one of hookd's tools, by the table.
func toolsOf(agent, ours string) (names []string) {
	for _, t := range toolname.Vocabulary {
		if !slices.Contains(strings.Fields(t.Of), agent) {
			continue
		}
		is := t.Ours == ours
		for _, v := range toolname.VerbTools {
			is = is || slices.Contains(strings.Fields(v.Tools), t.Name) && slices.Contains(strings.Fields(v.Of), agent) &&
				slices.ContainsFunc(v.Means, func(m toolname.Verb) bool { return m.Ours == ours })
		}
		if is {
			names = append(names, t.Name)
		}
	}
	return names
}

// A hook of another agent is asked about each tool of ours by every name that its agent has
// for it: alone, among others, as an expression, and without a matcher.
func TestEveryForeignGuardIsAskedAboutEveryTool(t *testing.T) {
	asked := 0
	for _, f := range All {
		var events []string
		for _, e := range f.Events {
			if e.Event == protocol.ToolCallStart && len(e.Only) == 0 {
				events = append(events, e.Name)
			}
		}
		for _, tool := range toolname.Vocabulary {
			if tool.Ours != tool.Name || tool.Kind == protocol.KindOther {
				continue
			}
			ev := callEvent(tool.Name, tool.Kind, `{"path":"a","command":"ls"}`)
			matchers := []string{"", "*"}
			for _, name := range toolsOf(f.Name, tool.Name) {
				if matchers = append(matchers, name); f.Name != "kodelet" && f.Name != "acai" { // which know no patterns
					matchers = append(matchers, "nothing|"+name, "("+regexp.QuoteMeta(name)+")")
				}
			}
			for _, event := range events {
				for _, matcher := range matchers {
					s, err := f.Select([]string{event}, matcher)
					if err != nil {
						t.Fatalf("%s %q: %v", f.Name, matcher, err)
					}
					asked++
					a := s.Ask(ev, "/p")
					if claude := toolname.Has("claude", strings.TrimPrefix(matcher, "nothing|")); f.claudeNames && isClaudeName(event) && matcher != "" && matcher != "*" && !claude {
						continue // by Claude Code's names of events it knows only Claude Code's tools
					}
					if a == nil {
						t.Errorf("a hook of %s for %s with the matcher %q is not asked about %s", f.Name, event, matcher, tool.Name)
					}
				}
			}
		}
	}
	if asked < 300 {
		t.Errorf("only %d were tried", asked)
	}
}

// OpenHands has one tool for reading and writing: a guard for it is asked about all of
// ours, and reads which it would be there.
func TestOneToolThatIsSeveralOfOurs(t *testing.T) {
	f := Find("openhands")
	s, err := f.Select([]string{"PreToolUse"}, "file_editor")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, kind, args, want string }{
		{"read_file", "read", `{"path":"a"}`, `{"command":"view","path":"/p/a"}`},
		{"write_file", "write", `{"path":"a","content":"x"}`, `{"command":"create","path":"/p/a","file_text":"x"}`},
		{"edit_file", "write", `{"path":"a","oldText":"x","newText":"y"}`, `{"command":"str_replace","path":"/p/a","old_str":"x","new_str":"y"}`},
		{"bash", "shell", `{"command":"ls"}`, ""},
	} {
		a := s.Ask(callEvent(c.name, protocol.ToolKind(c.kind), c.args), "/p")
		if (a != nil) != (c.want != "") {
			t.Errorf("about %s it is asked = %v", c.name, a != nil)
		}
		if a == nil {
			continue
		}
		stdin, err := a.Stdin()
		if err != nil {
			t.Fatal(err)
		}
		if name, input := jsonspan.Text(jsonspan.Get(stdin, "tool_name")), string(jsonspan.Get(stdin, "tool_input")); name != "file_editor" || !jsonspan.Equal([]byte(input), []byte(c.want)) {
			t.Errorf("%s is told as %s %s, want %s", c.name, name, input, c.want)
		}
	}
}

// A patch of another agent is told as edits of the hook's own agent, one for each file: a
// hook that looks at file_path sees every one.
func TestPatchIsToldFileByFile(t *testing.T) {
	const patch = `"*** Begin Patch\n*** Update File: main.go\n*** Update File: .env\n*** End Patch"`
	one := `{"command":"*** Update File: .env","path":".env"}`
	two := `{"command":` + patch + `,"paths":["main.go",".env"]}`
	for _, c := range []struct {
		agent, event, matcher, args string
		tool, member                string
		want                        []string
	}{
		{"claude", "PreToolUse", "Edit|Write", one, "Edit", "file_path", []string{"/p/.env"}},
		{"claude", "PreToolUse", "Edit|Write", two, "Edit", "file_path", []string{"/p/main.go", "/p/.env"}},
		{"gemini", "BeforeTool", "replace", two, "replace", "file_path", []string{"/p/main.go", "/p/.env"}},
		{"cursor", "preToolUse", "Write", two, "Write", "file_path", []string{"/p/main.go", "/p/.env"}},
		{"openhands", "PreToolUse", "file_editor", two, "file_editor", "path", []string{"/p/main.go", "/p/.env"}},
		{"kodelet", "before_tool_call", "", two, "file_edit", "file_path", []string{"/p/main.go", "/p/.env"}},
		{"codex", "PreToolUse", "Edit|Write", two, "apply_patch", "command", []string{jsonspan.Text([]byte(patch))}},
		{"codex", "PreToolUse", "apply_patch", strings.Replace(two, "command", "patchText", 1), "apply_patch", "command", []string{jsonspan.Text([]byte(patch))}},
		{"codex", "PreToolUse", "apply_patch", two, "apply_patch", "command", []string{jsonspan.Text([]byte(patch))}},
	} {
		s, err := Find(c.agent).Select([]string{c.event}, c.matcher)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range s.AskEach(callEvent("apply_patch", protocol.KindWrite, c.args), "/p") {
			stdin, err := a.Stdin()
			if err != nil {
				t.Fatal(err)
			}
			if name := jsonspan.Text(jsonspan.Get(stdin, "tool_name")); name != c.tool {
				t.Errorf("%s: it is told as %s", c.agent, name)
			}
			got = append(got, jsonspan.Text(jsonspan.Get(jsonspan.Get(stdin, "tool_input"), c.member)))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s with %s is told %s %q, want %q", c.agent, c.matcher, c.member, got, c.want)
		}
	}
}

// acai has hookd's own names: nothing becomes another tool for it.
func TestAcaiIsToldOurNames(t *testing.T) {
	s, err := Find("acai").Select(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"edit_file", "write_file", "read_file"} {
		kind := protocol.KindWrite
		if name == "read_file" {
			kind = protocol.KindRead
		}
		a := s.Ask(callEvent(name, kind, `{"path":"a"}`), "/p")
		if a == nil || a.call.names[0] != name {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// What only the hook's own agent can carry out is said to be lost.
func TestWhatOnlyTheAgentCanDoIsSaidToBeLost(t *testing.T) {
	for _, c := range []struct{ agent, event, stdout, lost string }{
		{"claude", "SessionStart", `{"hookSpecificOutput":{"hookEventName":"SessionStart","initialUserMessage":"x"}}`, "initialUserMessage"},
		{"claude", "SessionStart", `{"hookSpecificOutput":{"hookEventName":"SessionStart","sessionTitle":"x"}}`, "sessionTitle"},
		{"claude", "SessionStart", `{"hookSpecificOutput":{"hookEventName":"SessionStart","watchPaths":["x"]}}`, "watchPaths"},
		{"claude", "UserPromptSubmit", `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","suppressOriginalPrompt":true}}`, "suppressOriginalPrompt"},
		{"claude", "UserPromptSubmit", `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","suppressOriginalPrompt":false}}`, ""},
		{"claude", "PostToolUse", `{"hookSpecificOutput":{"hookEventName":"PostToolUse","classifierContext":"x"}}`, "classifierContext"},
		{"claude", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[{"type":"setMode"}]}}}`, "updatedPermissions"},
		{"gemini", "AfterTool", `{"hookSpecificOutput":{"tailToolCallRequest":{"name":"x","args":{}}}}`, "tailToolCallRequest"},
		{"gemini", "AfterAgent", `{"hookSpecificOutput":{"clearContext":true}}`, "clearContext"},
		{"cursor", "sessionStart", `{"env":{"A":"b"}}`, "env"},
	} {
		f := Find(c.agent)
		e := f.known(c.event)
		s, err := f.Select([]string{c.event}, "")
		if err != nil {
			t.Fatal(err)
		}
		a := s.Ask(&protocol.Event{Event: e.Event, Project: "/p", Data: protocol.RawMessage(samplesOf[e.Event])}, "/p")
		result := a.Reply(guardInfo, Ending{Stdout: []byte(c.stdout)})
		said := strings.Join(result.Warnings, "; ")
		if result.Failure != nil || (c.lost == "") != (said == "") || !strings.Contains(said, c.lost) {
			t.Errorf("%s %s %s: warnings %q, %+v", c.agent, c.event, c.stdout, result.Warnings, result.Failure)
		}
	}
}
