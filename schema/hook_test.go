package schema

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/document"
)

// described reads a description that may be faulty.
func described(t *testing.T, source Source, text string) Described {
	t.Helper()
	n, err := document.Parse(document.JSON, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d, _ := DecodeEntry(n, source, Pos{File: string(source)}, "x")
	return d
}

// Each field is taken from the strongest source that has it, whatever the
// others say and in whatever order they are handed over.
func TestFieldByField(t *testing.T) {
	all := []Described{
		described(t, FromProgram, `{"description": "D", "events": ["agent-end"], "priority": 1, "timeout": "1s", "args": ["D"], "env": ["D"], "can": "observe"}`),
		described(t, FromSettings, `{"name": "x", "description": "S"}`),
		described(t, FromSideFile, `{"description": "F", "events": ["agent-stop"], "priority": 3, "timeout": "3s", "args": ["F"]}`),
		described(t, FromHeader, `{"description": "H", "events": ["agent-start"], "priority": 2}`),
	}
	want := Hook{
		Name: "x", Description: "S", Events: []protocol.EventName{protocol.AgentStart}, Priority: 2,
		Timeout: 3 * time.Second, Args: []string{"F"}, Env: []string{"D"}, Can: protocol.CanObserve,
		Protocol: 1, Mode: protocol.Enforce, OnFailure: protocol.RuleContinue, Run: Once, Dialect: "hookd", Enabled: true,
	}
	for i := range all {
		order := append(append([]Described{}, all[i:]...), all[:i]...)
		got, findings := Resolve(Defaults{Name: "x", Timeout: time.Minute}, order...)
		if diff := cmp.Diff(want, got.Hook); diff != "" || len(findings) > 0 || got.DescribedBy != FromHeader {
			t.Errorf("from %s on: %v by %s (-want +got):\n%s", order[0].From, brief(findings), got.DescribedBy, diff)
		}
	}
}

func TestRule(t *testing.T) {
	tests := []struct {
		class, written, layer string
		required              bool
		want                  protocol.Rule
	}{
		{"modify", "", "", false, protocol.RuleContinue},
		{"observe", "", "", false, protocol.RuleContinue},
		{"block", "", "", false, protocol.RuleBlock},
		{"block", "continue", "", false, protocol.RuleContinue},
		{"modify", "stop", "", false, protocol.RuleStop},
		{"block", "", "continue", false, protocol.RuleContinue},
		{"modify", "", "stop", false, protocol.RuleStop},
		{"modify", "continue", "stop", false, protocol.RuleContinue},
		{"modify", "", "", true, protocol.RuleBlock},
		{"observe", "", "continue", true, protocol.RuleBlock},
		{"observe", "", "stop", true, protocol.RuleStop},
	}
	for _, tt := range tests {
		text := fmt.Sprintf(`{"name": "x", "events": ["agent-start"], "can": %q, "required": %v`, tt.class, tt.required)
		if tt.written != "" {
			text += fmt.Sprintf(`, "onFailure": %q`, tt.written)
		}
		got, findings := Resolve(Defaults{Name: "x", OnFailure: protocol.Rule(tt.layer)}, described(t, FromSettings, text+"}"))
		if got.Rejected || len(findings) > 0 || got.Hook.OnFailure != tt.want {
			t.Errorf("%+v: rule %s, rejected %v, %v", tt, got.Hook.OnFailure, got.Rejected, brief(findings))
		}
	}
}

// hooks.required names a hook that says otherwise: the name wins, the hook runs.
func TestRequiredByName(t *testing.T) {
	d := described(t, FromHeader, `{"events": ["agent-start"], "onFailure": "continue", "mode": "audit", "required": false}`)
	got, findings := Resolve(Defaults{Name: "x", Required: true}, d)
	if got.Rejected || !got.Hook.Required || got.Hook.OnFailure != protocol.RuleBlock || got.Hook.Mode != protocol.Enforce {
		t.Errorf("%+v", got)
	}
	want := []string{
		"header:1 onFailure (x): onFailure continue counts for nothing: hooks.required names x -> write onFailure block or stop",
		"header:1 mode (x): mode audit counts for nothing: hooks.required names x -> write mode enforce",
	}
	if diff := cmp.Diff(want, brief(findings)); diff != "" {
		t.Error(diff)
	}
}

func TestEvents(t *testing.T) {
	var gatesAndPoints []protocol.EventName
	for _, s := range protocol.Table {
		if s.Kind != protocol.Notice {
			gatesAndPoints = append(gatesAndPoints, s.Name)
		}
	}
	tests := []struct {
		written string
		want    []protocol.EventName
	}{
		{`"*"`, gatesAndPoints},
		{`["*"]`, gatesAndPoints},
		{`["PreToolUse", "before_tool_use", "tool-call-start"]`, []protocol.EventName{protocol.ToolCallStart}},
		{`["Notification", "Stop"]`, []protocol.EventName{protocol.AgentStop, protocol.Notification}},
	}
	for _, tt := range tests {
		got, findings := Resolve(Defaults{Name: "x"}, described(t, FromSettings, `{"name": "x", "events": `+tt.written+`}`))
		if diff := cmp.Diff(tt.want, got.Hook.Events); diff != "" || len(findings) > 0 {
			t.Errorf("%s: %v (-want +got):\n%s", tt.written, brief(findings), diff)
		}
	}
}

// What a rejected hook would have guarded: its gates, under its rule, and where
// that cannot be read every gate, under block.
func TestGuards(t *testing.T) {
	all := canonical(Events{AllEvents})
	start := []protocol.EventName{protocol.ToolCallStart}
	tests := []struct {
		name   string
		header string // "" for none
		entry  string // of the settings; every one is faulty
		guards bool
		rule   protocol.Rule
		events []protocol.EventName
		tool   []string
	}{
		{"no guard", "", `{"name": "x", "events": ["PreToolUse"], "timeout": "soon"}`, false, protocol.RuleContinue, start, nil},
		{"an observer", "", `{"name": "x", "events": ["PreToolUse"], "can": "observe", "timeout": "soon"}`, false, protocol.RuleContinue, start, nil},
		{"a guard", "", `{"name": "x", "events": ["PreToolUse"], "can": "block", "match": {"tool": "bash"}, "timeout": "soon"}`, true, protocol.RuleBlock, start, []string{"bash"}},
		{"required", "", `{"name": "x", "events": ["PreToolUse"], "required": true, "timeout": "soon"}`, true, protocol.RuleBlock, start, nil},
		{"a modifier that must not fail", "", `{"name": "x", "events": ["PreToolUse"], "onFailure": "stop", "timeout": "soon"}`, true, protocol.RuleStop, start, nil},
		{"a guard that may fail", "", `{"name": "x", "events": ["PreToolUse"], "can": "block", "onFailure": "continue", "timeout": "soon"}`, true, protocol.RuleContinue, start, nil},
		{"class unreadable", "", `{"name": "x", "events": ["PreToolUse"], "can": "blok"}`, true, protocol.RuleBlock, start, nil},
		{"class misspelt", "", `{"name": "x", "events": ["PreToolUse"], "cann": "block"}`, true, protocol.RuleBlock, start, nil},
		{"required unreadable", "", `{"name": "x", "events": ["PreToolUse"], "required": "yes"}`, true, protocol.RuleBlock, start, nil},
		{"rule unreadable", "", `{"name": "x", "events": ["PreToolUse"], "onFailure": "blok"}`, true, protocol.RuleBlock, start, nil},
		{"events unreadable", "", `{"name": "x", "events": ["PreToolUs"], "can": "block"}`, true, protocol.RuleBlock, all, nil},
		{"matcher unreadable", "", `{"name": "x", "events": ["PreToolUse"], "can": "block", "match": {"tool": "("}}`, true, protocol.RuleBlock, start, nil},
		{"nothing readable", "", `"x"`, true, protocol.RuleBlock, all, nil},
		{"switched off", "", `{"name": "x", "events": ["PreToolUse"], "can": "block", "enabled": false, "timeout": "soon"}`, false, protocol.RuleBlock, start, nil},
		{"audit", "", `{"name": "x", "events": ["PreToolUse"], "can": "block", "mode": "audit", "timeout": "soon"}`, false, protocol.RuleBlock, start, nil},
		{"audit unreadable", "", `{"name": "x", "events": ["PreToolUse"], "can": "block", "mode": "audti"}`, true, protocol.RuleBlock, start, nil},
		{"a guard by its header", `{"events": ["PreToolUse"], "can": "block"}`, `{"name": "x", "timeout": "soon"}`, true, protocol.RuleBlock, start, nil},
		{"the entry says otherwise", `{"events": ["PreToolUse"], "can": "block"}`, `{"name": "x", "can": "observe", "timeout": "soon"}`, false, protocol.RuleContinue, start, nil},
		{"the entry is not to be read", `{"events": ["PreToolUse"], "can": "observe"}`, `{"name": "x", "can": "blck"}`, true, protocol.RuleBlock, start, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sources := []Described{described(t, FromSettings, tt.entry)}
			if len(sources[0].Faults) == 0 {
				t.Fatal("the entry is not faulty")
			}
			if tt.header != "" {
				sources = append(sources, described(t, FromHeader, tt.header))
			}
			got, _ := Resolve(Defaults{Name: "x"}, sources...)
			if !got.Rejected || got.Guards != tt.guards || got.Hook.OnFailure != tt.rule {
				t.Errorf("rejected %v, guards %v, rule %s", got.Rejected, got.Guards, got.Hook.OnFailure)
			}
			if diff := cmp.Diff(tt.events, got.Hook.Events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.tool, got.Hook.Match.Tool); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamesEvents(t *testing.T) {
	tests := map[string]bool{
		`{"can": "block"}`:            false,
		`{"events": ["agent-start"]}`: true,
		`{"events": ["agent-strt"]}`:  true, // unreadable, but there: the program is not asked
		`{"events": 3}`:               true,
		`"no object"`:                 true,
	}
	for text, want := range tests {
		if got := NamesEvents(described(t, FromHeader, text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if NamesEvents() {
		t.Error("nothing names events")
	}
}

// A layer's onFailure rules its own hooks; the managed layer's is also the least
// that a hook of any other layer has, whatever the hook says of itself.
func TestManagedRuleIsTheLeast(t *testing.T) {
	settings := DefaultSettings()
	settings.Hooks.OnFailure = map[protocol.Layer]protocol.Rule{protocol.User: protocol.RuleStop, protocol.Managed: protocol.RuleBlock}
	says := func(rule string) []Described {
		d := Described{From: FromHeader, Entry: Entry{Events: Events{"tool-call-start"}}}
		if rule != "" {
			d.OnFailure = &rule
		}
		return []Described{d}
	}
	for _, tc := range []struct {
		layer    protocol.Layer
		says     string
		want     protocol.Rule
		findings int
	}{
		{protocol.Project, "", protocol.RuleBlock, 0},
		{protocol.Project, "continue", protocol.RuleBlock, 1},
		{protocol.Project, "stop", protocol.RuleStop, 0},
		{protocol.User, "", protocol.RuleStop, 0},
		{protocol.User, "continue", protocol.RuleBlock, 1},
		{protocol.Managed, "continue", protocol.RuleContinue, 0},
	} {
		got, findings := Resolve(DefaultsFor(&settings, tc.layer, "h", "/h"), says(tc.says)...)
		if got.Rejected || got.Hook.OnFailure != tc.want || len(findings) != tc.findings {
			t.Errorf("%s says %q: %s, %v", tc.layer, tc.says, got.Hook.OnFailure, findings)
		}
	}
}

// Settings that are made by hand lack nothing that cannot be 0.
func TestCompleteFillsWhatCannotBeZero(t *testing.T) {
	var s Settings
	s.Hooks.Grace = 0
	s.Complete()
	if s.Hooks.Processes != 16 || s.Hooks.Limits.Reply == 0 || s.Hooks.Grace != 0 || s.Hooks.Limits.Context != 0 {
		t.Errorf("%+v", s.Hooks)
	}
}
