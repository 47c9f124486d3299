package hosts

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// factory is Factory Droid, which speaks Claude Code's protocol, merges changed args, and
// never replaces a tool's output.
var factory = &dialect.Agent{
	Name: "factory", Title: "Factory Droid", MergesArgs: true,
	FolderVariables: []string{"FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR"},
	Rows: failsOpen(60*time.Second, []dialect.Row{
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Change: merged, Context: carried, Ask: carried, Stop: carried, Notice: carried}},
		{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: dialect.Can{Context: carried, Stop: carried, Notice: carried}},
		{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: dialect.Can{Block: notWithExec, Context: notWithExec, Stop: endsPrompt, Notice: carried}},
		{Name: "SessionStart", Event: protocol.SessionStart, Can: dialect.Can{Context: carried, Notice: carried}},
		{Name: "SessionEnd", Event: protocol.SessionEnd},
		{Name: "Stop", Event: protocol.AgentStop, Can: dialect.Can{Continue: carried, Stop: carried, Notice: carried}},
		{Name: "SubagentStop", Event: protocol.SubagentStop, Can: dialect.Can{Continue: carried, Stop: translated("the sub-agent ends"), Notice: carried}},
		{Name: "PreCompact", Event: protocol.CompactStart},
		{Name: "Notification", Event: protocol.Notification},
	}),
	ReadInput:   readFactory,
	WriteAnswer: writeClaude,
}

var notWithExec = translated("not with droid exec, which asks no hook about its prompt")

// readFactory reads the result of a sub-agent, which has names of its own.
func readFactory(a *dialect.Agent, in *dialect.Input, row *dialect.Row) (dialect.Reading, error) {
	if row.Event == protocol.SubagentStop {
		in = in.With("agent_id", in.At("task_name")).With("last_assistant_message", in.Any("task_result", "task_error"))
	}
	return dialect.ReadClaudeFamily(a, in, row)
}
