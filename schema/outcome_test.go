package schema_test

import (
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// An outcome with all members and one with none that may be absent are described by the
// schema, and what a host must not obey is not.
func TestOutcomeSchema(t *testing.T) {
	r := resolved(t, "outcome")
	hook, three := "guard.sh", 3
	row := protocol.Lookup(protocol.ToolCallStart)
	event := protocol.Event{Protocol: protocol.Version, Event: row.Name, ID: "x", Data: protocol.Complete(row, nil)}
	none := protocol.Outcome{Action: protocol.Observe, Event: event}
	none.Context, none.Notices, none.Messages, none.Runs = []protocol.HookText{}, []protocol.HookText{}, []protocol.Message{}, []protocol.Run{}
	all := protocol.Outcome{
		Action: protocol.Block, By: &hook, Reason: "no", Failure: protocol.FailExit, ByExit: true, Event: event,
		Context:  []protocol.HookText{{Hook: hook, Source: protocol.User, Text: "a"}},
		Notices:  []protocol.HookText{{Hook: "hookd", Text: "b", Failure: protocol.FailExit}},
		Messages: []protocol.Message{{Role: "user", Content: protocol.Content{{Type: "text", Text: "c"}}}},
		Callback: &protocol.CallbackCall{Name: "r", Args: map[string]string{"a": "b"}, As: protocol.AsState, By: hook},
		Runs: []protocol.Run{
			{Hook: hook, Source: protocol.User, Class: protocol.CanBlock, Mode: protocol.Enforce, Action: protocol.Block, Failure: protocol.FailExit, Exit: &three, Rule: protocol.RuleBlock, Changed: []string{"/args"}, Warnings: []string{"w"}, Dialect: "claude", Sensitive: true},
			{Hook: "b", Source: protocol.Builtin, Class: protocol.CanObserve, Mode: protocol.Audit, Would: protocol.Stop, Signal: "SIGSEGV", Skipped: protocol.SkipDropped, Changed: []string{}},
		},
		Answered: &protocol.Answered{By: protocol.ByPerson}, Replaced: protocol.RawMessage(`{"content":"x","isError":false}`),
		ReplacedBy: hook, Lost: []string{"l"}, ArgsHidden: true, Generation: 4,
	}
	for name, outcome := range map[string]protocol.Outcome{"none": none, "all": all} {
		text, err := protocol.Marshal(outcome)
		if err != nil {
			t.Fatal(err)
		}
		line := strings.Replace(string(text), `"time":null`, `"time":"2026-11-27T20:54:00.123Z"`, 1)
		if err := validate(t, r, line); err != nil {
			t.Errorf("%s: %v\n%s", name, err, line)
		}
		if err := validate(t, r, strings.Replace(line, `{`, `{"newer":{"x":1},`, 1)); err != nil {
			t.Errorf("%s: an unknown member: %v", name, err)
		}
		for what, broken := range map[string]string{
			"without an action": strings.Replace(line, `"action":`, `"action2":`, 1),
			"unknown action":    strings.Replace(line, `"action":"`, `"action":"x`, 1),
			"without an event":  strings.Replace(line, `"event":{`, `"event2":{`, 1),
			"data is a text":    strings.Replace(line, `"data":{`, `"data":"","data2":{`, 1),
			"context is null":   strings.Replace(line, `"context":[`, `"context":null,"context2":[`, 1),
		} {
			if broken == line || validate(t, r, broken) == nil {
				t.Errorf("%s: %s: it is valid", name, what)
			}
		}
	}
}
