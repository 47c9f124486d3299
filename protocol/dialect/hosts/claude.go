package hosts

import (
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// claude is Claude Code.
var claude = &dialect.Agent{
	Name: "claude", Title: "Claude Code",
	FolderVariables: []string{"CLAUDE_PROJECT_DIR"},
	Rows: failsOpen(600*time.Second, []dialect.Row{
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Change: carried, Context: carried,
			Ask: translated("with -p nobody can be asked, and the call is refused"), Stop: translated("the call is refused, and the session ends"), Notice: carried}},
		{Name: "PreSkillShellCommand", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Stop: translated("the command is refused, and the session ends"), Notice: carried}},
		{Name: "PermissionRequest", Event: protocol.PermissionRequest, Can: dialect.Can{Block: carried, Ask: carried, Allow: carried, Stop: carried, Notice: carried}},
		{Name: "PermissionDenied", Event: protocol.ToolCallError, Can: dialect.Can{Notice: carried}},
		{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: dialect.Can{Block: translated("the result is replaced by the reason"), Change: carried, Context: carried, Stop: carried, Notice: carried}},
		{Name: "PostToolUseFailure", Event: protocol.ToolCallError, Can: dialect.Can{Context: carried, Stop: carried, Notice: carried}},
		{Name: "PostToolBatch", Event: protocol.StepStop, Can: dialect.Can{Context: carried, Continue: asText, Stop: translated("the turn ends"), Notice: carried}},
		{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: dialect.Can{Block: carried, Context: carried, Stop: endsPrompt, Notice: carried}, Limit: 30 * time.Second},
		{Name: "UserPromptExpansion", Event: protocol.PromptSubmit, Can: dialect.Can{Block: carried, Context: carried, Stop: endsPrompt, Notice: carried}},
		{Name: "SessionStart", Event: protocol.SessionStart, Can: dialect.Can{Context: carried, Notice: carried}},
		{Name: "SessionEnd", Event: protocol.SessionEnd, Limit: 1500 * time.Millisecond},
		{Name: "Stop", Event: protocol.AgentStop, Can: dialect.Can{Continue: translated("at most 8 times in a row"), Stop: carried, Notice: carried}},
		{Name: "StopFailure", Event: protocol.AgentError},
		{Name: "SubagentStart", Event: protocol.SubagentStart, Can: dialect.Can{Context: carried, Notice: carried}},
		{Name: "SubagentStop", Event: protocol.SubagentStop, Can: dialect.Can{Continue: carried, Stop: translated("the sub-agent ends"), Notice: carried}},
		{Name: "PreCompact", Event: protocol.CompactStart, Can: dialect.Can{Block: carried, Context: translated("it is added to the instructions"), Change: translated("the new instructions are added to the old ones")}},
		{Name: "PostCompact", Event: protocol.CompactEnd},
		{Name: "Notification", Event: protocol.Notification},
	}),
	ReadInput:   dialect.ReadClaudeFamily,
	WriteAnswer: writeClaude,
	WriteOutput: claudeOutput,
}

func writeClaude(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
	top := object.Object{{"systemMessage", v.Notice}}
	specific := object.Object{{"hookEventName", c.Row.Name}}
	var lost []string
	if v.Stop {
		top = append(top, object.Member{"continue", object.False{}}, object.Member{"stopReason", v.Reason})
	}
	switch c.Row.Event {
	case protocol.ToolCallStart:
		switch {
		case v.Refuse:
			specific = append(specific, object.Member{"permissionDecision", "deny"}, object.Member{"permissionDecisionReason", v.Reason})
		case v.Ask:
			specific = append(specific, object.Member{"permissionDecision", "ask"}, object.Member{"permissionDecisionReason", v.Reason})
		}
		specific = append(specific, object.Member{"updatedInput", v.Changed}, object.Member{"additionalContext", v.Context})
	case protocol.PermissionRequest:
		switch {
		case v.Refuse:
			top = object.Object{{"systemMessage", v.Notice}}
			specific = append(specific, object.Member{"decision", object.Object{{"behavior", "deny"}, {"message", v.Reason}, {"interrupt", v.Stop}}})
		case v.Allow:
			specific = append(specific, object.Member{"decision", object.Object{{"behavior", "allow"}}})
		}
	case protocol.ToolCallEnd:
		specific = append(specific, object.Member{"additionalContext", v.Context})
		switch {
		case v.Refuse:
			output := claudeOutput(c, jsonspan.Quote(v.Reason))
			if output == nil {
				lost = append(lost, "this tool's result has no text that hookd knows how to replace: "+c.Agent.Title+" shows it to the model, with the reason after it")
			}
			specific = append(specific, object.Member{"updatedToolOutput", output})
			top = append(top, object.Member{"decision", "block"}, object.Member{"reason", v.Reason})
		case v.Changed != nil:
			specific = append(specific, object.Member{"updatedToolOutput", v.Changed})
		}
	case protocol.CompactStart:
		return writeClaudeCompact(v)
	default:
		if v.Refuse || v.Continue || v.Stop && c.Row.Event == protocol.StepStop {
			top = append(top, object.Member{"decision", "block"}, object.Member{"reason", v.Reason})
		}
		specific = append(specific, object.Member{"additionalContext", v.Context})
	}
	return dialect.Answer{Stdout: append(top, object.Member{"hookSpecificOutput", specific}).Line(), Lost: lost}
}

// writeClaudeCompact writes what is read before a compaction: a decision, or plain text,
// which is added to the instructions. Text that begins like an object would be read as one.
func writeClaudeCompact(v *dialect.Verdict) dialect.Answer {
	if v.Refuse {
		return dialect.Answer{Stdout: object.Object{{"decision", "block"}, {"reason", v.Reason}}.Line()}
	}
	text := v.Context
	if v.Changed != nil {
		text = object.Lines(jsonspan.Text(v.Changed), text)
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		text = "Instructions:\n" + text
	}
	return dialect.Answer{Stdout: []byte(text)}
}

// claudeOutput is a tool's output with another text, in the form that this tool's output
// has: with any other, Claude Code keeps the old one. It is nil where no text is known.
func claudeOutput(c *dialect.Call, text protocol.RawMessage) protocol.RawMessage {
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
		was = object.Set(was, "stderr", []byte(`""`))
	}
	for _, name := range []string{"stdout", "content", "text", "output", "result"} {
		switch value := jsonspan.Get(was, name); jsonspan.Kind(value) {
		case '"':
			return object.Set(was, name, text)
		case '[':
			return object.Set(was, name, textParts(text))
		}
	}
	if file := jsonspan.Get(was, "file"); jsonspan.Kind(jsonspan.Get(file, "content")) == '"' {
		return object.Set(was, "file", object.Set(file, "content", text))
	}
	return nil
}

// textParts is a content of one part.
func textParts(text protocol.RawMessage) protocol.RawMessage {
	part := append(protocol.RawMessage(`[{"type":"text","text":`), text...)
	return append(part, "}]"...)
}
