package dialect

import (
	"slices"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// pi is pi, through the extension plugins/pi.ts. Its rows have the names of pi's own events.
// That a call is blocked was measured, the rest is from its documents.
var pi = &Agent{
	Name: "pi", Title: "pi", Tier: FromDocuments,
	Rows: slices.Concat(
		failsClosed(60*time.Second,
			Row{Name: "tool_call", Event: protocol.ToolCallStart, Can: Can{Block: carried, Change: carried, Context: carried,
				Ask: headless, Stop: translated("the call is refused, and the run ends if no other call of the step runs"), Notice: carried}},
			Row{Name: "tool_result", Event: protocol.ToolCallEnd, Can: Can{Block: carried, Change: carried, Context: carried, Notice: carried}},
			Row{Name: "input", Event: protocol.PromptSubmit, Can: Can{Block: carried, Change: carried, Context: carried, Ask: headless, Stop: endsPrompt, Notice: carried}},
			Row{Name: "session_before_compact", Event: protocol.CompactStart, Can: Can{Block: carried, Notice: carried}},
		),
		failsOpen(60*time.Second,
			Row{Name: "session_start", Event: protocol.SessionStart, Can: Can{Context: carried, Notice: carried}},
			Row{Name: "session_shutdown", Event: protocol.SessionEnd},
			Row{Name: "agent_end", Event: protocol.AgentStop, Can: Can{Continue: translated("as a new prompt, at most 5 times for one of the person's"), Stop: endsAnyway, Notice: carried}},
			Row{Name: "session_compact", Event: protocol.CompactEnd, Can: Can{Notice: carried}},
		),
	),
	read: readClaudeFamily, write: writePlugin, refuse: refusePlugin,
}
