package hosts

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// qwen is Qwen Code. No change of args that it documents has an effect. What
// its answers do was measured; the inputs in testdata are written after its documents.
var qwen = &dialect.Agent{
	Name: "qwen", Title: "Qwen Code",
	FolderVariables: []string{"QWEN_PROJECT_DIR"},
	Rows: failsOpen(60*time.Second, []dialect.Row{
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Ask: headless, Stop: translated("the call is refused, and the turn goes on"), Notice: carried}},
		{Name: "PermissionRequest", Event: protocol.PermissionRequest, Can: dialect.Can{Block: carried, Ask: carried, Allow: carried, Notice: carried}},
		{Name: "PermissionDenied", Event: protocol.ToolCallError},
		{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: dialect.Can{Context: carried, Notice: carried}},
		{Name: "PostToolUseFailure", Event: protocol.ToolCallError, Can: dialect.Can{Context: carried, Notice: carried}},
		{Name: "PostToolBatch", Event: protocol.StepStop, Can: dialect.Can{Context: carried, Continue: asText, Notice: carried}},
		{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: dialect.Can{Block: carried, Context: carried, Notice: carried}},
		{Name: "UserPromptExpansion", Event: protocol.PromptSubmit, Can: dialect.Can{Block: carried, Context: carried, Notice: carried}},
		{Name: "SessionStart", Event: protocol.SessionStart, Can: dialect.Can{Context: carried, Notice: carried}},
		{Name: "SessionEnd", Event: protocol.SessionEnd},
		{Name: "Stop", Event: protocol.AgentStop, Can: dialect.Can{Continue: translated("at most 8 times"), Stop: endsAnyway, Notice: carried}},
		{Name: "StopFailure", Event: protocol.AgentError},
		{Name: "SubagentStart", Event: protocol.SubagentStart, Can: dialect.Can{Context: carried, Notice: carried}},
		{Name: "SubagentStop", Event: protocol.SubagentStop, Can: dialect.Can{Continue: carried, Notice: carried}},
		{Name: "PreCompact", Event: protocol.CompactStart},
		{Name: "PostCompact", Event: protocol.CompactEnd, Can: dialect.Can{Notice: carried}},
		{Name: "Notification", Event: protocol.Notification},
	}),
	ReadInput:   readQwen,
	WriteAnswer: writeClaude,
}

// readQwen takes the model's own id of a call, not the one that Qwen Code makes up, and
// passes over the empty prompt that it submits after each round of tools: nobody has
// written it.
func readQwen(a *dialect.Agent, in *dialect.Input, row *dialect.Row) (dialect.Reading, error) {
	if prompt := in.At("prompt"); row.Name == "UserPromptSubmit" && string(prompt) == `""` {
		return dialect.Reading{}, dialect.ErrNothing
	}
	return dialect.ReadClaudeFamily(a, in.With("tool_use_id", in.At("tool_call_id")), row)
}
