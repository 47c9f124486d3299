package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// codex is Codex CLI. An answer with one member that it does not know, or knows and
// does not support here, is thrown away as a whole, and the tool runs: nothing is
// written that its schema of the event does not list.
var codex = &Agent{
	Name: "codex", Title: "Codex CLI", Tier: Captured,
	Rows: failsOpen(600*time.Second,
		Row{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: Can{Block: carried, Change: alsoAllows, Context: carried, Notice: carried}},
		Row{Name: "PermissionRequest", Event: protocol.PermissionRequest, Can: Can{Block: carried, Ask: carried, Allow: carried, Notice: carried}},
		Row{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: Can{Block: carried, Change: translated("the new result reaches the model as the reason of a refusal"), Context: carried, Notice: carried}},
		Row{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: Can{Block: carried, Context: carried, Stop: endsPrompt, Notice: carried}},
		Row{Name: "PreModelRequest", Event: protocol.InferenceStart},
		Row{Name: "SessionStart", Event: protocol.SessionStart, Can: Can{Context: carried, Notice: carried}},
		Row{Name: "SessionEnd", Event: protocol.SessionEnd, Limit: 3 * time.Second},
		Row{Name: "Stop", Event: protocol.AgentStop, Can: Can{Continue: translated("without a cap of the agent's own"), Stop: endsAnyway, Notice: carried}},
		Row{Name: "Interrupt", Event: protocol.AgentEnd, Can: Can{Notice: carried}, Limit: 3 * time.Second},
		Row{Name: "SubagentStart", Event: protocol.SubagentStart, Can: Can{Context: carried, Notice: carried}},
		Row{Name: "SubagentStop", Event: protocol.SubagentStop, Can: Can{Continue: carried, Notice: carried}},
		Row{Name: "PreCompact", Event: protocol.CompactStart, Can: Can{Block: translated("by ending the turn"), Notice: carried}},
		Row{Name: "PostCompact", Event: protocol.CompactEnd, Can: Can{Notice: carried}},
	),
	read:  readClaudeFamily,
	write: writeCodex,
}

func writeCodex(c *Call, v *Verdict) Answer {
	top := object{{"systemMessage", v.Notice}}
	specific := object{{"hookEventName", c.Row.Name}}
	switch c.Row.Event {
	case protocol.ToolCallStart:
		switch {
		case v.Refuse:
			specific = append(specific, member{"permissionDecision", "deny"}, member{"permissionDecisionReason", v.Reason})
		case v.Changed != nil:
			specific = append(specific, member{"permissionDecision", "allow"}, member{"updatedInput", v.Changed})
		}
		specific = append(specific, member{"additionalContext", v.Context})
	case protocol.PermissionRequest:
		switch {
		case v.Refuse:
			specific = append(specific, member{"decision", object{{"behavior", "deny"}, {"message", v.Reason}}})
		case v.Allow:
			specific = append(specific, member{"decision", object{{"behavior", "allow"}}})
		}
	case protocol.ToolCallEnd:
		switch {
		case v.Refuse:
			top = append(top, member{"decision", "block"}, member{"reason", v.Reason})
		case v.Changed != nil:
			text := jsonspan.Text(v.Changed)
			if text == "" {
				text = "(no output)" // a block without a reason is none
			}
			top = append(top, member{"decision", "block"}, member{"reason", text})
		}
		specific = append(specific, member{"additionalContext", v.Context})
	case protocol.CompactStart:
		if v.Refuse {
			top = append(top, member{"continue", no{}}, member{"stopReason", v.Reason})
		}
	default:
		if v.Refuse || v.Continue {
			top = append(top, member{"decision", "block"}, member{"reason", v.Reason})
		}
		specific = append(specific, member{"additionalContext", v.Context})
	}
	return Answer{Stdout: append(top, member{"hookSpecificOutput", specific}).line()}
}
