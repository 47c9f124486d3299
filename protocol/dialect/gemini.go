package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// gemini is Gemini CLI. Its answer on stdout counts before the exit code, and it takes
// a refusal in the member decision only. Its events about model calls are in
// geminimodel.go.
var gemini = &Agent{
	Name: "gemini", Title: "Gemini CLI", Tier: Captured, mergesArgs: true,
	Rows: failsOpen(60*time.Second,
		Row{Name: "BeforeTool", Event: protocol.ToolCallStart, Can: Can{Block: carried, Change: merged,
			Ask: translated("without a terminal the agent ends"), Stop: carried, Notice: carried}},
		Row{Name: "AfterTool", Event: protocol.ToolCallEnd, Can: Can{Block: carried, Change: translated("the new result reaches the model as an error"), Context: carried, Stop: carried, Notice: carried}},
		Row{Name: "BeforeAgent", Event: protocol.PromptSubmit, Can: Can{Block: translated("the agent ends without a word"), Context: translated("with < and > written as HTML"), Stop: carried, Notice: carried}},
		Row{Name: "AfterAgent", Event: protocol.AgentStop, Can: Can{Continue: translated("the reason is a new prompt; without a cap on hooks"), Stop: carried, Notice: carried}},
		Row{Name: "BeforeModel", Event: protocol.InferenceStart, Can: Can{Block: translated("the agent ends without a word"),
			Change: translated("of messages only the texts"), Replace: translated("only its text"), Stop: carried, Notice: carried}},
		Row{Name: "BeforeToolSelection", Event: protocol.InferenceStart, Can: Can{Change: translated("params.toolChoice only")}, Same: "BeforeModel"},
		Row{Name: "AfterModel", Event: protocol.InferenceEnd, Can: Can{Block: translated("the turn ends"), Change: translated("only its text"), Stop: carried, Notice: carried}, Pieces: true},
		Row{Name: "SessionStart", Event: protocol.SessionStart, Can: Can{Context: carried, Notice: carried}},
		Row{Name: "SessionEnd", Event: protocol.SessionEnd},
		Row{Name: "PreCompress", Event: protocol.CompactStart, Can: Can{Notice: carried}},
		Row{Name: "Notification", Event: protocol.Notification},
	),
	read:   readGemini,
	write:  writeGemini,
	change: changeGemini,
}

func readGemini(a *Agent, in *input, row *Row) (reading, error) {
	switch row.Event {
	case protocol.InferenceStart:
		return readGeminiRequest(in)
	case protocol.InferenceEnd:
		return readGeminiResponse(in)
	}
	// mcp_SERVER_TOOL does not say where the server's name ends; the context does.
	if server, tool := in.text("/mcp_context/server_name"), in.text("/mcp_context/tool_name"); server != "" && tool != "" && in.text("tool_name") != "" {
		there := *in
		there.tool = "mcp__" + server + "__" + tool
		in = &there
	}
	return readClaudeFamily(a, in, row)
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
	case protocol.InferenceStart, protocol.InferenceEnd:
		specific = append(specific, geminiModel(c, v)...)
		if v.Response != nil { // it counts only together with a refusal of the call
			top = append(top, member{"decision", "deny"}, member{"reason", v.Reason})
		}
	default:
		specific = append(specific, member{"additionalContext", v.Context})
	}
	return Answer{Stdout: append(top, member{"hookSpecificOutput", specific}).line()}
}
