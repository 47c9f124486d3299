package dialect

import (
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// claude is Claude Code.
var claude = &Agent{
	Name: "claude", Title: "Claude Code", Tier: Captured,
	Rows: failsOpen(600*time.Second,
		Row{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: Can{Block: carried, Change: carried, Context: carried,
			Ask: translated("with -p nobody can be asked, and the call is refused"), Stop: translated("the call is refused, and the session ends"), Notice: carried}},
		Row{Name: "PreSkillShellCommand", Event: protocol.ToolCallStart, Can: Can{Block: carried, Stop: translated("the command is refused, and the session ends"), Notice: carried}},
		Row{Name: "PermissionRequest", Event: protocol.PermissionRequest, Can: Can{Block: carried, Ask: carried, Allow: carried, Stop: carried, Notice: carried}},
		Row{Name: "PermissionDenied", Event: protocol.ToolCallError, Can: Can{Notice: carried}},
		Row{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: Can{Block: translated("the result is replaced by the reason"), Change: carried, Context: carried, Stop: carried, Notice: carried}},
		Row{Name: "PostToolUseFailure", Event: protocol.ToolCallError, Can: Can{Context: carried, Stop: carried, Notice: carried}},
		Row{Name: "PostToolBatch", Event: protocol.StepStop, Can: Can{Context: carried, Continue: asText, Stop: translated("the turn ends"), Notice: carried}},
		Row{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: Can{Block: carried, Context: carried, Stop: endsPrompt, Notice: carried}, Limit: 30 * time.Second},
		Row{Name: "UserPromptExpansion", Event: protocol.PromptSubmit, Can: Can{Block: carried, Context: carried, Stop: endsPrompt, Notice: carried}},
		Row{Name: "SessionStart", Event: protocol.SessionStart, Can: Can{Context: carried, Notice: carried}},
		Row{Name: "SessionEnd", Event: protocol.SessionEnd, Limit: 1500 * time.Millisecond},
		Row{Name: "Stop", Event: protocol.AgentStop, Can: Can{Continue: translated("at most 8 times in a row"), Stop: carried, Notice: carried}},
		Row{Name: "StopFailure", Event: protocol.AgentError},
		Row{Name: "SubagentStart", Event: protocol.SubagentStart, Can: Can{Context: carried, Notice: carried}},
		Row{Name: "SubagentStop", Event: protocol.SubagentStop, Can: Can{Continue: carried, Stop: translated("the sub-agent ends"), Notice: carried}},
		Row{Name: "PreCompact", Event: protocol.CompactStart, Can: Can{Block: carried, Context: translated("it is added to the instructions"), Change: translated("the new instructions are added to the old ones")}},
		Row{Name: "PostCompact", Event: protocol.CompactEnd},
		Row{Name: "Notification", Event: protocol.Notification},
	),
	read:   readClaudeFamily,
	write:  writeClaude,
	output: (*Call).claudeOutput,
}

func writeClaude(c *Call, v *Verdict) Answer {
	top := object{{"systemMessage", v.Notice}}
	specific := object{{"hookEventName", c.Row.Name}}
	var lost []string
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
		case v.Allow:
			specific = append(specific, member{"decision", object{{"behavior", "allow"}}})
		}
	case protocol.ToolCallEnd:
		specific = append(specific, member{"additionalContext", v.Context})
		switch {
		case v.Refuse:
			output := c.claudeOutput(jsonspan.Quote(v.Reason))
			if output == nil {
				lost = append(lost, "this tool's result has no text that hookd knows how to replace: "+c.Agent.Title+" shows it to the model, with the reason after it")
			}
			specific = append(specific, member{"updatedToolOutput", output})
			top = append(top, member{"decision", "block"}, member{"reason", v.Reason})
		case v.Changed != nil:
			specific = append(specific, member{"updatedToolOutput", v.Changed})
		}
	case protocol.CompactStart:
		return writeClaudeCompact(v)
	default:
		if v.Refuse || v.Continue || v.Stop && c.Row.Event == protocol.StepStop {
			top = append(top, member{"decision", "block"}, member{"reason", v.Reason})
		}
		specific = append(specific, member{"additionalContext", v.Context})
	}
	return Answer{Stdout: append(top, member{"hookSpecificOutput", specific}).line(), Lost: lost}
}

// writeClaudeCompact writes what is read before a compaction: a decision, or plain text,
// which is added to the instructions. Text that begins like an object would be read as one.
func writeClaudeCompact(v *Verdict) Answer {
	if v.Refuse {
		return Answer{Stdout: object{{"decision", "block"}, {"reason", v.Reason}}.line()}
	}
	text := v.Context
	if v.Changed != nil {
		text = joined(jsonspan.Text(v.Changed), text)
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		text = "Instructions:\n" + text
	}
	return Answer{Stdout: []byte(text)}
}

// claudeOutput is a tool's output with another text, in the form that this tool's output
// has: with any other, Claude Code keeps the old one. It is nil where no text is known.
func (c *Call) claudeOutput(text protocol.RawMessage) protocol.RawMessage {
	was := jsonspan.Find(c.Event.Data, "/host/tool_response")
	switch jsonspan.Kind(was) {
	case '"':
		return text
	case '[':
		return textParts(text)
	case '{':
	default:
		return nil
	}
	if stderr := jsonspan.Get(was, "stderr"); jsonspan.Kind(stderr) == '"' {
		was = set(was, "stderr", []byte(`""`))
	}
	for _, name := range []string{"stdout", "content", "text", "output", "result"} {
		switch value := jsonspan.Get(was, name); jsonspan.Kind(value) {
		case '"':
			return set(was, name, text)
		case '[':
			return set(was, name, textParts(text))
		}
	}
	if file := jsonspan.Get(was, "file"); jsonspan.Kind(jsonspan.Get(file, "content")) == '"' {
		return set(was, "file", set(file, "content", text))
	}
	return nil
}

// textParts is a content of one part.
func textParts(text protocol.RawMessage) protocol.RawMessage {
	part := append(protocol.RawMessage(`[{"type":"text","text":`), text...)
	return append(part, "}]"...)
}
