package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// kiro is Kiro: exit code 2 refuses, with stderr for the model, and a text on stdout is
// context. The names with small letters are those of its agent files, the others those of
// its newer hook files.
var kiro = &Agent{
	Name: "kiro", Title: "Kiro", Tier: FromDocuments,
	Rows: failsOpen(30*time.Second,
		Row{Name: "agentSpawn", Event: protocol.SessionStart, Can: Can{Context: carried}},
		Row{Name: "userPromptSubmit", Event: protocol.PromptSubmit, Can: Can{Context: carried}},
		Row{Name: "preToolUse", Event: protocol.ToolCallStart, Can: Can{Block: carried}},
		Row{Name: "postToolUse", Event: protocol.ToolCallEnd},
		Row{Name: "stop", Event: protocol.AgentStop, Can: Can{Stop: endsAnyway}},
		Row{Name: "SessionStart", Event: protocol.SessionStart, Can: Can{Context: carried}},
		Row{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: Can{Block: carried, Context: carried}},
		Row{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: Can{Block: carried, Context: carried}},
		Row{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: Can{Context: carried}},
		Row{Name: "Stop", Event: protocol.AgentStop, Can: Can{Stop: endsAnyway}},
	),
	read:  readClaudeFamily,
	write: writeExitCode,
}

// writeExitCode answers an agent that takes no object.
func writeExitCode(c *Call, v *Verdict) Answer {
	if v.Refuse {
		return Answer{Exit: 2, Stderr: v.Reason}
	}
	a := Answer{}
	if v.Context != "" {
		a.Stdout = []byte(v.Context + "\n")
	}
	return a
}
