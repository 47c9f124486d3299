package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// openhands is the OpenHands SDK.
var openhands = &Agent{
	Name: "openhands", Title: "OpenHands", Tier: FromDocuments,
	Rows: failsOpen(60*time.Second,
		Row{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: Can{Block: carried, Context: carried, Stop: translated("the call is refused, and the run ends")}},
		Row{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: Can{Context: carried}},
		Row{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: Can{Block: carried, Context: carried, Stop: endsPrompt}},
		Row{Name: "SessionStart", Event: protocol.SessionStart},
		Row{Name: "SessionEnd", Event: protocol.SessionEnd},
		Row{Name: "Stop", Event: protocol.AgentStop, Can: Can{Continue: carried, Stop: endsAnyway}},
	),
	read: func(a *Agent, in *input, row *Row) (reading, error) {
		return readClaudeFamily(a, in.promptFrom(row, "message"), row)
	},
	write: func(c *Call, v *Verdict) Answer {
		top := object{}
		if v.Refuse || v.Continue {
			top = append(top, member{"decision", "deny"}, member{"reason", v.Reason})
		}
		if v.Stop && c.Row.Event != protocol.AgentStop {
			top = append(top, member{"continue", no{}})
		}
		a := Answer{Stdout: append(top, member{"additionalContext", v.Context}).line()}
		if v.Refuse || v.Continue {
			a.Exit, a.Stderr = 2, v.Reason
		}
		return a
	},
}
