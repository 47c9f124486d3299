package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// qwen is Qwen Code. No change of args that it documents has an effect. Its behaviour was
// measured; the inputs in testdata are written after its documents.
var qwen = &Agent{
	Name: "qwen", Title: "Qwen Code", Tier: FromDocuments,
	Rows: failsOpen(60*time.Second,
		Row{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: Can{Block: carried, Ask: headless, Stop: translated("the call is refused, and the turn goes on"), Notice: carried}},
		Row{Name: "PermissionRequest", Event: protocol.PermissionRequest, Can: Can{Block: carried, Ask: carried, Allow: carried, Notice: carried}},
		Row{Name: "PermissionDenied", Event: protocol.ToolCallError},
		Row{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: Can{Context: carried, Notice: carried}},
		Row{Name: "PostToolUseFailure", Event: protocol.ToolCallError, Can: Can{Context: carried, Notice: carried}},
		Row{Name: "PostToolBatch", Event: protocol.StepStop, Can: Can{Context: carried, Continue: asText, Notice: carried}},
		Row{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: Can{Block: carried, Context: carried, Notice: carried}},
		Row{Name: "UserPromptExpansion", Event: protocol.PromptSubmit, Can: Can{Block: carried, Context: carried, Notice: carried}},
		Row{Name: "SessionStart", Event: protocol.SessionStart, Can: Can{Context: carried, Notice: carried}},
		Row{Name: "SessionEnd", Event: protocol.SessionEnd},
		Row{Name: "Stop", Event: protocol.AgentStop, Can: Can{Continue: translated("at most 8 times"), Stop: endsAnyway, Notice: carried}},
		Row{Name: "StopFailure", Event: protocol.AgentError},
		Row{Name: "SubagentStart", Event: protocol.SubagentStart, Can: Can{Context: carried, Notice: carried}},
		Row{Name: "SubagentStop", Event: protocol.SubagentStop, Can: Can{Continue: carried, Notice: carried}},
		Row{Name: "PreCompact", Event: protocol.CompactStart},
		Row{Name: "PostCompact", Event: protocol.CompactEnd, Can: Can{Notice: carried}},
		Row{Name: "Notification", Event: protocol.Notification},
	),
	read:  readQwen,
	write: writeClaude,
}

// readQwen takes the model's own id of a call, not the one that Qwen Code makes up, and
// passes over the empty prompt that it submits after each round of tools: nobody has
// written it.
func readQwen(a *Agent, in *input, row *Row) (reading, error) {
	if prompt := in.at("prompt"); row.Name == "UserPromptSubmit" && string(prompt) == `""` {
		return reading{}, errNothing
	}
	return readClaudeFamily(a, in.with("tool_use_id", in.at("tool_call_id")), row)
}
