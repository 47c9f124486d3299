package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// cline is Cline. It starts a file that is named as the event, and reads only its stdout:
// cancel ends the whole task.
var cline = &Agent{
	Name: "cline", Title: "Cline", Tier: FromDocuments,
	Rows: failsOpen(30*time.Second,
		Row{Name: "TaskStart", Event: protocol.SessionStart, Can: Can{Context: carried}},
		Row{Name: "TaskResume", Event: protocol.SessionStart, Can: Can{Context: carried}},
		Row{Name: "TaskComplete", Event: protocol.AgentStop, Can: Can{Stop: endsAnyway}},
		Row{Name: "TaskCancel", Event: protocol.SessionEnd},
		Row{Name: "TaskError", Event: protocol.AgentError},
		Row{Name: "SessionShutdown", Event: protocol.SessionEnd},
		Row{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: Can{Block: translated("the task ends"), Context: carried, Stop: carried}},
		Row{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: Can{Block: translated("the task ends"), Change: carried, Context: carried, Stop: carried}},
		Row{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: Can{Block: translated("the task ends"), Context: carried, Stop: carried}},
		Row{Name: "PreCompact", Event: protocol.CompactStart, Can: Can{Context: carried}},
		Row{Name: "Notification", Event: protocol.Notification},
	),
	read: readCline,
	write: func(c *Call, v *Verdict) Answer {
		top := object{}
		if (v.Refuse || v.Stop) && c.Row.Event != protocol.AgentStop {
			top = append(top, member{"cancel", true}, member{"errorMessage", v.Reason})
		}
		top = append(top, member{"overrideInput", v.Changed}, member{"contextModification", v.Context})
		return Answer{Stdout: top.line()}
	},
	refuse: func(reason string) Answer { // no exit code refuses
		return Answer{Stdout: object{{"cancel", true}, {"errorMessage", reason}}.line(), Exit: 2, Stderr: reason}
	},
}

// readCline finds what an event is about in a member that is named as the event, or where
// its SDK writes it.
func readCline(a *Agent, in *input, row *Row) (reading, error) {
	if roots := jsonspan.Elements(in.at("workspaceRoots")); len(roots) > 0 {
		in = in.with("cwd", roots[0])
	}
	switch row.Name {
	case "TaskResume":
		in = in.with("source", []byte(`"resume"`))
	case "TaskCancel":
		in = in.with("reason", []byte(`"abort"`))
	case "TaskError":
		in = in.with("error", in.any("/error/message", "error"))
	case "TaskComplete":
		in = in.with("last_assistant_message", in.any("/taskComplete/taskMetadata/result", "/turn/outputText"))
	case "PreToolUse":
		in = in.with("tool_name", in.any("/tool_call/name", "/preToolUse/toolName")).
			with("tool_input", in.any("/tool_call/input", "/preToolUse/parameters")).with("tool_use_id", in.at("/tool_call/id"))
	case "PostToolUse":
		in = in.with("tool_name", in.any("/tool_result/name", "/postToolUse/toolName")).
			with("tool_input", in.any("/tool_result/input", "/postToolUse/parameters")).with("tool_use_id", in.at("/tool_result/id")).
			with("tool_response", in.any("/tool_result/output", "/postToolUse/result")).with("duration_ms", in.at("/postToolUse/executionTimeMs"))
	case "UserPromptSubmit":
		in = in.with("prompt", in.at("/userPromptSubmit/prompt"))
	case "Notification":
		in = in.with("message", in.at("/notification/message")).with("notification_type", in.at("/notification/event"))
	}
	if tool := in.text("tool_name"); tool == "use_mcp_tool" {
		return readClineServer(a, in, row)
	}
	return readClaudeFamily(a, in, row)
}

// readClineServer reads the call of a server's tool, which is one tool with the server's
// and the tool's names and a text of JSON among its args.
func readClineServer(a *Agent, in *input, row *Row) (reading, error) {
	server, err := in.need("/tool_input/server_name")
	if err != nil {
		return reading{}, err
	}
	tool, err := in.need("/tool_input/tool_name")
	if err != nil {
		return reading{}, err
	}
	args := in.at("/tool_input/arguments")
	if text := []byte(jsonspan.Text(args)); jsonspan.Kind(args) == '"' && jsonspan.Valid(text) {
		args = jsonspan.Trim(text)
	}
	if args == nil {
		args = []byte("{}")
	}
	there := *in.with("tool_input", args)
	there.tool = "mcp__" + server + "__" + tool
	got, err := readClaudeFamily(a, &there, row)
	got.call.wrapped = in.at("tool_input")
	return got, err
}
