package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// gemini is Gemini CLI. Its answer on stdout counts before the exit code, and it takes
// a refusal in the member decision only. AfterModel is left out: it comes with each
// piece of a stream, not with the whole answer.
var gemini = &Agent{
	Name: "gemini", Title: "Gemini CLI", Tier: Captured, mergesArgs: true,
	Rows: []Row{
		{"BeforeTool", protocol.ToolCallStart, Can{Block: carried, Change: translated("changed args are merged into the old ones: none can be taken away"),
			Ask: translated("without a terminal the agent ends"), Stop: carried, Notice: carried}, 60 * time.Second, true},
		{"AfterTool", protocol.ToolCallEnd, Can{Block: carried, Change: translated("the new result reaches the model as an error"), Context: carried, Stop: carried, Notice: carried}, 60 * time.Second, true},
		{"BeforeAgent", protocol.PromptSubmit, Can{Block: translated("the agent ends without a word"), Context: translated("with < and > written as HTML"), Stop: carried, Notice: carried}, 60 * time.Second, true},
		{"AfterAgent", protocol.AgentStop, Can{Continue: translated("the reason is a new prompt; without a cap on hooks"), Stop: carried, Notice: carried}, 60 * time.Second, true},
		{"SessionStart", protocol.SessionStart, Can{Context: carried, Notice: carried}, 60 * time.Second, true},
		{"SessionEnd", protocol.SessionEnd, Can{}, 60 * time.Second, true},
		{"PreCompress", protocol.CompactStart, Can{Notice: carried}, 60 * time.Second, true},
		{"Notification", protocol.Notification, Can{}, 60 * time.Second, true},
	},
}

func init() {
	family := readClaudeFamily(gemini)
	gemini.read = func(in *input, row *Row) (reading, error) {
		// mcp_SERVER_TOOL does not say where the server's name ends; the context does.
		if server, tool := in.text("/mcp_context/server_name"), in.text("/mcp_context/tool_name"); server != "" && tool != "" {
			in = &input{object: set(in.object, "tool_name", jsonspan.Quote("mcp__"+server+"__"+tool))}
		}
		return family(in, row)
	}
	gemini.write = writeGemini
}

func writeGemini(c *Call, v *Verdict) Answer {
	top := object{{"systemMessage", v.Notice}}
	specific := object{{"hookEventName", c.Row.Name}}
	if v.Stop {
		top = append(top, member{"continue", no{}}, member{"stopReason", v.Reason})
	}
	switch {
	case v.Refuse || v.Continue:
		top = append(top, member{"decision", "deny"}, member{"reason", v.Reason})
	case v.Ask:
		top = append(top, member{"decision", "ask"}, member{"reason", v.Reason})
	}
	switch c.Row.Event {
	case protocol.ToolCallStart:
		specific = append(specific, member{"tool_input", v.Changed})
	case protocol.ToolCallEnd:
		if v.Changed != nil {
			text := jsonspan.Text(v.Changed)
			if text == "" {
				text = "(no output)"
			}
			top = append(top, member{"decision", "deny"}, member{"reason", text})
		}
		specific = append(specific, member{"additionalContext", v.Context})
	default:
		specific = append(specific, member{"additionalContext", v.Context})
	}
	return Answer{Stdout: append(top, member{"hookSpecificOutput", specific}).line()}
}
