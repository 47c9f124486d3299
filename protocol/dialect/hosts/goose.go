package hosts

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// goose is Goose. Anything on stdout but a decision is a failure of the hook there.
var goose = &dialect.Agent{
	Name: "goose", Title: "Goose",
	Rows: failsOpen(30*time.Second, []dialect.Row{
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried}},
		{Name: "PostToolUse", Event: protocol.ToolCallEnd},
		{Name: "PostToolUseFailure", Event: protocol.ToolCallError},
		{Name: "UserPromptSubmit", Event: protocol.PromptSubmit},
		{Name: "SessionStart", Event: protocol.SessionStart},
		{Name: "SessionEnd", Event: protocol.SessionEnd},
		{Name: "Stop", Event: protocol.AgentStop, Can: dialect.Can{Stop: endsAnyway}},
	}),
	ReadInput: func(a *dialect.Agent, in *dialect.Input, row *dialect.Row) (dialect.Reading, error) {
		in.NoArgs = true
		return dialect.ReadClaudeFamily(a, promptFrom(in, row, "message"), row)
	},
	WriteAnswer: func(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
		if !v.Refuse {
			return dialect.Answer{}
		}
		return dialect.Answer{Stdout: object.Object{{"decision", "block"}, {"reason", v.Reason}}.Line()}
	},
}
