package hosts

import (
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// codex is Codex CLI. An answer with one member that it does not know, or knows and
// does not support here, is thrown away as a whole, and the tool runs: nothing is
// written that its schema of the event does not list.
var codex = &dialect.Agent{
	Name: "codex", Title: "Codex CLI",
	Rows: failsOpen(600*time.Second, []dialect.Row{
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Change: alsoAllows, Context: carried, Notice: carried}},
		{Name: "PermissionRequest", Event: protocol.PermissionRequest, Can: dialect.Can{Block: carried, Ask: carried, Allow: carried, Notice: carried}},
		{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: dialect.Can{Block: carried, Change: translated("the new result reaches the model as the reason of a refusal"), Context: carried, Notice: carried}},
		{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: dialect.Can{Block: carried, Context: carried, Stop: endsPrompt, Notice: carried}},
		{Name: "PreModelRequest", Event: protocol.InferenceStart},
		{Name: "SessionStart", Event: protocol.SessionStart, Can: dialect.Can{Context: carried, Notice: carried}},
		{Name: "SessionEnd", Event: protocol.SessionEnd, Limit: 3 * time.Second},
		{Name: "Stop", Event: protocol.AgentStop, Can: dialect.Can{Continue: translated("without a cap of the agent's own"), Stop: endsAnyway, Notice: carried}},
		{Name: "Interrupt", Event: protocol.AgentEnd, Can: dialect.Can{Notice: carried}, Limit: 3 * time.Second},
		{Name: "SubagentStart", Event: protocol.SubagentStart, Can: dialect.Can{Context: carried, Notice: carried}},
		{Name: "SubagentStop", Event: protocol.SubagentStop, Can: dialect.Can{Continue: carried, Notice: carried}},
		{Name: "PreCompact", Event: protocol.CompactStart, Can: dialect.Can{Block: translated("by ending the turn"), Notice: carried}},
		{Name: "PostCompact", Event: protocol.CompactEnd, Can: dialect.Can{Notice: carried}},
	}),
	ReadInput:   dialect.ReadClaudeFamily,
	WriteAnswer: writeCodex,
}

func writeCodex(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
	top := object.Object{{"systemMessage", v.Notice}}
	specific := object.Object{{"hookEventName", c.Row.Name}}
	switch c.Row.Event {
	case protocol.ToolCallStart:
		switch {
		case v.Refuse:
			specific = append(specific, object.Member{"permissionDecision", "deny"}, object.Member{"permissionDecisionReason", v.Reason})
		case v.Changed != nil:
			specific = append(specific, object.Member{"permissionDecision", "allow"}, object.Member{"updatedInput", v.Changed})
		}
		specific = append(specific, object.Member{"additionalContext", v.Context})
	case protocol.PermissionRequest:
		switch {
		case v.Refuse:
			specific = append(specific, object.Member{"decision", object.Object{{"behavior", "deny"}, {"message", v.Reason}}})
		case v.Allow:
			specific = append(specific, object.Member{"decision", object.Object{{"behavior", "allow"}}})
		}
	case protocol.ToolCallEnd:
		switch {
		case v.Refuse:
			top = append(top, object.Member{"decision", "block"}, object.Member{"reason", v.Reason})
		case v.Changed != nil:
			text := jsonspan.Text(v.Changed)
			if text == "" {
				text = "(no output)" // a block without a reason is none
			}
			top = append(top, object.Member{"decision", "block"}, object.Member{"reason", text})
		}
		specific = append(specific, object.Member{"additionalContext", v.Context})
	case protocol.CompactStart:
		if v.Refuse {
			top = append(top, object.Member{"continue", object.False{}}, object.Member{"stopReason", v.Reason})
		}
	default:
		if v.Refuse || v.Continue {
			top = append(top, object.Member{"decision", "block"}, object.Member{"reason", v.Reason})
		}
		specific = append(specific, object.Member{"additionalContext", v.Context})
	}
	return dialect.Answer{Stdout: append(top, object.Member{"hookSpecificOutput", specific}).Line()}
}
