package model

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t *testing.T, script string) *Scripted {
	t.Helper()
	s, err := Parse("script.yaml", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func collect(ctx context.Context, s *Scripted, r Request) (chunks []Chunk, err error) {
	for chunk, e := range s.Generate(ctx, r) {
		if e != nil {
			return chunks, e
		}
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

func TestPlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := parse(t, `
name: demo
contextMax: 1000
turns:
- delay: 1s
  thinking: hm
  text: "añb€"
  chunk: 2
  chunkDelay: 500ms
  toolCalls:
  - {name: bash, args: {command: ls, id: 9007199254740993, x: 1.10, e: 1e400, list: [true, null, "7", ~, 0x10]}}
  - {id: mine, name: list_dir}
  usage: {inputTokens: 7, outputTokens: 3, contextTokens: 10, costUsd: 0.5}
- text: last
`)
		began := time.Now()
		got, err := collect(t.Context(), s, Request{})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 1500*time.Millisecond {
			t.Errorf("took %s", took)
		}
		seven, three, ten, max, cost := int64(7), int64(3), int64(10), int64(1000), 0.5
		want := []Chunk{
			{Type: Thinking, Text: "hm"}, {Type: Text, Text: "añ"}, {Type: Text, Text: "b€"},
			{Type: PartDone, Part: protocol.Part{Type: protocol.PartToolCall, ToolCallID: "call-1-1", Name: "bash",
				Args: []byte(`{"command":"ls","id":9007199254740993,"x":1.10,"e":1e400,"list":[true,null,"7",null,16]}`)}},
			{Type: PartDone, Part: protocol.Part{Type: protocol.PartToolCall, ToolCallID: "mine", Name: "list_dir", Args: []byte(`{}`)}},
			{Type: Usage, Usage: &protocol.CallUsage{InputTokens: &seven, OutputTokens: &three, ContextTokens: &ten, ContextMax: &max, CostUSD: &cost}},
			{Type: Finish, Reason: "tools"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got, _ = collect(t.Context(), s, Request{}); got[len(got)-1].Reason != "stop" || s.Played() != 2 || s.Name() != "demo" {
			t.Errorf("second turn %+v, played %d, name %s", got, s.Played(), s.Name())
		}
		if _, err = collect(t.Context(), s, Request{}); err == nil || !strings.Contains(err.Error(), "script.yaml: the script has 2 turns") {
			t.Errorf("third call: %v", err)
		}
	})
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		turn, want string
		chunks     int
	}{
		"at once":    {"{fail: overloaded}", "overloaded", 0},
		"after text": {"{text: half, fail: overloaded}", "overloaded", 1},
		"aborted":    {"{hang: true}", "stop it", 0},
		"slow":       {"{delay: 1h, text: late}", "stop it", 0},
		"between":    {"{text: ab, chunk: 1, chunkDelay: 1h}", "stop it", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Minute, func() { cancel(errors.New("stop it")) })
				began := time.Now()
				chunks, err := collect(ctx, parse(t, "turns: ["+c.turn+"]"), Request{})
				if err == nil || err.Error() != c.want || len(chunks) != c.chunks {
					t.Errorf("%d chunks, %v", len(chunks), err)
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

func TestExpect(t *testing.T) {
	request := Request{
		Model: "demo", System: "be good",
		Tools: []protocol.Tool{{Name: "bash"}, {Name: "grep"}},
		Messages: []protocol.Message{
			{Role: protocol.RoleUser, Content: protocol.TextContent("list files")},
			{Role: protocol.RoleAssistant, Content: protocol.Content{{Type: protocol.PartToolCall, ToolCallID: "c1", Name: "bash", Args: []byte(`{"command":"ls"}`)}}},
			{Role: protocol.RoleTool, Content: protocol.Content{{Type: protocol.PartToolResult, ToolCallID: "c1", Content: protocol.TextContent("a.txt")}}},
		},
	}
	for _, c := range []struct{ expect, fails string }{
		{"{in: system, equals: be good}", ""},
		{"{in: system, equals: ''}", `to be ""`},
		{"{in: system, contains: bad}", `to contain "bad"`},
		{"{in: system, lacks: good}", `to lack "good"`},
		{"{in: messages, contains: 'bash {\"command\":\"ls\"}'}", ""},
		{"{in: messages, matches: 'list (files|folders)'}", ""},
		{"{in: messages, matches: '^files'}", `to match "^files"`},
		{"{in: lastMessage, equals: a.txt}", ""},
		{"{in: 'toolResult:c1', equals: a.txt}", ""},
		{"{in: 'toolResult:c2', equals: a.txt}", `sent ""`},
		{"{in: tools, equals: \"bash\\ngrep\"}", ""},
		{"{in: roles, equals: \"user\\nassistant\\ntool\"}", ""},
		{"{in: model, equals: demo}", ""},
		{"{in: params, equals: '{}'}", ""},
	} {
		_, err := collect(t.Context(), parse(t, "\n\nturns:\n- text: hi\n  expect: ["+c.expect+"]\n"), request)
		if c.fails == "" && err != nil {
			t.Errorf("%s: %v", c.expect, err)
		}
		if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails) || !strings.HasPrefix(err.Error(), "script.yaml:4: turn 1 expected")) {
			t.Errorf("%s: %v", c.expect, err)
		}
	}
}

// TestMistakes asserts that each error names the line.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"empty":             {"", "script script.yaml: the file is empty"},
		"no turns":          {"name: x\n", "has no turns"},
		"unknown key":       {"turns:\n- text: a\n  txet: b\n", `line 3: there is no key "txet" in turns[0]; did you mean text?`},
		"another key":       {"turns:\n- tools: [x]\n", `line 2: there is no key "tools" in turns[0]; the keys there are chunk, chunkDelay, delay, expect, fail, finishReason, hang, lost, retryAfter, status, text, thinking, toolCalls, usage`},
		"key of the whole":  {"turn:\n- text: a\n", `line 1: there is no key "turn" in the script; did you mean turns?`},
		"key of a call":     {"turns:\n- toolCalls: [{name: x, input: {}}]\n", `line 2: there is no key "input" in turns[0].toolCalls[0]; the keys there are args, id, name`},
		"no list":           {"turns: x\n", `line 1: turns is "x", where a list belongs`},
		"no mapping":        {"turns: [a]\n", `line 1: turns[0] is "a", where a mapping of keys belongs`},
		"a list as a whole": {"- text: a\n", "line 1: the script is a list, where a mapping of keys belongs"},
		"no number":         {"turns:\n- text: a\n  chunk: many\n", `line 3: turns[0].chunk is "many", where a whole number belongs`},
		"no truth":          {"turns:\n- text: a\n  hang: 3\n", `line 3: turns[0].hang is "3", where true or false belongs`},
		"no price":          {"turns:\n- usage: {costUsd: [1]}\n", "line 2: turns[0].usage.costUsd is a list, where a number belongs"},
		"through an alias":  {"name: &a [b]\nturns:\n- text: *a\n", "line 1: name is a list, where a text belongs"},
		"key twice":         {"turns:\n- text: a\n  text: b\n", `line 3: mapping key "text" already defined at line 2`},
		"wrong type":        {"turns:\n- text: [a]\n", "line 2: turns[0].text is a list, where a text belongs"},
		"not yaml":          {"turns: [\n", "line"},
		"two documents":     {"turns: [{text: a}]\n---\nturns: []\n", "more than one document"},
		"duration":          {"turns:\n- text: a\n- text: b\n  delay: soon\n", `line 4: "soon" is not a duration`},
		"negative":          {"turns:\n- delay: -1s\n", "line 2: a duration cannot be negative"},
		"finish reason":     {"turns:\n- text: a\n- finishReason: halt\n", `line 3: turn 2: finishReason "halt"`},
		"nameless call":     {"turns:\n- toolCalls: [{args: {}}]\n", "line 2: turn 1: tool call 1 has no name"},
		"key twice in args": {"turns:\n- toolCalls:\n  - name: x\n    args: {a: 1, a: 2}\n", "line 4"},
		"fail and usage":    {"turns:\n- fail: x\n  usage: {inputTokens: 1}\n", "line 2: turn 1: a turn that fails"},
		"expect nothing":    {"turns:\n- expect: [{in: system}]\n", "line 2: turn 1: expect: system: one of"},
		"expect where":      {"turns:\n- expect: [{in: sytem, contains: a}]\n", `"sytem" is not one of`},
		"expect pattern":    {"turns:\n- expect: [{in: system, matches: '('}]\n", "line 2: turn 1: expect: system: error parsing regexp"},
		"endless alias":     {"turns:\n- toolCalls: [{name: x, args: &a {b: *a}}]\n", "line 2"},
		"infinity":          {"turns:\n- toolCalls: [{name: x, args: {a: .inf}}]\n", "line 2: .inf has no JSON form"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("script.yaml", []byte(c.script))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.yaml")
	if _, err := Load(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(file, []byte("\ufeffturns: [{text: hi}]\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("turns:\n- text: hi\n  toolCalls: [{name: x, args: {a: &b [1, 2.5, ~], c: *b}}]\n  expect: [{in: system, matches: a+}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("f", data)
		if err != nil {
			return
		}
		for _, turn := range s.script.Turns {
			for _, call := range turn.ToolCalls {
				if !jsonspan.Valid(call.Args.json) {
					t.Errorf("args %s", call.Args.json)
				}
			}
		}
	})
}
