package protocol

import (
	"strings"
	"testing"
)

// N14: a misspelt name is never answered with one of the other side, where a guard
// would come too late.
func TestNearestEventIsOfTheSameSide(t *testing.T) {
	for word, want := range map[string]string{
		"tool-call-begin":  "tool-call-start",
		"tool-call-strat":  "tool-call-start",
		"tool-call-stat":   "tool-call-start",
		"tool-call-stop":   "tool-call-end",
		"tool-call-finish": "tool-call-end",
		"tool-call-done":   "tool-call-end",
		"before-tool-call": "before_tool_call",
		"tool-call-before": "tool-call-start",
		"after-tool-call":  "after_tool_call",
		"pretooluse":       "PreToolUse",
		"toolbefore":       "BeforeTool",
		"toolafter":        "AfterTool",
		"agent-begin":      "agent-start",
		"agent-finish":     "agent-stop",
		"session-begin":    "session-start",
		"session-stop":     "session-end",
		"subagent-begin":   "subagent-start",
		"compact-begin":    "compact-start",
		"compact-finished": "compact-end",
		"prompt-submitted": "prompt-submit",
		"tool-call":        "", // of both sides as near
		"tool-call-x":      "",
		"something":        "",
		"":                 "",
	} {
		if got := nearestEvent(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	for i := range Table {
		for _, name := range Table[i].names() {
			for _, wrong := range []string{strings.ToUpper(name), name + "x", strings.NewReplacer("start", "begin", "-end", "-finish").Replace(name)} {
				near := nearestEvent(wrong)
				if near == "" {
					continue
				}
				if a, b := sided()[string(Table[i].Name)].side, sided()[string(byAlias[near].Name)].side; a != b && a != sideUnknown && b != sideUnknown {
					t.Errorf("%q is answered with %q", wrong, near)
				}
			}
		}
	}
	if hint := EventHint("tool-call"); !strings.Contains(hint, "tool-call-start") || !strings.Contains(hint, "tool-call-end") {
		t.Errorf("%s", hint)
	}
}
