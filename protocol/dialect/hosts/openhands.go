package hosts

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// openhands is the OpenHands SDK.
var openhands = &dialect.Agent{
	Name: "openhands", Title: "OpenHands",
	FolderVariables: []string{"OPENHANDS_PROJECT_DIR"},
	Rows: failsOpen(60*time.Second, []dialect.Row{
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Context: carried, Stop: translated("the call is refused, and the run ends")}},
		{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: dialect.Can{Context: carried}},
		{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: dialect.Can{Block: carried, Context: carried, Stop: endsPrompt}},
		{Name: "SessionStart", Event: protocol.SessionStart},
		{Name: "SessionEnd", Event: protocol.SessionEnd},
		{Name: "Stop", Event: protocol.AgentStop, Can: dialect.Can{Continue: carried, Stop: endsAnyway}},
	}),
	ReadInput: func(a *dialect.Agent, in *dialect.Input, row *dialect.Row) (dialect.Reading, error) {
		return dialect.ReadClaudeFamily(a, promptFrom(in, row, "message"), row)
	},
	WriteAnswer: func(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
		top := object.Object{}
		if v.Refuse || v.Continue {
			top = append(top, object.Member{"decision", "deny"}, object.Member{"reason", v.Reason})
		}
		if v.Stop && c.Row.Event != protocol.AgentStop {
			top = append(top, object.Member{"continue", object.False{}})
		}
		a := dialect.Answer{Stdout: append(top, object.Member{"additionalContext", v.Context}).Line()}
		if v.Refuse || v.Continue {
			a.Exit, a.Stderr = 2, v.Reason
		}
		return a
	},
}
