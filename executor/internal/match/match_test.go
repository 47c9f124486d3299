package match

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

func toolEvent(name, kind string) *protocol.Event {
	return &protocol.Event{
		Event: protocol.ToolCallStart,
		Data:  protocol.RawMessage(fmt.Sprintf(`{"toolCallId":"c1","name":%q,"kind":%q,"args":{"command":"ls","name":"inner","n":9007199254740993}}`, name, kind)),
	}
}

// H08: what each way of writing a tool matcher matches, and what is an error.
func TestToolPatterns(t *testing.T) {
	for _, tc := range []struct {
		pattern, tool, kind string
		want                bool
	}{
		{"Edit", "Edit", "write", true},
		{"Edit", "MultiEdit", "write", false},
		{"bash", "Bash", "shell", true},
		{"bash", "bash", "shell", true},
		{"inner", "bash", "shell", false},
		{"mcp__x", "mcp__x__y", "mcp", false},
		{"mcp__x*", "mcp__x__y", "mcp", true},
		{"mcp__{x,y}__*", "mcp__y__z", "mcp", true},
		{"*", "any/thing", "other", true},
		{"/Edit|Write/", "Write", "write", true},
		{"/Edit|Write/", "MultiEdit", "write", false},
		{"/.*Edit/", "MultiEdit", "write", true},
		{"@shell", "bash", "shell", true},
		{"@shell", "read_file", "read", false},
		{"@shell", "mystery", "other", true},
		{"@net", "mystery", "", true},
		{"@read", "mystery", "teleport", true},
		{"@mcp", "mystery", "mcp", true},
		{"bash", "", "", true}, // the event names no tool, as one of hookd fire with a misspelt member
		{"/bash/", "", "", true},
		{"mcp__*", "", "shell", true},
	} {
		m, _, err := Compile(&schema.Match{Tool: []string{tc.pattern}})
		if err != nil {
			t.Fatalf("%s: %v", tc.pattern, err)
		}
		if got, _ := m.matches(NewInput(toolEvent(tc.tool, tc.kind), nil)); got != tc.want {
			t.Errorf("pattern %s, tool %s (%s): matched %v, want %v", tc.pattern, tc.tool, tc.kind, got, tc.want)
		}
	}
}

// Of another agent's event both names match: hookd's and that agent's own.
func TestToolOfAnotherAgent(t *testing.T) {
	ev := toolEvent("mcp__my__echo", "mcp")
	ev.Data = protocol.RawMessage(`{"toolCallId":"c1","name":"mcp__my__echo","hostTool":"my-echo","kind":"mcp","args":{}}`)
	for pattern, want := range map[string]bool{
		"mcp__my__echo": true, "my-echo": true, "my-*": true, "/my-(echo|ask)/": true, "@mcp": true, "echo": false, "/mcp__other.*/": false, "@shell": false,
	} {
		m, _, err := Compile(&schema.Match{Tool: []string{pattern}})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := m.matches(NewInput(ev, nil)); got != want {
			t.Errorf("%s matched %v, want %v", pattern, got, want)
		}
	}
}

func TestMatchErrors(t *testing.T) {
	for _, tc := range []struct {
		match schema.Match
		key   string
		want  string
	}{
		{schema.Match{Tool: []string{""}}, "tool", "empty"},
		{schema.Match{Tool: []string{"("}}, "tool", "slashes"},
		{schema.Match{Tool: []string{"Bash(ls:*)"}}, "tool", "match.when"},
		{schema.Match{Tool: []string{"/(/"}}, "tool", "missing closing"},
		{schema.Match{Tool: []string{"[a"}}, "tool", "glob"},
		{schema.Match{Tool: []string{"@shel"}}, "tool", "@shell"},
		{schema.Match{Tool: []string{"Edit|Write"}}, "tool", "slashes"},
		{schema.Match{Source: []string{""}}, "source", "empty"},
		{schema.Match{Agent: "child"}, "agent", "main"},
		{schema.Match{Step: "last"}, "step", "final"},
		{schema.Match{When: "data.name =="}, "when", ""},
		{schema.Match{When: "tol == 'x'"}, "when", "tol"},
		{schema.Match{When: "session.idd == 'x'"}, "when", "idd"},
		{schema.Match{When: "turn + 1"}, "when", "bool"},
	} {
		_, key, err := Compile(&tc.match)
		if err == nil || key != tc.key || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: key %q, error %v; want key %q and %q", tc.match, key, err, tc.key, tc.want)
		}
	}
}

func TestMatchKeys(t *testing.T) {
	prompt := &protocol.Event{Event: protocol.PromptSubmit, Data: protocol.RawMessage(`{"prompt":"hi","source":"user","attachments":[]}`)}
	step := &protocol.Event{Event: protocol.StepStop, Data: protocol.RawMessage(`{"messages":[],"type":"tools","calls":[],"durationMs":1}`)}
	sub := toolEvent("bash", "shell")
	sub.Agent.Depth = 1
	unreadable := toolEvent("bash", "shell")
	unreadable.Data = protocol.RawMessage(`{"name":"ba`)
	for name, tc := range map[string]struct {
		match    schema.Match
		event    *protocol.Event
		metadata string
		want     bool
		wantErr  bool
	}{
		"source":                        {schema.Match{Source: []string{"recipe", "user"}}, prompt, "", true, false},
		"other source":                  {schema.Match{Source: []string{"recipe"}}, prompt, "", false, false},
		"tool means nothing here":       {schema.Match{Tool: []string{"bash"}}, prompt, "", true, false},
		"step":                          {schema.Match{Step: "final"}, step, "", false, false},
		"step means nothing here":       {schema.Match{Step: "final"}, prompt, "", true, false},
		"main":                          {schema.Match{Agent: "main"}, sub, "", false, false},
		"sub":                           {schema.Match{Agent: "sub"}, sub, "", true, false},
		"all keys must hold":            {schema.Match{Agent: "sub", Tool: []string{"edit"}}, sub, "", false, false},
		"when":                          {schema.Match{When: `data.args.command == "ls" && agent.depth == 1`}, sub, "", true, false},
		"when says no":                  {schema.Match{When: `data.args.command matches "rm"`}, sub, "", false, false},
		"exact numbers":                 {schema.Match{When: `data.args.n == 9007199254740992`}, sub, "", false, false},
		"metadata":                      {schema.Match{When: `metadata["a.sh"].seen`}, sub, `{"a.sh":{"seen":true}}`, true, false},
		"failing condition matches":     {schema.Match{When: `data.args.missing.deeper == 1`}, sub, "", true, true},
		"not a bool matches":            {schema.Match{When: `data.args.command`}, sub, "", true, true},
		"unreadable data matches":       {schema.Match{Tool: []string{"edit"}}, unreadable, "", true, false},
		"unreadable data, when":         {schema.Match{When: `data.name == "edit"`}, unreadable, "", true, true},
		"time and recipe are reachable": {schema.Match{When: `time.Year() == 1 && recipe == nil && usage.costUsd == nil`}, sub, "", true, false},
	} {
		m, _, err := Compile(&tc.match)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		in := NewInput(tc.event, func() protocol.RawMessage { return protocol.RawMessage(tc.metadata) })
		got, err := m.matches(in)
		if got != tc.want || (err != nil) != tc.wantErr {
			t.Errorf("%s: %v, %v; want %v, error %v", name, got, err, tc.want, tc.wantErr)
		}
	}
}

func (m *Matcher) matches(in *Input) (bool, error) {
	if !m.Fits(&in.Input) {
		return false, nil
	}
	d, err := m.Decide(context.Background(), in)
	return d != No, err
}
