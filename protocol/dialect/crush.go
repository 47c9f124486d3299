package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// crush is Crush. It fires one event, for tools of its top agent.
var crush = &Agent{
	Name: "crush", Title: "Crush", Tier: FromDocuments, mergesArgs: true,
	Rows: failsOpen(30*time.Second,
		Row{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: Can{Block: carried, Change: merged, Context: carried, Stop: carried}},
	),
	read: readClaudeFamily,
	write: func(c *Call, v *Verdict) Answer {
		top := object{}
		switch {
		case v.Stop:
			top = append(top, member{"decision", "deny"}, member{"halt", true}, member{"reason", v.Reason})
		case v.Refuse:
			top = append(top, member{"decision", "deny"}, member{"reason", v.Reason})
		}
		top = append(top, member{"context", v.Context}, member{"updated_input", v.Changed})
		if top.says() {
			top = append(object{{"version", 1}}, top...)
		}
		return Answer{Stdout: top.line()}
	},
}
