package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// qwen is Qwen Code. No change of args that it documents has an effect.
var qwen = &Agent{
	Name: "qwen", Title: "Qwen Code", Tier: FromDocuments,
	Rows: []Row{
		{"PreToolUse", protocol.ToolCallStart, Can{Block: carried, Ask: translated("without a terminal the call is refused"), Stop: translated("the call is refused, and the turn goes on"), Notice: carried}, 60 * time.Second, true},
		{"PermissionRequest", protocol.PermissionRequest, Can{Block: carried, Ask: carried, Allow: carried, Notice: carried}, 60 * time.Second, true},
		{"PostToolUse", protocol.ToolCallEnd, Can{Context: carried, Notice: carried}, 60 * time.Second, true},
		{"PostToolUseFailure", protocol.ToolCallError, Can{Context: carried, Notice: carried}, 60 * time.Second, true},
		{"PostToolBatch", protocol.StepStop, Can{Context: carried, Notice: carried}, 60 * time.Second, true},
		{"UserPromptSubmit", protocol.PromptSubmit, Can{Block: carried, Context: carried, Notice: carried}, 60 * time.Second, true},
		{"SessionStart", protocol.SessionStart, Can{Context: carried, Notice: carried}, 60 * time.Second, true},
		{"SessionEnd", protocol.SessionEnd, Can{}, 60 * time.Second, true},
		{"Stop", protocol.AgentStop, Can{Continue: translated("at most 8 times"), Stop: carried, Notice: carried}, 60 * time.Second, true},
		{"SubagentStart", protocol.SubagentStart, Can{Context: carried, Notice: carried}, 60 * time.Second, true},
		{"SubagentStop", protocol.SubagentStop, Can{Continue: carried, Notice: carried}, 60 * time.Second, true},
		{"PreCompact", protocol.CompactStart, Can{}, 60 * time.Second, true},
		{"PostCompact", protocol.CompactEnd, Can{Notice: carried}, 60 * time.Second, true},
		{"StopFailure", protocol.AgentError, Can{}, 60 * time.Second, true},
		{"Notification", protocol.Notification, Can{}, 60 * time.Second, true},
	},
}

func init() {
	qwen.read = readClaudeFamily(qwen)
	qwen.write = writeClaude
}
