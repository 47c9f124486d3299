package executor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
		m, _, err := compileMatch(&schema.Match{Tool: []string{tc.pattern}})
		if err != nil {
			t.Fatalf("%s: %v", tc.pattern, err)
		}
		if got, _ := m.matches(newFacts(toolEvent(tc.tool, tc.kind))); got != tc.want {
			t.Errorf("pattern %s, tool %s (%s): matched %v, want %v", tc.pattern, tc.tool, tc.kind, got, tc.want)
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
		_, key, err := compileMatch(&tc.match)
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
		m, _, err := compileMatch(&tc.match)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f := newFacts(tc.event)
		f.metadata = func() protocol.RawMessage { return protocol.RawMessage(tc.metadata) }
		got, err := m.matches(f)
		if got != tc.want || (err != nil) != tc.wantErr {
			t.Errorf("%s: %v, %v; want %v, error %v", name, got, err, tc.want, tc.wantErr)
		}
	}
}

func (m *matcher) matches(f *facts) (bool, error) {
	if !m.fits(f) {
		return false, nil
	}
	d, err := m.holds(context.Background(), f)
	return d != no, err
}

// The list of candidates that is remembered is the one that comparing each hook
// with the event gives, however many tools there are.
func TestCandidates(t *testing.T) {
	var hooks []*Hook
	for i, match := range []schema.Match{
		{}, {Tool: []string{"tool7"}}, {Tool: []string{"tool*", "bash"}}, {Tool: []string{"/tool.?/"}}, {Tool: []string{"@shell"}},
		{Agent: "sub"}, {Agent: "main", Tool: []string{"@net"}}, {Source: []string{"user"}}, {Step: "final"}, {When: "turn == 1"},
	} {
		h := testHook(fmt.Sprintf("%d", i))
		h.Match = match
		h.Can = []protocol.Class{protocol.CanModify, protocol.CanBlock, protocol.CanObserve}[i%3]
		h.Asker = &goAsker{}
		if i == 2 {
			h.Asker, h.Status = nil, Untrusted // only listed
		}
		h.Events = []protocol.EventName{protocol.ToolCallStart, protocol.PromptSubmit, protocol.InferenceEnd, protocol.AgentEnd}
		hooks = append(hooks, h)
	}
	set, errs := NewSet(Set{Hooks: hooks})
	if errs != nil {
		t.Fatal(errs)
	}
	e := New(set, Options{})
	defer e.Close(context.Background())
	compare := func(event protocol.EventName, depth int, data string) {
		ev := protocol.Event{Event: event, Agent: protocol.Agent{Depth: depth}, Data: protocol.RawMessage(data)}
		var want []string
		for _, h := range set.For(event) {
			if h.runs() && h.match.fits(newFacts(&ev)) {
				want = append(want, h.Name)
			}
		}
		asked := e.begin(t.Context(), ev, set).asked()
		var got []string
		for _, h := range slices.Concat(asked.modify, asked.block, asked.observe) {
			got = append(got, h.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(asked.all) != len(got) {
			t.Errorf("%s %s, depth %d (-want +got):\n%s", event, data, depth, diff)
		}
	}
	for range 2 {
		for depth := range 2 {
			for i := range maxRemembered + 10 {
				compare(protocol.ToolCallStart, depth, fmt.Sprintf(`{"name":"tool%d","kind":"other"}`, i))
			}
			for _, data := range []string{
				`{"name":"bash","kind":"shell"}`, `{"name":"curl","kind":"net"}`, `{"name":"fetch","kind":"new"}`, `{"name":"ba`, `[]`, ``,
				`{"name":"` + strings.Repeat("x", 1000) + `","kind":"mcp"}`,
				`{"source":"user"}`, `{"source":"hook"}`, `{"type":"final"}`, `{"type":"tools"}`,
			} {
				for _, event := range []protocol.EventName{protocol.ToolCallStart, protocol.PromptSubmit, protocol.InferenceEnd, protocol.AgentEnd} {
					compare(event, depth, data)
				}
			}
		}
	}
	if n := len(set.candidates.lists); n == 0 || n > maxRemembered {
		t.Errorf("%d lists are remembered", n)
	}
}

func testHook(name string) *Hook {
	return &Hook{
		Hook: schema.Hook{
			Name: name, Layer: protocol.User, Events: []protocol.EventName{protocol.ToolCallStart},
			Can: protocol.CanBlock, Mode: protocol.Enforce, OnFailure: protocol.RuleBlock,
			Timeout: 5 * time.Second, Enabled: true,
		},
		Status: Ready,
	}
}
