package hosts

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// hermes is Hermes Agent. Changed args are merged there. Its hooks for shell scripts know
// three answers: about a call, about the end of a run, and a text for the model.
var hermes = &dialect.Agent{
	Name: "hermes", Title: "Hermes Agent", MergesArgs: true,
	Rows: failsOpen(60*time.Second, []dialect.Row{
		{Name: "pre_tool_call", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Change: merged}},
		{Name: "post_tool_call", Event: protocol.ToolCallEnd, Can: dialect.Can{Context: carried}},
		{Name: "pre_llm_call", Event: protocol.PromptSubmit, Can: dialect.Can{Context: carried}}, // once for each turn
		{Name: "pre_verify", Event: protocol.AgentStop, Can: dialect.Can{Continue: carried, Stop: endsAnyway}},
		{Name: "api_request_error", Event: protocol.AgentError},
		{Name: "on_session_start", Event: protocol.SessionStart},
		{Name: "on_session_end", Event: protocol.SessionEnd},
		{Name: "subagent_start", Event: protocol.SubagentStart},
		{Name: "subagent_stop", Event: protocol.SubagentStop},
	}),
	ReadInput: readHermes,
	WriteAnswer: func(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
		top := object.Object{}
		switch {
		case v.Refuse:
			top = append(top, object.Member{"action", "block"}, object.Member{"message", v.Reason})
		case v.Continue:
			top = append(top, object.Member{"action", "continue"}, object.Member{"message", v.Reason})
		case v.Changed != nil:
			top = append(top, object.Member{"action", "modify"}, object.Member{"args", v.Changed})
		default:
			top = append(top, object.Member{"context", v.Context})
		}
		return dialect.Answer{Stdout: top.Line()}
	},
}

// readHermes finds what is not about a tool in the member extra.
func readHermes(a *dialect.Agent, in *dialect.Input, row *dialect.Row) (dialect.Reading, error) {
	for _, m := range [][2]string{
		{"result", "tool_response"}, {"tool_call_id", "tool_use_id"}, {"error", "error"},
		{"agent_id", "agent_id"}, {"final_response", "last_assistant_message"},
	} {
		in = in.With(m[1], in.At("/extra/"+m[0]))
	}
	return dialect.ReadClaudeFamily(a, promptFrom(in, row, "/extra/user_message"), row)
}
