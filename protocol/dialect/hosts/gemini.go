package hosts

import (
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// gemini is Gemini CLI. Its answer on stdout counts before the exit code, and it takes
// a refusal in the member decision only. Its events about model calls are in
// geminimodel.go.
var gemini = &dialect.Agent{
	Name: "gemini", Title: "Gemini CLI", MergesArgs: true,
	FolderVariables: []string{"GEMINI_PROJECT_DIR", "GEMINI_CWD"},
	Rows: failsOpen(60*time.Second, []dialect.Row{
		{Name: "BeforeTool", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Change: merged,
			Ask: translated("without a terminal the agent ends"), Stop: carried, Notice: carried}},
		{Name: "AfterTool", Event: protocol.ToolCallEnd, Can: dialect.Can{Block: carried, Change: translated("the new result reaches the model as an error"), Context: carried, Stop: carried, Notice: carried}},
		{Name: "BeforeAgent", Event: protocol.PromptSubmit, Can: dialect.Can{Block: translated("the agent ends without a word"), Context: translated("with < and > written as HTML"), Stop: carried, Notice: carried}},
		{Name: "AfterAgent", Event: protocol.AgentStop, Can: dialect.Can{Continue: translated("the reason is a new prompt; without a cap on hooks"), Stop: carried, Notice: carried}},
		{Name: "BeforeModel", Event: protocol.InferenceStart, Can: dialect.Can{Block: translated("the agent ends without a word"),
			Change: translated("of messages only the texts"), Replace: translated("only its text"), Stop: carried, Notice: carried}},
		{Name: "BeforeToolSelection", Event: protocol.InferenceStart, Can: dialect.Can{Change: translated("params.toolChoice only")}, Same: "BeforeModel"},
		{Name: "AfterModel", Event: protocol.InferenceEnd, Can: dialect.Can{Block: translated("the turn ends"), Change: translated("only its text"), Stop: carried, Notice: carried}, Pieces: true},
		{Name: "SessionStart", Event: protocol.SessionStart, Can: dialect.Can{Context: carried, Notice: carried}},
		{Name: "SessionEnd", Event: protocol.SessionEnd},
		{Name: "PreCompress", Event: protocol.CompactStart, Can: dialect.Can{Notice: carried}},
		{Name: "Notification", Event: protocol.Notification},
	}),
	ReadInput:   readGemini,
	WriteAnswer: writeGemini,
	WriteChange: changeGemini,
}

func readGemini(a *dialect.Agent, in *dialect.Input, row *dialect.Row) (dialect.Reading, error) {
	switch row.Event {
	case protocol.InferenceStart:
		return readGeminiRequest(in)
	case protocol.InferenceEnd:
		return readGeminiResponse(in)
	}
	// mcp_SERVER_TOOL does not say where the server's name ends; the context does.
	if server, tool := in.Text("/mcp_context/server_name"), in.Text("/mcp_context/tool_name"); server != "" && tool != "" && in.Text("tool_name") != "" {
		there := *in
		there.Tool = "mcp__" + server + "__" + tool
		in = &there
	}
	return dialect.ReadClaudeFamily(a, in, row)
}

func writeGemini(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
	top := object.Object{{"systemMessage", v.Notice}}
	specific := object.Object{{"hookEventName", c.Row.Name}}
	if v.Stop {
		top = append(top, object.Member{"continue", object.False{}}, object.Member{"stopReason", v.Reason})
	}
	switch {
	case v.Refuse || v.Continue:
		top = append(top, object.Member{"decision", "deny"}, object.Member{"reason", v.Reason})
	case v.Ask:
		top = append(top, object.Member{"decision", "ask"}, object.Member{"reason", v.Reason})
	}
	switch c.Row.Event {
	case protocol.ToolCallStart:
		specific = append(specific, object.Member{"tool_input", v.Changed})
	case protocol.ToolCallEnd:
		if v.Changed != nil {
			text := jsonspan.Text(v.Changed)
			if text == "" {
				text = "(no output)"
			}
			top = append(top, object.Member{"decision", "deny"}, object.Member{"reason", text})
		}
		specific = append(specific, object.Member{"additionalContext", v.Context})
	case protocol.InferenceStart, protocol.InferenceEnd:
		specific = append(specific, geminiModel(c, v)...)
		if v.Response != nil { // it counts only together with a refusal of the call
			top = append(top, object.Member{"decision", "deny"}, object.Member{"reason", v.Reason})
		}
	default:
		specific = append(specific, object.Member{"additionalContext", v.Context})
	}
	return dialect.Answer{Stdout: append(top, object.Member{"hookSpecificOutput", specific}).Line()}
}
