package hosts

import (
	"slices"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// pi is pi, through the extension plugins/pi.ts. Its rows have the names of pi's own events.
// That a call is blocked was measured; the rest is from its documents.
var pi = &dialect.Agent{
	Name: "pi", Title: "pi",
	Rows: slices.Concat(
		failsClosed(60*time.Second, []dialect.Row{
			{Name: "tool_call", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Change: carried, Context: carried,
				Ask: headless, Stop: translated("the call is refused, and the run ends if no other call of the step runs"), Notice: carried}},
			{Name: "tool_result", Event: protocol.ToolCallEnd, Can: dialect.Can{Block: carried, Change: carried, Context: carried, Notice: carried}},
			{Name: "input", Event: protocol.PromptSubmit, Can: dialect.Can{Block: carried, Change: carried, Context: carried, Ask: headless, Stop: endsPrompt, Notice: carried}},
			{Name: "session_before_compact", Event: protocol.CompactStart, Can: dialect.Can{Block: carried, Notice: carried}},
		}),
		failsOpen(60*time.Second, []dialect.Row{
			{Name: "session_start", Event: protocol.SessionStart, Can: dialect.Can{Context: carried, Notice: carried}},
			{Name: "session_shutdown", Event: protocol.SessionEnd},
			{Name: "agent_end", Event: protocol.AgentStop, Can: dialect.Can{Continue: translated("as a new prompt, at most 5 times for one of the person's; not with -p, which has ended by then"), Stop: endsAnyway, Notice: carried}},
			{Name: "session_compact", Event: protocol.CompactEnd, Can: dialect.Can{Notice: carried}},
		}),
	),
	ReadInput: dialect.ReadClaudeFamily, WriteAnswer: writePlugin, WriteRefusal: refusePlugin,
}
