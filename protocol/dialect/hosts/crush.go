package hosts

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// crush is Crush. It fires one event, for tools of its top agent.
var crush = &dialect.Agent{
	Name: "crush", Title: "Crush", MergesArgs: true,
	FolderVariables: []string{"CRUSH_PROJECT_DIR", "CRUSH_CWD"},
	Rows: failsOpen(30*time.Second, []dialect.Row{
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Change: merged, Context: carried, Stop: carried}},
	}),
	ReadInput: dialect.ReadClaudeFamily,
	WriteAnswer: func(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
		top := object.Object{}
		switch {
		case v.Stop:
			top = append(top, object.Member{"decision", "deny"}, object.Member{"halt", true}, object.Member{"reason", v.Reason})
		case v.Refuse:
			top = append(top, object.Member{"decision", "deny"}, object.Member{"reason", v.Reason})
		}
		top = append(top, object.Member{"context", v.Context}, object.Member{"updated_input", v.Changed})
		if top.Says() {
			top = append(object.Object{{"version", 1}}, top...)
		}
		return dialect.Answer{Stdout: top.Line()}
	},
}
