package dialect

import (
	"slices"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// opencode is OpenCode, through the plug-in plugins/opencode.ts. Its rows have the names of
// OpenCode's own functions and events.
var opencode = &Agent{
	Name: "opencode", Title: "OpenCode", Tier: Captured,
	Rows: slices.Concat(
		failsClosed(60*time.Second,
			Row{Name: "tool.execute.before", Event: protocol.ToolCallStart, Can: Can{Block: carried, Change: carried, Context: carried, Notice: toast}},
			Row{Name: "tool.execute.after", Event: protocol.ToolCallEnd, Can: Can{Block: carried, Change: carried, Context: carried, Notice: toast}},
			Row{Name: "chat.message", Event: protocol.PromptSubmit, Can: Can{Block: translated("the prompt fails with the reason; opencode run ends"), Change: carried, Context: carried, Stop: endsPrompt, Notice: toast}},
		),
		failsOpen(60*time.Second,
			Row{Name: "session.created", Event: protocol.SessionStart, Can: Can{Context: carried, Notice: toast}},
			Row{Name: "session.deleted", Event: protocol.SessionEnd},
			Row{Name: "session.idle", Event: protocol.AgentStop, Can: Can{Stop: endsAnyway, Notice: toast}},
			Row{Name: "session.error", Event: protocol.AgentError},
			Row{Name: "experimental.session.compacting", Event: protocol.CompactStart, Can: Can{Change: translated("the new instructions replace OpenCode's own"), Context: carried, Notice: toast}},
			Row{Name: "session.compacted", Event: protocol.CompactEnd, Can: Can{Notice: toast}},
		),
	),
	read: readClaudeFamily, write: writePlugin, refuse: refusePlugin,
}

var toast = translated("as a short message in its window; opencode run shows none")
