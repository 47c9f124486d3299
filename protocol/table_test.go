package protocol

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// specified is the events table, written down a
// second time: kind, block, stop, may change, ask, continue, callback, context.
// Words of the cells that only people read are not repeated.
const specified = `
session-start      | P | -  | yes | -                             | -          | -         | -             | yes
session-end        | N | -  | -   | -                             | -          | -         | -             | -
prompt-submit      | G | no | err | prompt                        | person     | -         | -             | yes
agent-start        | G | no | yes | system messages tools         | person     | -         | -             | yes
step-start         | G | no | yes | messages                      | person     | -         | now           | yes
inference-start    | G | no | yes | system messages tools params =response | person | -    | -             | yes
inference-end      | G | no | yes | message                       | -          | -         | at step-stop  | yes
tool-call-start    | G | no | yes | args =result                  | permission | -         | -             | yes
permission-request | G | no | yes | -                             | stays      | -         | -             | yes
tool-call-end      | G | no | yes | result                        | -          | -         | at step-stop  | yes
tool-call-error    | P | -  | yes | error.text                    | -          | -         | -             | yes
step-stop          | P | -  | yes | messages                      | -          | appends   | now           | yes
agent-stop         | G | on | yes | messages                      | -          | forces-on | now-then-stop | yes
agent-end          | P | -  | -   | -                             | -          | runs-on   | -             | -
agent-error        | N | -  | -   | -                             | -          | -         | -             | -
compact-start      | G | no | yes | instructions                  | -          | -         | -             | yes
compact-end        | P | -  | yes | -                             | -          | -         | -             | yes
subagent-start     | G | no | yes | prompt                        | person     | -         | -             | yes
subagent-stop      | G | on | yes | response                      | -          | forces-on | -             | yes
thinking-start     | N | -  | -   | -                             | -          | -         | -             | -
thinking-end       | N | -  | -   | -                             | -          | -         | -             | -
message-start      | N | -  | -   | -                             | -          | -         | -             | -
message-end        | N | -  | -   | -                             | -          | -         | -             | -
notification       | N | -  | -   | -                             | -          | -         | -             | -
`

func TestTableIsTheSpecifiedOne(t *testing.T) {
	var got []string
	for _, s := range Table {
		or := func(text string) string {
			if text == "" {
				return "-"
			}
			return text
		}
		yes := func(ok bool) string {
			if ok {
				return "yes"
			}
			return "-"
		}
		stop := yes(s.CanStop())
		if s.StopErrs {
			stop = "err"
		}
		var changes []string
		for _, f := range s.Fields {
			changes = append(changes, f.Path)
		}
		if s.Replace != "" {
			changes = append(changes, "="+string(s.Replace))
		}
		got = append(got, strings.Join([]string{
			string(s.Name), strings.ToUpper(string(s.Kind[:1])),
			map[BlockMeaning]string{BlockFails: "-", BlockRefuses: "no", BlockContinues: "on"}[s.Block],
			stop, or(strings.Join(changes, " ")), or(string(s.Ask)), or(string(s.Continue)), or(string(s.Callback)),
			yes(s.Context != ""),
		}, " | "))
	}
	var want []string
	for line := range strings.Lines(strings.TrimSpace(specified)) {
		var cells []string
		for cell := range strings.SplitSeq(line, "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		want = append(want, strings.Join(cells, " | "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table is not the specified one (-want +got):\n%s", diff)
	}
}

func TestEveryRowHasWordsAndData(t *testing.T) {
	for _, s := range Table {
		if (s.Block != BlockFails) != (s.Blocks != "") {
			t.Errorf("%s: block without words, or words without block", s.Name)
		}
		if s.Data == nil {
			t.Errorf("%s: no type of data", s.Name)
		}
		if s.Kind == Notice && (s.CanStop() || s.CanChange() || s.Context != "" || s.Ask != "" || s.Callback != "" || s.Continue != "") {
			t.Errorf("%s: a notice is not waited for and takes no answer", s.Name)
		}
		for _, f := range s.Fields {
			if _, ok := fieldsOf(typeOfData(&s)).byName[strings.Split(f.Path, ".")[0]]; !ok {
				t.Errorf("%s: changeable field %s is not in the type of data", s.Name, f.Path)
			}
		}
	}
}

// The aliases, written down a second time.
var specifiedAliases = map[EventName][]string{
	PromptSubmit:      {"pre_request", "UserPromptSubmit", "user_message_send", "BeforeAgent"},
	AgentStart:        {"ExecutionStart", "execution_start"},
	StepStart:         {"StepStart", "before_step"},
	InferenceStart:    {"before_inference", "BeforeModel", "BeforeToolSelection"},
	InferenceEnd:      {"mid_react", "after_inference", "turn_end", "AfterModel"},
	ToolCallStart:     {"PreToolUse", "before_tool_use", "before_tool_call", "BeforeTool"},
	ToolCallEnd:       {"PostToolUse", "after_tool_use", "after_tool_call", "AfterTool"},
	ToolCallError:     {"PostToolUseFailure"},
	StepStop:          {"StepEnd", "after_step", "after_turn", "PostToolBatch"},
	AgentStop:         {"post_react_loop", "Stop", "should_continue", "agent_stop", "AfterAgent"},
	AgentEnd:          {"post_request", "execution_end"},
	AgentError:        {"AgentFailed", "on_error", "StopFailure"},
	SessionStart:      {"SessionStart"},
	SessionEnd:        {"SessionEnd"},
	PermissionRequest: {"PermissionRequest"},
	CompactStart:      {"PreCompact", "PreCompress"},
	CompactEnd:        {"PostCompact"},
	SubagentStart:     {"SubagentStart"},
	SubagentStop:      {"SubagentStop"},
	Notification:      {"Notification"},
}

func TestAliases(t *testing.T) {
	total := 0
	for event, names := range specifiedAliases {
		for _, name := range append(names, string(event)) {
			got, _, ok := Canonical(name)
			if !ok || got != event {
				t.Errorf("Canonical(%q) = %q, %v, want %q", name, got, ok, event)
			}
		}
		total += len(names)
	}
	inTable := 0
	seen := map[string]EventName{}
	for _, s := range Table {
		inTable += len(s.Aliases)
		for _, a := range s.Aliases {
			if other, twice := seen[a.Name]; twice {
				t.Errorf("alias %q stands for %s and %s", a.Name, other, s.Name)
			}
			seen[a.Name] = s.Name
		}
	}
	if total != inTable {
		t.Errorf("%d aliases are specified, %d are in the table", total, inTable)
	}
}

func TestOtherSpellingsAreErrorsWithTheNearestName(t *testing.T) {
	for name, nearest := range map[string]string{
		"Tool-Call-Start":  "tool-call-start",
		"toolCallStart":    "tool-call-start",
		"tool_call_start":  "tool-call-start",
		"tool-call-strat":  "tool-call-start",
		"preToolUse":       "PreToolUse",
		"pretooluse":       "PreToolUse",
		"toolbefore":       "BeforeTool",
		"stop":             "Stop",
		" tool-call-start": "tool-call-start",
	} {
		event, got, ok := Canonical(name)
		if ok {
			t.Errorf("Canonical(%q) = %q, want an error", name, event)
		}
		if name != "toolbefore" && got != nearest {
			t.Errorf("Canonical(%q): nearest is %q, want %q", name, got, nearest)
		}
		if got == "" {
			t.Errorf("Canonical(%q): no nearest name", name)
		}
	}
}

func TestNearestName(t *testing.T) {
	for word, want := range map[string]string{
		"toolbefore": "BeforeTool", "tool-call-strat": "tool-call-start", "ToolCallStart": "tool-call-start",
		"pretooluse": "PreToolUse", "session_start": "session-start", "start-session": "session-start",
		"Stopp": "Stop", "usepromptsubmit": "UserPromptSubmit",
	} {
		if _, got, ok := Canonical(word); ok || got != want {
			t.Errorf("%s: nearest is %q, want %q", word, got, want)
		}
	}
}

// sideOf is the side of what it is about that an event is on.
func sideOf(name EventName) string {
	switch word := string(name[strings.LastIndexByte(string(name), '-')+1:]); word {
	case "start", "submit", "request":
		return "before"
	case "end", "stop", "error":
		return "after"
	}
	return ""
}

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
				if a, b := sideOf(Table[i].Name), sideOf(byAlias()[near].Name); a != b && a != "" && b != "" {
					t.Errorf("%q is answered with %q", wrong, near)
				}
			}
		}
	}
	if hint := EventHint("tool-call"); !strings.Contains(hint, "tool-call-start") || !strings.Contains(hint, "tool-call-end") {
		t.Errorf("%s", hint)
	}
}
