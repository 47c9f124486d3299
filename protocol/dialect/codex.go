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
	Rows: []Row{
		{"PreToolUse", protocol.ToolCallStart, Can{Block: carried, Change: translated("a change also allows the call"), Context: carried, Notice: carried}, 600 * time.Second, true},
		{"PermissionRequest", protocol.PermissionRequest, Can{Block: carried, Ask: carried, Allow: carried, Notice: carried}, 600 * time.Second, true},
		{"PostToolUse", protocol.ToolCallEnd, Can{Block: carried, Change: translated("the new result reaches the model as the reason of a refusal"), Context: carried, Notice: carried}, 600 * time.Second, true},
		{"UserPromptSubmit", protocol.PromptSubmit, Can{Block: carried, Context: carried, Stop: translated("the prompt is refused"), Notice: carried}, 600 * time.Second, true},
		{"SessionStart", protocol.SessionStart, Can{Context: carried, Notice: carried}, 600 * time.Second, true},
		{"SessionEnd", protocol.SessionEnd, Can{}, 3 * time.Second, true},
		{"Stop", protocol.AgentStop, Can{Continue: translated("without a cap of the agent's own"), Notice: carried}, 600 * time.Second, true},
		{"SubagentStart", protocol.SubagentStart, Can{Context: carried, Notice: carried}, 600 * time.Second, true},
		{"SubagentStop", protocol.SubagentStop, Can{Continue: carried, Notice: carried}, 600 * time.Second, true},
		{"PreCompact", protocol.CompactStart, Can{Block: translated("by ending the turn"), Notice: carried}, 600 * time.Second, true},
		{"PostCompact", protocol.CompactEnd, Can{Notice: carried}, 600 * time.Second, true},
	},
}

func init() {
	codex.read = readClaudeFamily(codex)
	codex.write = writeCodex
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
