package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// factory is Factory Droid, which speaks Claude Code's protocol, merges changed args, and
// never replaces a tool's output.
var factory = &Agent{
	Name: "factory", Title: "Factory Droid", Tier: FromDocuments, mergesArgs: true,
	Rows: failsOpen(60*time.Second,
		Row{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: Can{Block: carried, Change: merged, Context: carried, Ask: carried, Stop: carried, Notice: carried}},
		Row{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: Can{Context: carried, Stop: carried, Notice: carried}},
		Row{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: Can{Block: carried, Context: carried, Stop: endsPrompt, Notice: carried}},
		Row{Name: "SessionStart", Event: protocol.SessionStart, Can: Can{Context: carried, Notice: carried}},
		Row{Name: "SessionEnd", Event: protocol.SessionEnd},
		Row{Name: "Stop", Event: protocol.AgentStop, Can: Can{Continue: carried, Stop: carried, Notice: carried}},
		Row{Name: "SubagentStop", Event: protocol.SubagentStop, Can: Can{Continue: carried, Stop: translated("the sub-agent ends"), Notice: carried}},
		Row{Name: "PreCompact", Event: protocol.CompactStart},
		Row{Name: "Notification", Event: protocol.Notification},
	),
	read:  readFactory,
	write: writeClaude,
}

// readFactory reads the result of a sub-agent, which has names of its own.
func readFactory(a *Agent, in *input, row *Row) (reading, error) {
	if row.Event == protocol.SubagentStop {
		in = in.with("agent_id", in.at("task_name")).with("last_assistant_message", in.any("task_result", "task_error"))
	}
	return readClaudeFamily(a, in, row)
}
