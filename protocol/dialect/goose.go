package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// goose is Goose. Anything on stdout but a decision is a failure of the hook there.
var goose = &Agent{
	Name: "goose", Title: "Goose", Tier: FromDocuments,
	Rows: failsOpen(30*time.Second,
		Row{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: Can{Block: carried}},
		Row{Name: "PostToolUse", Event: protocol.ToolCallEnd},
		Row{Name: "PostToolUseFailure", Event: protocol.ToolCallError},
		Row{Name: "UserPromptSubmit", Event: protocol.PromptSubmit},
		Row{Name: "SessionStart", Event: protocol.SessionStart},
		Row{Name: "SessionEnd", Event: protocol.SessionEnd},
		Row{Name: "Stop", Event: protocol.AgentStop, Can: Can{Stop: endsAnyway}},
	),
	read: func(a *Agent, in *input, row *Row) (reading, error) {
		in.noArgs = true
		return readClaudeFamily(a, in.promptFrom(row, "message"), row)
	},
	write: func(c *Call, v *Verdict) Answer {
		if !v.Refuse {
			return Answer{}
		}
		return Answer{Stdout: object{{"decision", "block"}, {"reason", v.Reason}}.line()}
	},
}

// promptFrom is the input of a prompt that an agent has under another name.
func (in *input) promptFrom(row *Row, where string) *input {
	if row.Event != protocol.PromptSubmit || in.at("prompt") != nil {
		return in
	}
	return in.with("prompt", in.at(where))
}
