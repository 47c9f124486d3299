package foreignhooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/golden"
)

const (
	conversation = `[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"text","text":"I edit it."},{"type":"toolCall","toolCallId":"c1","name":"edit_file","args":{"path":"a.go","oldText":"x","newText":"y"}}]},{"role":"tool","content":[{"type":"toolResult","toolCallId":"c1","content":[{"type":"text","text":"done"}],"isError":false}]}]`
	bashCall     = `"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"ls"}`
)

// samplesOf are events of ours of which those of other agents are made.
var samplesOf = map[protocol.EventName]string{
	protocol.SessionStart:      `{"source":"startup","model":"m1","tools":[]}`,
	protocol.SessionEnd:        `{"reason":"exit"}`,
	protocol.PromptSubmit:      `{"prompt":"go","source":"user","attachments":[]}`,
	protocol.AgentStart:        `{"prompt":"go","system":"s","messages":` + conversation + `,"tools":[],"model":"m1"}`,
	protocol.StepStart:         `{"messages":` + conversation + `,"stepsLeft":3}`,
	protocol.InferenceStart:    `{"model":"m1","system":"s","messages":` + conversation + `,"tools":[{"name":"bash","description":"d","schema":{}},{"name":"read_file","description":"d","schema":{}}],"params":{"maxTokens":10,"temperature":0.5},"attempt":1}`,
	protocol.InferenceEnd:      `{"message":{"role":"assistant","content":"hello"},"finishReason":"stop","usage":{},"type":"final","durationMs":1,"synthetic":false}`,
	protocol.ToolCallStart:     `{` + bashCall + `,"parallel":1}`,
	protocol.PermissionRequest: `{` + bashCall + `,"askedBy":"policy","options":[]}`,
	protocol.ToolCallEnd:       `{` + bashCall + `,"result":{"content":[{"type":"text","text":"out"}],"isError":false,"exitCode":0},"durationMs":12.4,"synthetic":false}`,
	protocol.ToolCallError:     `{` + bashCall + `,"error":{"kind":"failed","text":"no such file"},"blockedBy":null,"durationMs":12}`,
	protocol.StepStop:          `{"messages":` + conversation + `,"type":"tools","calls":[{` + bashCall + `,"outcome":"ok"}],"durationMs":9}`,
	protocol.AgentStop:         `{"reason":"done","response":"hello","messages":` + conversation + `,"continued":1,"continuedTotal":1}`,
	protocol.AgentError:        `{"message":"broken","cause":"model","by":null}`,
	protocol.CompactStart:      `{"trigger":"threshold","recipe":"compact","instructions":"short","before":{"messages":4,"tokens":9}}`,
	protocol.CompactEnd:        `{"trigger":"manual","recipe":"compact","before":{"messages":4,"tokens":9},"after":{"messages":1,"tokens":1},"summary":"s"}`,
	protocol.SubagentStart:     `{"agentId":"sub-1","prompt":"look","tools":[],"toolCallId":"c1"}`,
	protocol.SubagentStop:      `{"agentId":"sub-1","response":"found","stopReason":"done","continued":0,"usage":{},"toolCallId":"c1"}`,
	protocol.ThinkingStart:     `{"role":"assistant","messageId":"m-1"}`,
	protocol.ThinkingEnd:       `{"role":"assistant","messageId":"m-1","content":"hm"}`,
	protocol.MessageStart:      `{"role":"assistant","messageId":"m-1"}`,
	protocol.MessageEnd:        `{"role":"assistant","messageId":"m-1","content":"hello"}`,
	protocol.Notification:      `{"kind":"permission","title":"t","text":"may I?"}`,
}

// otherCalls are calls of other tools than the shell.
var otherCalls = map[string]string{
	"read_file": `"toolCallId":"c1","name":"read_file","kind":"read","args":{"path":"src/a.go"}`,
	"write":     `"toolCallId":"c1","name":"write_file","kind":"write","args":{"path":"src/a.go","content":"text"}`,
	"edit":      `"toolCallId":"c1","name":"edit_file","kind":"write","args":{"path":"src/a.go","oldText":"x","newText":"y"}`,
	"mcp":       `"toolCallId":"c1","name":"mcp__mini__echo","kind":"mcp","server":"mini","args":{"data":"x"}`,
}

func sampleEvent(name protocol.EventName, call string) *protocol.Event {
	tokens := int64(80)
	most := int64(100)
	data := samplesOf[name]
	if call != "" {
		data = strings.Replace(data, bashCall, call, 1)
	}
	return &protocol.Event{
		Protocol: 1, Event: name, ID: "01J", Time: time.Date(2026, 11, 28, 1, 2, 3, 4e6, time.UTC),
		Session: protocol.Session{ID: "s1", Transcript: "/t.jsonl"}, Agent: protocol.Agent{ID: "main", Host: "hookd"},
		Project: "/proj", Cwd: "/proj/sub", Turn: 1, Step: 2,
		Compaction: protocol.Compaction{Auto: true, Threshold: 0.8},
		Usage:      protocol.RunUsage{ContextTokens: &tokens, ContextMax: &most},
		Data:       protocol.RawMessage(data),
	}
}

// asked is a hook of one event of an agent, asked about a sample.
func asked(t testing.TB, f *Agent, event, call string) *Asking {
	t.Helper()
	e := f.known(event)
	if e == nil || e.Event == "" {
		t.Fatalf("%s has no event %s", f.Name, event)
	}
	if call == "" && len(e.Only) > 0 {
		call = otherCalls[e.Only[0]]
	}
	s, err := f.Select([]string{event}, "")
	if err != nil {
		t.Fatal(err)
	}
	a := s.Ask(sampleEvent(e.Event, call), "/proj")
	if a == nil {
		t.Fatalf("%s %s: not asked", f.Name, event)
	}
	return a
}

// TestForeignInputs: each event that hookd has is what that agent would have written to a
// hook's stdin, with the variables and words that it adds.
func TestForeignInputs(t *testing.T) {
	for _, f := range All {
		for i := range f.Events {
			e := &f.Events[i]
			if e.Event == "" {
				continue
			}
			t.Run(f.Name+"/"+e.Name, func(t *testing.T) {
				a := asked(t, f, e.Name, "")
				var got bytes.Buffer
				stdin, err := a.Stdin()
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Indent(&got, stdin, "", "  "); err != nil {
					t.Fatalf("%v: %s", err, stdin)
				}
				for _, line := range append(a.Env(), a.Args()...) {
					got.WriteString(line + "\n")
				}
				golden.Check(t, filepath.Join("testdata", f.Name, e.Name+".golden"), got.Bytes())
			})
		}
	}
}

// notHere are members that real agents send and hookd has nothing for.
var notHere = map[string][]string{
	"claude":  {"prompt_id", "effort", "permission_suggestions", "seconds_since_last_response", "context_tokens", "prompt_cache_likely_expired", "estimated_cache_write_usd", "title", "agent_type"},
	"codex":   {"model"},
	"gemini":  {"mcp_context"},
	"copilot": {"initialPrompt", "initial_prompt", "transformedPrompt", "permissionSuggestions", "hook_event_name", "transcript_path", "stop_reason", "title"},
}

// TestInputsHaveTheCapturedMembers: what a real agent wrote to its hooks, read as our event
// and written for a hook of the same agent, has the same members, tool and args.
func TestInputsHaveTheCapturedMembers(t *testing.T) {
	seen := map[string]int{}
	for _, f := range All {
		host := hosts.Find(f.Name)
		if host == nil {
			continue
		}
		for _, path := range golden.Inputs(t, filepath.Join("..", "hosts", "testdata", host.Name)) {
			if !golden.Captured(path) {
				continue
			}
			stdin, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			call, err := host.Read(golden.EventOf(host, path), stdin, golden.Limits)
			if err != nil || f.known(golden.EventOf(host, path)) == nil || f.known(golden.EventOf(host, path)).Event != call.Event.Event {
				continue
			}
			t.Run(f.Name+"/"+filepath.Base(path), func(t *testing.T) {
				ev := call.Event
				theirs := jsonspan.Trim(stdin)
				s, _ := f.Select([]string{golden.EventOf(host, path)}, "")
				same := s.Ask(&ev, "/home/user/proj")
				if got, err := same.Stdin(); err != nil || !jsonspan.Equal(jsonspan.Trim(got), theirs) {
					t.Errorf("a hook of %s under %s reads\n%s\nand not what that sent (%v)", f.Name, f.Name, got, err)
				}
				ev.Agent.Host = "hookd"
				ev.Data = jsonspan.Without(ev.Data, "host")
				got, err := s.Ask(&ev, "/home/user/proj").Stdin()
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range jsonspan.Members(theirs) {
					value := jsonspan.Get(got, m.Name)
					switch {
					case slices.Contains(notHere[f.Name], m.Name):
					case value == nil:
						t.Errorf("no member %s in %s", m.Name, got)
					case m.Name == "tool_name" || m.Name == "toolName" || m.Name == "tool_input" || m.Name == "toolArgs" || m.Name == "hook_event_name" || m.Name == "cwd":
						slashed := strings.Contains(string(m.Value), "/") && m.Name == "toolName" // where it asks for permission
						if !jsonspan.Equal(value, m.Value) && !slashed {
							t.Errorf("%s is %s, want %s", m.Name, value, m.Value)
						}
					case m.Name == "tool_response" && !slices.Contains([]string{"bash", "write_file"}, s.Ask(&ev, "").call.name) && s.Ask(&ev, "").call.kind != protocol.KindMCP:
					case jsonspan.Kind(value) != jsonspan.Kind(m.Value) && !bytes.ContainsAny([]byte{jsonspan.Kind(value), jsonspan.Kind(m.Value)}, "ntf"):
						t.Errorf("%s is %s, want %s", m.Name, jsonspan.KindName(value), jsonspan.KindName(m.Value))
					}
				}
				for _, m := range jsonspan.Members(got) {
					if jsonspan.Get(theirs, m.Name) == nil && f.Name == "codex" {
						t.Errorf("Codex CLI sends no member %s", m.Name)
					}
				}
				seen[f.Name]++
			})
		}
	}
	for name, least := range map[string]int{"claude": 15, "codex": 10, "gemini": 6, "copilot": 15} {
		if seen[name] < least {
			t.Errorf("%s: %d inputs compared, want at least %d", name, seen[name], least)
		}
	}
}

// TestArgsGoThereAndBack: args that a hook leaves as it read them are the call's own, and
// those that it changes are changed by our names.
func TestArgsGoThereAndBack(t *testing.T) {
	for _, f := range All {
		for kind, call := range otherCalls {
			event := ""
			for _, e := range f.Events {
				if e.Event == protocol.ToolCallStart && len(e.Only) == 0 {
					event = e.Name
					break
				}
			}
			a := asked(t, f, event, call)
			if back := a.call.back(a.call.input); !jsonspan.Equal(back, a.call.ours) {
				t.Errorf("%s %s: %s comes back as %s", f.Name, kind, a.call.ours, back)
			}
			if kind != "write" {
				continue
			}
			changed := bytes.Replace(a.call.input, []byte(`:"text"`), []byte(`:"other"`), 1)
			if f.Name == "codex" { // whose hooks see a patch
				changed = bytes.Replace(a.call.input, []byte("+text"), []byte("+other"), 1)
				if back := a.call.back(changed); back != nil {
					t.Errorf("a changed patch comes back as %s", back)
				}
				continue
			}
			if back := a.call.back(changed); string(jsonspan.Get(back, "content")) != `"other"` || string(jsonspan.Get(back, "path")) != `"src/a.go"` {
				t.Errorf("%s: %s comes back as %s", f.Name, changed, back)
			}
		}
	}
}

// TestMatchersAreComparedAsTheirAgentDoes goes through the rules of each agent.
func TestMatchersAreComparedAsTheirAgentDoes(t *testing.T) {
	for _, test := range []struct {
		dialect, event, matcher, call string
		asked                         bool
	}{
		{"claude", "PreToolUse", "", "", true},
		{"claude", "PreToolUse", "*", "", true},
		{"claude", "PreToolUse", "Bash", "", true},
		{"claude", "PreToolUse", "bash", "", false},
		{"claude", "PreToolUse", "Bas", "", false},
		{"claude", "PreToolUse", "Edit|Write", "", false},
		{"claude", "PreToolUse", "Edit|Bash", "", true},
		{"claude", "PreToolUse", "Edit, Bash", "", true},
		{"claude", "PreToolUse", "Edit|Write", "write", true},
		{"claude", "PreToolUse", "B.*", "", true},
		{"claude", "PreToolUse", "^as", "", false},
		{"claude", "PreToolUse", "as.", "", true},
		{"claude", "PreToolUse", "mcp__.*", "mcp", true},
		{"claude", "PreToolUse", "mcp__mini__echo", "mcp", true},
		{"claude", "PreToolUse", "mcp__mini", "mcp", false},
		{"claude", "SessionStart", "startup", "", true},
		{"claude", "SessionStart", "resume", "", false},
		{"claude", "PreCompact", "auto", "", true},
		{"claude", "PreCompact", "manual", "", false},
		{"claude", "Notification", "permission_prompt", "", true},
		{"claude", "UserPromptSubmit", "Bash", "", true},
		{"gemini", "BeforeTool", "run_shell_command", "", true},
		{"gemini", "BeforeTool", "shell", "", true},
		{"gemini", "BeforeTool", "write_file|replace", "write", true},
		{"gemini", "BeforeTool", "write_file|replace", "", false},
		{"gemini", "BeforeTool", "mcp_mini_.*", "mcp", true},
		{"gemini", "BeforeTool", "*bad[", "", false},
		{"gemini", "SessionStart", "startup", "", true},
		{"codex", "PreToolUse", "Bash", "", true},
		{"codex", "PreToolUse", "^Bash$", "", true},
		{"codex", "PreToolUse", "Ba", "", false},
		{"codex", "UserPromptSubmit", "nothing", "", true},
		{"cursor", "preToolUse", "Shell", "", true},
		{"cursor", "preToolUse", "Write", "", false},
		{"cursor", "beforeShellExecution", "^ls", "", true},
		{"cursor", "beforeShellExecution", "rm", "", false},
		{"cursor", "preToolUse", "MCP:echo", "mcp", true},
		{"copilot", "preToolUse", "bash", "", true},
		{"copilot", "preToolUse", "bas", "", false},
		{"copilot", "preToolUse", "bash|create", "write", true},
		{"copilot", "PreToolUse", "Bash", "", true},
		{"openhands", "PreToolUse", "terminal", "", true},
		{"openhands", "PreToolUse", "/term.*/", "", true},
		{"openhands", "PreToolUse", "term", "", false},
		{"openhands", "PreToolUse", "term.*", "", true},
		{"kodelet", "before_tool_call", "bash", "", true},
		{"acai", "tool-call-start", "bash", "", true},
	} {
		f := Find(test.dialect)
		s, err := f.Select([]string{test.event}, test.matcher)
		if err != nil {
			t.Errorf("%s %q: %v", test.dialect, test.matcher, err)
			continue
		}
		a := s.Ask(sampleEvent(f.known(test.event).Event, otherCalls[test.call]), "/proj")
		if (a != nil) != test.asked {
			t.Errorf("%s %s matcher %q, call %q: asked %v", test.dialect, test.event, test.matcher, test.call, a != nil)
		}
	}
}

// A matcher that no bounded engine can compare asks the hook about everything.
func TestMatcherThatCannotBeComparedSelectsAll(t *testing.T) {
	for _, name := range []string{"claude", "gemini", "codex", "cursor", "copilot"} {
		f := Find(name)
		s, err := f.Select(nil, `^(?!Read).*$`)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if s.Ask(sampleEvent(protocol.ToolCallStart, ""), "/proj") == nil {
			t.Errorf("%s: not asked", name)
		}
	}
}

// TestEventsResolve: an agent's own names and ours are taken, and what hookd has nothing
// like is said so.
func TestEventsResolve(t *testing.T) {
	for _, test := range []struct {
		dialect, name string
		want          protocol.EventName
		says          string
	}{
		{"claude", "PreToolUse", protocol.ToolCallStart, ""},
		{"claude", "tool-call-start", protocol.ToolCallStart, ""},
		{"claude", "WorktreeCreate", "", "hookd has none like it"},
		{"claude", "PreToolUs", "", `did you mean "PreToolUse"?`},
		{"claude", "agent-end", "", "has no event"},
		{"kodelet", "after_turn", protocol.StepStop, ""},
		{"kodelet", "turn_end", protocol.InferenceEnd, ""},
		{"cursor", "beforeTabFileRead", "", "hookd has none like it"},
		{"gemini", "BeforeToolSelection", protocol.InferenceStart, ""},
		{"acai", "tool-call-lifecycle", "", "hookd has none like it"},
	} {
		got, err := Find(test.dialect).Resolve(test.name)
		var wrong *EventError
		if got != test.want || (err != nil) != (test.says != "") || err != nil && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s %s: %q, %v", test.dialect, test.name, got, err)
		}
	}
}

// TestRules: a hook that could not be asked refuses what it can refuse; what its own agent
// lets pass when a hook fails passes, and nothing else.
func TestRules(t *testing.T) {
	closed := map[string][]protocol.FailureKind{
		"copilot": {protocol.FailExit, protocol.FailSignal},
		"cursor":  {protocol.FailReply},
	}
	for _, f := range All {
		for _, kind := range protocol.FailureKinds {
			want := protocol.RuleContinue
			switch kind {
			case protocol.FailTimeout, protocol.FailBudget, protocol.FailExit, protocol.FailSignal, protocol.FailReply, protocol.FailOutput:
				if slices.Contains(closed[f.Name], kind) {
					want = protocol.RuleBlock
				}
			default:
				want = protocol.RuleBlock
			}
			if got := f.Rule(protocol.ToolCallStart, nil, kind); got != want {
				t.Errorf("%s: %s at tool-call-start: %s, want %s", f.Name, kind, got, want)
			}
			if got := f.Rule(protocol.AgentStop, nil, kind); got != protocol.RuleContinue {
				t.Errorf("%s: %s at agent-stop: %s", f.Name, kind, got)
			}
		}
		if f.FailsOpen == "" {
			t.Errorf("%s: nothing says that it goes on when a hook crashes", f.Name)
		}
	}
}

// Each event of ours that an agent has can be asked about by our name of it.
func TestEveryEventHasOneForOurName(t *testing.T) {
	for _, f := range All {
		events := map[protocol.EventName]bool{}
		for _, e := range f.Events {
			if e.Event != "" {
				events[e.Event] = true
			}
		}
		for _, event := range slices.Sorted(maps.Keys(events)) {
			if f.eventsFor(event, nil) == nil {
				t.Errorf("%s: a hook for %s is asked about nothing", f.Name, event)
			}
			if samplesOf[event] == "" {
				t.Errorf("no sample of %s", event)
			}
		}
	}
}

// Programs that describe themselves as another agent's hooks do.
func TestDescribed(t *testing.T) {
	for answer, want := range map[string]string{
		"after_turn":             `{"events":["after_turn"],"dialect":"kodelet"}`,
		"before_tool_call\n":     `{"events":["before_tool_call"],"dialect":"kodelet"}`,
		"turn_end":               `{"events":["turn_end"],"dialect":"kodelet","can":"observe"}`,
		"PreToolUse":             "",
		"hello":                  "",
		`{"events":["Stop"]}`:    "",
		`{"event":"step-start"}`: "",
		`{"name":"g","description":"Guards","timing":"before","event":"tool-call-start","parameters":[]}`: `{"events":["tool-call-start"],"dialect":"acai","description":"Guards"}`,
		`{"name":"g","timing":"after","event":"agent-stop"}`:                                              `{"events":["agent-stop"],"dialect":"acai","can":"observe"}`,
	} {
		got, ok := Described(answer)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %s", answer, got)
		}
	}
}

// Texts of programs that plainly were written for another agent.
func TestSpeaks(t *testing.T) {
	for program, want := range map[string]string{
		"#!/bin/sh\njq -r .tool_input.command":                                                         "claude",
		"#!/bin/sh\ncd \"$CLAUDE_PROJECT_DIR\"":                                                        "claude",
		"#!/usr/bin/env python3\nprint(json.dumps({'decision': 'block'}))":                             "claude",
		"#!/bin/sh\ncd \"$GEMINI_PROJECT_DIR\"; echo \"$CLAUDE_PROJECT_DIR\"":                          "gemini",
		"#!/bin/sh\njq -r .toolArgs":                                                                   "copilot",
		"#!/bin/sh\necho '{\"followup_message\":\"x\"}'":                                               "cursor",
		"#!/bin/sh\necho '{\"action\":\"block\"}' # instead of hookSpecificOutput":                     "",
		"#!/bin/sh\necho hello":                                                                        "",
		"#!/bin/sh\ncase $HOOK_EVENT in *) : tool_input":                                               "",
		"#!/bin/sh\ncase $1 in hook) echo agent_stop;; run) echo '{\"follow_up_messages\":[]}';; esac": "kodelet",
	} {
		if got, _ := Speaks(program); got != want {
			t.Errorf("%q: %s", program, got)
		}
	}
	if got := HeaderFor("claude", "case PreToolUse) Stop)"); got != "hook: dialect=claude events=PreToolUse,Stop" {
		t.Error(got)
	}
	if got := HeaderFor("claude", "PreToolUseX"); got != "hook: dialect=claude events=PreToolUse" {
		t.Error(got)
	}
}
