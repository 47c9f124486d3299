package hosts

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// kiro is Kiro: exit code 2 refuses, with stderr for the model, and a text on stdout is
// context. The names with small letters are those of its agent files, the others those of
// its newer hook files.
var kiro = &dialect.Agent{
	Name: "kiro", Title: "Kiro",
	Rows: failsOpen(30*time.Second, []dialect.Row{
		{Name: "agentSpawn", Event: protocol.SessionStart, Can: dialect.Can{Context: carried}},
		{Name: "userPromptSubmit", Event: protocol.PromptSubmit, Can: dialect.Can{Context: carried}},
		{Name: "preToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried}},
		{Name: "postToolUse", Event: protocol.ToolCallEnd},
		{Name: "stop", Event: protocol.AgentStop, Can: dialect.Can{Stop: endsAnyway}},
		{Name: "SessionStart", Event: protocol.SessionStart, Can: dialect.Can{Context: carried}},
		{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: dialect.Can{Block: carried, Context: carried}},
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Context: carried}},
		{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: dialect.Can{Context: carried}},
		{Name: "Stop", Event: protocol.AgentStop, Can: dialect.Can{Stop: endsAnyway}},
	}),
	ReadInput:   dialect.ReadClaudeFamily,
	WriteAnswer: writeExitCode,
}
