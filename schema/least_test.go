package schema

import (
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

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
