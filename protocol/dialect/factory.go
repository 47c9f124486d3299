package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// factory is Factory Droid, which speaks Claude Code's protocol, merges changed args, and
// never replaces a tool's output.
var factory = &Agent{
	Name: "factory", Title: "Factory Droid", Tier: FromDocuments, mergesArgs: true,
	Rows: []Row{
		{"PreToolUse", protocol.ToolCallStart, Can{Block: carried, Change: translated("changed args are merged into the old ones: none can be taken away"), Context: carried, Ask: carried, Stop: carried, Notice: carried}, 60 * time.Second, true},
		{"PostToolUse", protocol.ToolCallEnd, Can{Context: carried, Stop: carried, Notice: carried}, 60 * time.Second, true},
		{"UserPromptSubmit", protocol.PromptSubmit, Can{Block: carried, Context: carried, Stop: translated("the prompt is refused"), Notice: carried}, 60 * time.Second, true},
		{"SessionStart", protocol.SessionStart, Can{Context: carried, Notice: carried}, 60 * time.Second, true},
		{"SessionEnd", protocol.SessionEnd, Can{}, 60 * time.Second, true},
		{"Stop", protocol.AgentStop, Can{Continue: carried, Stop: carried, Notice: carried}, 60 * time.Second, true},
		{"SubagentStop", protocol.SubagentStop, Can{Continue: carried, Stop: carried, Notice: carried}, 60 * time.Second, true},
		{"PreCompact", protocol.CompactStart, Can{}, 60 * time.Second, true},
		{"Notification", protocol.Notification, Can{}, 60 * time.Second, true},
	},
}

func init() {
	factory.read = readClaudeFamily(factory)
	factory.write = writeClaude
}
