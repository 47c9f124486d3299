package hosts

import (
	"slices"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// opencode is OpenCode, through the plug-in plugins/opencode.ts. Its rows have the names of
// OpenCode's own functions and events.
var opencode = &dialect.Agent{
	Name: "opencode", Title: "OpenCode",
	Rows: slices.Concat(
		failsClosed(60*time.Second, []dialect.Row{
			{Name: "tool.execute.before", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Change: carried, Context: carried, Notice: toast}},
			{Name: "tool.execute.after", Event: protocol.ToolCallEnd, Can: dialect.Can{Block: carried, Change: carried, Context: carried, Notice: toast}},
			{Name: "chat.message", Event: protocol.PromptSubmit, Can: dialect.Can{Block: translated("the prompt fails with the reason; opencode run ends"), Change: carried, Context: carried, Stop: endsPrompt, Notice: toast}},
		}),
		failsOpen(60*time.Second, []dialect.Row{
			{Name: "session.created", Event: protocol.SessionStart, Can: dialect.Can{Context: carried, Notice: toast}},
			{Name: "session.deleted", Event: protocol.SessionEnd},
			{Name: "session.idle", Event: protocol.AgentStop, Can: dialect.Can{Stop: endsAnyway, Notice: toast}},
			{Name: "session.error", Event: protocol.AgentError},
			{Name: "experimental.session.compacting", Event: protocol.CompactStart, Can: dialect.Can{Change: translated("the new instructions replace OpenCode's own"), Context: carried, Notice: toast}},
			{Name: "session.compacted", Event: protocol.CompactEnd, Can: dialect.Can{Notice: toast}},
		}),
	),
	ReadInput: dialect.ReadClaudeFamily, WriteAnswer: writePlugin, WriteRefusal: refusePlugin,
}

var toast = translated("as a short message in its window; opencode run shows none")
