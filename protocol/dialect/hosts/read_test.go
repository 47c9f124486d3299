package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/golden"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

var small = protocol.DecodeLimits{Size: 64 << 10, Depth: 512}

// TestReadCaptured: what real agents sent becomes our event, with data that our own
// check accepts and the agent's bytes in it.
func TestReadCaptured(t *testing.T) {
	unmapped := map[string][]string{}
	for _, a := range All {
		files := golden.Inputs(t, filepath.Join("testdata", a.Name))
		for _, path := range files {
			t.Run(a.Name+"/"+filepath.Base(path), func(t *testing.T) {
				stdin, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				call, err := a.Read(golden.EventOf(a, path), stdin, golden.Limits)
				var unknown *dialect.UnknownEventError
				if errors.As(err, &unknown) {
					unmapped[a.Name] = append(unmapped[a.Name], unknown.Event)
					return
				}
				if errors.Is(err, dialect.ErrNothing) {
					answer := a.Refuse(golden.EventOf(a, path), err)
					if refuses(answer) || answer.Lost != nil {
						t.Errorf("nothing has happened, and the answer is %+v", answer)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				spec := call.Event.Spec()
				call.Event.Data = protocol.Complete(spec, call.Event.Data)
				if err := protocol.CheckData(spec, call.Event.Data); err != nil {
					t.Fatal(err)
				}
				if call.Event.Session.ID == "" || call.Event.Cwd == "" && a.Name != "windsurf" || call.Event.Agent.Host != a.Name {
					t.Errorf("session %q, cwd %q, host %q", call.Event.Session.ID, call.Event.Cwd, call.Event.Agent.Host)
				}
				if host := jsonspan.Get(call.Event.Data, "host"); !jsonspan.Equal(host, jsonspan.Trim(stdin)) {
					t.Errorf("host is %s", host)
				}
				golden.Check(t, strings.TrimSuffix(path, ".json")+".event.golden", shown(t, call))
			})
		}
	}
	for name, events := range unmapped {
		slices.Sort(events)
		t.Logf("%s: without a row %s", name, strings.Join(slices.Compact(events), " "))
	}
}

// shown is the event in the parts that a dialect decides, without the host's bytes.
func shown(t *testing.T, c *dialect.Call) []byte {
	t.Helper()
	var out bytes.Buffer
	e := &c.Event
	text, err := json.Marshal(map[string]any{
		"event": e.Event, "session": e.Session, "agent": e.Agent, "cwd": e.Cwd, "data": json.RawMessage(jsonspan.Without(e.Data, "host")),
	})
	if err == nil {
		err = json.Indent(&out, text, "", "  ")
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(out.Bytes(), '\n')
}

// carriers are the members that say what is called or prompted.
var carriers = []string{
	"/tool_name", "/tool_input", "/prompt", "/toolName", "/toolArgs", "/toolInput", "/arguments", "/transformedPrompt", "/message",
	"/command", "/file_path", "/tool_info/command_line", "/tool_info/file_path", "/tool_info/user_prompt", "/tool_info/mcp_server_name", "/tool_info/mcp_tool_name",
	"/preToolUse/toolName", "/preToolUse/parameters", "/tool_call/name", "/tool_call/input", "/userPromptSubmit/prompt",
	"/preToolUse", "/tool_info", "/userPromptSubmit", "/llm_request", "/llm_response", "/tool_input/command", "/toolArgs/command", "/toolInput/command", "/preToolUse/parameters/command",
}

// wrecks are inputs that are no longer what an agent writes: cut off, followed by more, with
// a member given twice, or with a member that says what is called missing or of another type.
func wrecks(stdin []byte, gate bool) (wrecked map[string][]byte) {
	wrecked = map[string][]byte{"nothing": {}, "two": slices.Concat(stdin, stdin), "list": slices.Concat([]byte("["), stdin, []byte("]")), "null": []byte("null"),
		"too long": slices.Concat(stdin, bytes.Repeat([]byte(" "), int(small.Size)))}
	for at := 1; at < len(jsonspan.Trim(stdin)); at += 1 + at/9 {
		wrecked[fmt.Sprint("cut at ", at)] = stdin[:at]
	}
	for _, m := range jsonspan.Members(stdin) {
		wrecked["twice "+m.Name] = jsonspan.With(stdin, m.Name, []byte("1"))
	}
	for _, pointer := range carriers {
		if jsonspan.Find(stdin, pointer) == nil || !gate {
			continue
		}
		for _, value := range []string{"", "5", "[5]", "true"} {
			wrecked[pointer+" is "+value] = withAt(stdin, pointer, value)
		}
	}
	return wrecked
}

// withAt replaces the value at a pointer, or takes the member away where value is empty.
func withAt(in []byte, pointer, value string) []byte {
	name, rest, deeper := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	was := jsonspan.Get(in, name)
	switch {
	case deeper:
		return object.Set(in, name, withAt(was, rest, value))
	case value == "":
		return jsonspan.Without(in, name)
	}
	return object.Set(in, name, []byte(value))
}

// TestBrokenInputIsRefused: at everything that an agent can refuse, an input that is not
// what this agent writes is refused, whether the event is named on the command line or not.
func TestBrokenInputIsRefused(t *testing.T) {
	for _, a := range All {
		for _, path := range golden.Inputs(t, filepath.Join("testdata", a.Name)) {
			row := a.Row(golden.EventOf(a, path))
			if row == nil || !row.Can.Block.Possible() || strings.Contains(path, "afterTools") || strings.Contains(path, "aborted") {
				continue
			}
			stdin, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			gate := row.Event == protocol.ToolCallStart || row.Event == protocol.PermissionRequest || row.Event == protocol.PromptSubmit
			for what, wrecked := range wrecks(stdin, gate) {
				_, err := a.Read(row.Name, wrecked, small)
				if err == nil {
					if !unread(row, what) {
						t.Errorf("%s: %s was read", path, what)
					}
					continue
				}
				if answer := a.Refuse(row.Name, err); !refuses(answer) {
					t.Errorf("%s: %s: %v passes: %+v", path, what, err, answer)
				}
				if answer := a.Refuse("", err); !refuses(answer) {
					t.Errorf("%s: %s: %v passes where the event is not named: %+v", path, what, err, answer)
				}
			}
		}
	}
}

// unread reports whether a row's event does not have the wrecked member for what is called.
func unread(row *dialect.Row, what string) bool {
	isCall := row.Event != protocol.PromptSubmit
	return isCall && (strings.HasPrefix(what, "/prompt ") || strings.HasPrefix(what, "/message ")) ||
		row.Name == "userPromptTransformed" && strings.HasPrefix(what, "/prompt ") ||
		row.Name == "beforeMCPExecution" && strings.HasPrefix(what, "/command ") ||
		strings.HasPrefix(row.Name, "before") && row.Name != "beforeMCPExecution" && strings.HasPrefix(what, "/tool_input ")
}

// FuzzBridge: whatever an agent writes, an event that can be refused is never answered
// with a yes when it could not be read, what was read is an event that our own check
// accepts, and every answer to it is whole.
func FuzzBridge(f *testing.F) {
	for i, a := range All {
		files, _ := filepath.Glob(filepath.Join("testdata", a.Name, "*.json"))
		for _, path := range files {
			if text, err := os.ReadFile(path); err == nil {
				f.Add(uint8(i), golden.EventOf(a, path), text)
				f.Add(uint8(i), "", text[:len(text)/2])
			}
		}
	}
	f.Fuzz(func(t *testing.T, agent uint8, name string, stdin []byte) {
		a := All[int(agent)%len(All)]
		call, err := a.Read(name, stdin, golden.Limits)
		if err != nil {
			if _, unknown := errors.AsType[*dialect.UnknownEventError](err); unknown || errors.Is(err, dialect.ErrNothing) {
				return
			}
			input, _ := errors.AsType[*dialect.InputError](err)
			if row := a.Row(input.Event); (row == nil || row.Can.Block.Possible()) && !refuses(a.Refuse(name, err)) {
				t.Errorf("%s %s: %v passes", a.Name, name, err)
			}
			return
		}
		call.Event.Data = protocol.Complete(call.Event.Spec(), call.Event.Data)
		if err := protocol.CheckData(call.Event.Spec(), call.Event.Data); err != nil {
			t.Errorf("%s %s: %v", a.Name, name, err)
		}
		for _, p := range parts {
			out := protocol.Outcome{Action: protocol.Observe, Event: call.Event}
			if p.say(&out) {
				answer := call.Answer(&out)
				checkWhole(t, a, answer)
				if p.name == "block" && call.Row.Can.Block.Possible() && !refuses(answer) {
					t.Errorf("%s %s: a block passes: %q", a.Name, name, answer.Stdout)
				}
			}
		}
	})
}

// A command line that names an event which the agent does not have is refused, unless the
// input says that it is about that event, too: a newer agent may have it.
func TestMisspeltEventIsRefused(t *testing.T) {
	call := `"tool_name":"Bash","tool_input":{"command":"ls"},"session_id":"s"`
	for _, test := range []struct {
		agent, name, input string
		refused            bool
	}{
		{"claude", "PreToolUSe", `{"hook_event_name":"PreToolUse",` + call + `}`, true},
		{"claude", "pretooluse", `{` + call + `}`, true},
		{"claude", "Newest", `{"hook_event_name":"Newer",` + call + `}`, true},
		{"claude", "Newest", `{"hook_event_name":"Newest",` + call + `}`, false},
		{"claude", "", `{"hook_event_name":"Newest",` + call + `}`, false},
		{"claude", "notification", `{"hook_event_name":"Notification","message":"m"}`, false},
		{"copilot", "PreToolUSE", `{"toolName":"bash","toolArgs":{"command":"ls"},"sessionId":"s"}`, true},
		{"cline", "Pretooluse", `{"hookName":"PreToolUse","taskId":"s","preToolUse":{"toolName":"bash","parameters":{"command":"ls"}}}`, true},
		{"cline", "", `{"hookName":"tool_call","taskId":"s","preToolUse":{"toolName":"bash","parameters":{"command":"ls"}}}`, true},
		{"opencode", "tool.execute", `{` + call + `}`, true},
	} {
		a := Find(test.agent)
		_, err := a.Read(test.name, []byte(test.input), small)
		if err == nil {
			t.Errorf("%s %q was read", test.agent, test.name)
			continue
		}
		if answer := a.Refuse(test.name, err); refuses(answer) != test.refused || test.agent == "cline" && !strings.Contains(string(answer.Stdout), `"cancel":true`) {
			t.Errorf("%s %q: %v: %+v", test.agent, test.name, err, answer)
		}
	}
}
