package hosts

import (
	"slices"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// codexTakes are the members that Codex takes at each event, where it does what they say:
// with any other one it throws the whole answer away and goes on. * stands for those of
// hookSpecificOutput.
var codexTakes = map[string][]string{
	"PreToolUse":        {"systemMessage", "hookSpecificOutput", "*hookEventName", "*permissionDecision", "*permissionDecisionReason", "*updatedInput", "*additionalContext"},
	"PermissionRequest": {"systemMessage", "hookSpecificOutput", "*hookEventName", "*decision"},
	"PostToolUse":       {"systemMessage", "decision", "reason", "hookSpecificOutput", "*hookEventName", "*additionalContext"},
	"UserPromptSubmit":  {"systemMessage", "continue", "stopReason", "decision", "reason", "hookSpecificOutput", "*hookEventName", "*additionalContext"},
	"SessionStart":      {"systemMessage", "continue", "stopReason", "hookSpecificOutput", "*hookEventName", "*additionalContext"},
	"SubagentStart":     {"systemMessage", "continue", "stopReason", "hookSpecificOutput", "*hookEventName", "*additionalContext"},
	"Stop":              {"systemMessage", "continue", "stopReason", "decision", "reason"},
	"SubagentStop":      {"systemMessage", "continue", "stopReason", "decision", "reason"},
	"PreCompact":        {"systemMessage", "continue", "stopReason"},
	"PostCompact":       {"systemMessage", "continue", "stopReason"},
	"Interrupt":         {"systemMessage"},
}

// TestCodexTakesEveryAnswer: whatever hooks decide together, the answer has no member that
// Codex does not take there, no reason without a decision, and no decision without a reason.
func TestCodexTakesEveryAnswer(t *testing.T) {
	for i := range codex.Rows {
		row := &codex.Rows[i]
		call := sample(t, codex, row)
		for _, out := range pairs(call) {
			answer := call.Answer(&out)
			for _, m := range jsonspan.Members(answer.Stdout) {
				if !slices.Contains(codexTakes[row.Name], m.Name) {
					t.Errorf("%s: %s in %s", row.Name, m.Name, answer.Stdout)
				}
			}
			specific := jsonspan.Get(answer.Stdout, "hookSpecificOutput")
			for _, m := range jsonspan.Members(specific) {
				if !slices.Contains(codexTakes[row.Name], "*"+m.Name) {
					t.Errorf("%s: %s in %s", row.Name, m.Name, answer.Stdout)
				}
			}
			decision, reason := jsonspan.Get(answer.Stdout, "decision"), jsonspan.Text(jsonspan.Get(answer.Stdout, "reason"))
			if (decision == nil) != (reason == "") {
				t.Errorf("%s: %s", row.Name, answer.Stdout)
			}
			permission, why := jsonspan.Text(jsonspan.Get(specific, "permissionDecision")), jsonspan.Get(specific, "permissionDecisionReason")
			if (permission == "deny") != (why != nil) || (permission == "allow") != (jsonspan.Get(specific, "updatedInput") != nil) || permission == "ask" {
				t.Errorf("%s: %s", row.Name, answer.Stdout)
			}
			if c := jsonspan.Get(answer.Stdout, "continue"); c != nil && row.Name != "PreCompact" && row.Name != "UserPromptSubmit" {
				t.Errorf("%s: Codex does not support %s", row.Name, answer.Stdout)
			}
		}
	}
}

// TestGooseTakesEveryAnswer: anything but nothing or a decision is a failure of the hook.
func TestGooseTakesEveryAnswer(t *testing.T) {
	for i := range goose.Rows {
		call := sample(t, goose, &goose.Rows[i])
		for _, out := range pairs(call) {
			for _, m := range jsonspan.Members(call.Answer(&out).Stdout) {
				if m.Name != "decision" && m.Name != "reason" {
					t.Errorf("%s: %s", call.Row.Name, m.Name)
				}
			}
		}
	}
}

// pairs are outcomes of any two parts together.
func pairs(call *dialect.Call) (outcomes []protocol.Outcome) {
	for _, first := range parts {
		for _, second := range parts {
			out := protocol.Outcome{Action: protocol.Observe, Event: call.Event}
			if first.say(&out) && second.say(&out) {
				outcomes = append(outcomes, out)
			}
		}
	}
	return outcomes
}
