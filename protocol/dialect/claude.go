package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// claude is Claude Code.
var claude = &Agent{
	Name: "claude", Title: "Claude Code", Tier: Captured,
	Rows: []Row{
		{"PreToolUse", protocol.ToolCallStart, Can{Block: carried, Change: carried, Context: carried,
			Ask: translated("with -p nobody can be asked, and the call is refused"), Stop: translated("the call is refused, and the session ends"), Notice: carried}, 600 * time.Second, true},
		{"PermissionRequest", protocol.PermissionRequest, Can{Block: carried, Change: translated("a change also allows the call"), Ask: carried, Allow: carried, Stop: carried, Notice: carried}, 600 * time.Second, true},
		{"PostToolUse", protocol.ToolCallEnd, Can{Block: translated("the result is replaced by the reason"), Change: carried, Context: carried, Stop: carried, Notice: carried}, 600 * time.Second, true},
		{"PostToolUseFailure", protocol.ToolCallError, Can{Context: carried, Notice: carried}, 600 * time.Second, true},
		{"PostToolBatch", protocol.StepStop, Can{Context: carried, Stop: translated("the turn ends"), Notice: carried}, 600 * time.Second, true},
		{"UserPromptSubmit", protocol.PromptSubmit, Can{Block: carried, Context: carried, Stop: translated("the prompt is refused"), Notice: carried}, 30 * time.Second, true},
		{"SessionStart", protocol.SessionStart, Can{Context: carried, Notice: carried}, 600 * time.Second, true},
		{"SessionEnd", protocol.SessionEnd, Can{}, 1500 * time.Millisecond, true},
		{"Stop", protocol.AgentStop, Can{Continue: translated("at most 8 times in a row"), Stop: carried, Notice: carried}, 600 * time.Second, true},
		{"SubagentStop", protocol.SubagentStop, Can{Continue: carried, Stop: translated("the sub-agent ends"), Notice: carried}, 600 * time.Second, true},
		{"StopFailure", protocol.AgentError, Can{}, 600 * time.Second, true},
		{"SubagentStart", protocol.SubagentStart, Can{Context: carried, Notice: carried}, 600 * time.Second, true},
		{"PreCompact", protocol.CompactStart, Can{Block: carried, Context: translated("it is added to the instructions"), Change: translated("the new instructions are added to the old ones")}, 600 * time.Second, true},
		{"PostCompact", protocol.CompactEnd, Can{}, 600 * time.Second, true},
		{"Notification", protocol.Notification, Can{}, 600 * time.Second, true},
	},
}

func init() {
	claude.read = readClaudeFamily(claude)
	claude.write = writeClaude
}

func writeClaude(c *Call, v *Verdict) Answer {
	top := object{{"systemMessage", v.Notice}}
	specific := object{{"hookEventName", c.Row.Name}}
	if v.Stop {
		top = append(top, member{"continue", no{}}, member{"stopReason", v.Reason})
	}
	switch c.Row.Event {
	case protocol.ToolCallStart:
		switch {
		case v.Refuse:
			specific = append(specific, member{"permissionDecision", "deny"}, member{"permissionDecisionReason", v.Reason})
		case v.Ask:
			specific = append(specific, member{"permissionDecision", "ask"}, member{"permissionDecisionReason", v.Reason})
		}
		specific = append(specific, member{"updatedInput", v.Changed}, member{"additionalContext", v.Context})
	case protocol.PermissionRequest:
		switch {
		case v.Refuse:
			top = object{{"systemMessage", v.Notice}}
			specific = append(specific, member{"decision", object{{"behavior", "deny"}, {"message", v.Reason}, {"interrupt", v.Stop}}})
		case v.Allow || v.Changed != nil:
			specific = append(specific, member{"decision", object{{"behavior", "allow"}, {"updatedInput", v.Changed}}})
		}
	case protocol.ToolCallEnd:
		specific = append(specific, member{"additionalContext", v.Context})
		switch {
		case v.Refuse:
			specific = append(specific, member{"updatedToolOutput", c.claudeOutput(jsonspan.Quote(v.Reason))})
			top = append(top, member{"decision", "block"}, member{"reason", v.Reason})
		case v.Changed != nil:
			specific = append(specific, member{"updatedToolOutput", c.claudeOutput(v.Changed)})
		}
	case protocol.CompactStart:
		if v.Refuse {
			return Answer{Stdout: object{{"decision", "block"}, {"reason", v.Reason}}.line()}
		}
		text := v.Context // plain text is added to the instructions
		if v.Changed != nil {
			text = jsonspan.Text(v.Changed) + "\n" + text
		}
		return Answer{Stdout: []byte(text)}
	default:
		if v.Refuse || v.Continue || v.Stop && c.Row.Event == protocol.StepStop {
			top = append(top, member{"decision", "block"}, member{"reason", v.Reason})
		}
		specific = append(specific, member{"additionalContext", v.Context})
	}
	return Answer{Stdout: append(top, member{"hookSpecificOutput", specific}).line()}
}

// claudeOutput is a tool's output in the form that this tool has: a command's has
// stdout and stderr, all others take a text.
func (c *Call) claudeOutput(text protocol.RawMessage) protocol.RawMessage {
	was := jsonspan.Find(c.Event.Data, "/host/tool_response")
	if jsonspan.Kind(jsonspan.Get(was, "stdout")) != '"' {
		return text
	}
	return set(set(was, "stdout", text), "stderr", []byte(`""`))
}
