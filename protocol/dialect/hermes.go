package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// hermes is Hermes Agent. Changed args are merged there. Its hooks for shell scripts know
// three answers: about a call, about the end of a run, and a text for the model.
var hermes = &Agent{
	Name: "hermes", Title: "Hermes Agent", Tier: FromDocuments, mergesArgs: true,
	Rows: failsOpen(60*time.Second,
		Row{Name: "pre_tool_call", Event: protocol.ToolCallStart, Can: Can{Block: carried, Change: merged}},
		Row{Name: "post_tool_call", Event: protocol.ToolCallEnd, Can: Can{Context: carried}},
		Row{Name: "pre_llm_call", Event: protocol.PromptSubmit, Can: Can{Context: carried}}, // once for each turn
		Row{Name: "pre_verify", Event: protocol.AgentStop, Can: Can{Continue: carried, Stop: endsAnyway}},
		Row{Name: "api_request_error", Event: protocol.AgentError},
		Row{Name: "on_session_start", Event: protocol.SessionStart},
		Row{Name: "on_session_end", Event: protocol.SessionEnd},
		Row{Name: "subagent_start", Event: protocol.SubagentStart},
		Row{Name: "subagent_stop", Event: protocol.SubagentStop},
	),
	read: readHermes,
	write: func(c *Call, v *Verdict) Answer {
		top := object{}
		switch {
		case v.Refuse:
			top = append(top, member{"action", "block"}, member{"message", v.Reason})
		case v.Continue:
			top = append(top, member{"action", "continue"}, member{"message", v.Reason})
		case v.Changed != nil:
			top = append(top, member{"action", "modify"}, member{"args", v.Changed})
		default:
			top = append(top, member{"context", v.Context})
		}
		return Answer{Stdout: top.line()}
	},
}

// readHermes finds what is not about a tool in the member extra.
func readHermes(a *Agent, in *input, row *Row) (reading, error) {
	for _, m := range [][2]string{
		{"result", "tool_response"}, {"tool_call_id", "tool_use_id"}, {"error", "error"},
		{"agent_id", "agent_id"}, {"final_response", "last_assistant_message"},
	} {
		in = in.with(m[1], in.at("/extra/"+m[0]))
	}
	return readClaudeFamily(a, in.promptFrom(row, "/extra/user_message"), row)
}
