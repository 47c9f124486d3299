package hosts

import (
	"errors"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// cline is Cline. It starts a file that is named as the event, and reads only its stdout:
// cancel ends the whole task.
var cline = &dialect.Agent{
	Name: "cline", Title: "Cline",
	Rows: failsOpen(30*time.Second, []dialect.Row{
		{Name: "TaskStart", Event: protocol.SessionStart, Can: dialect.Can{Context: notInTerminal}},
		{Name: "TaskResume", Event: protocol.SessionStart, Can: dialect.Can{Context: notInTerminal}},
		{Name: "TaskComplete", Event: protocol.AgentStop, Can: dialect.Can{Stop: endsAnyway}},
		{Name: "TaskCancel", Event: protocol.SessionEnd},
		{Name: "TaskError", Event: protocol.AgentError},
		{Name: "SessionShutdown", Event: protocol.SessionEnd},
		{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: dialect.Can{Block: translated("the task ends; Cline in a terminal asks no hook about a prompt"), Context: notInTerminal, Stop: carried}},
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: translated("the task ends; in a terminal only hookd log says why"), Change: carried, Context: carried, Stop: carried}},
		{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: dialect.Can{Block: translated("the task ends"), Context: carried, Stop: carried}},
		{Name: "PreCompact", Event: protocol.CompactStart, Can: dialect.Can{Context: carried}},
		{Name: "Notification", Event: protocol.Notification},
	}),
	ReadInput: readCline,
	WriteAnswer: func(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
		top := object.Object{}
		if (v.Refuse || v.Stop) && c.Row.Event != protocol.AgentStop {
			top = append(top, object.Member{"cancel", true}, object.Member{"errorMessage", v.Reason})
		}
		top = append(top, object.Member{"overrideInput", v.Changed}, object.Member{"contextModification", v.Context})
		return dialect.Answer{Stdout: top.Line()}
	},
	WriteRefusal: func(reason string) dialect.Answer { // no exit code refuses
		return dialect.Answer{Stdout: object.Object{{"cancel", true}, {"errorMessage", reason}}.Line(), Exit: 2, Stderr: reason}
	},
}

// Cline in a terminal (3.0.65) goes on while hooks of a task's start still run, and does not
// fire UserPromptSubmit.
var notInTerminal = translated("in an editor; Cline in a terminal does not wait for it")

// readCline finds what an event is about in a member that is named as the event, or where
// its SDK writes it.
func readCline(a *dialect.Agent, in *dialect.Input, row *dialect.Row) (dialect.Reading, error) {
	if roots := jsonspan.Elements(in.At("workspaceRoots")); len(roots) > 0 {
		in = in.With("cwd", roots[0])
	}
	switch row.Name {
	case "TaskResume":
		in = in.With("source", []byte(`"resume"`))
	case "TaskCancel":
		in = in.With("reason", []byte(`"abort"`))
	case "TaskError":
		in = in.With("error", in.Any("/error/message", "error"))
	case "TaskComplete":
		in = in.With("last_assistant_message", in.Any("/taskComplete/taskMetadata/result", "/turn/outputText"))
	case "PreToolUse":
		if err := agreeOnCall(in); err != nil {
			return dialect.Reading{}, err
		}
		in = in.With("tool_name", in.Any("/tool_call/name", "/preToolUse/toolName")).
			With("tool_input", in.Any("/tool_call/input", "/preToolUse/parameters")).With("tool_use_id", in.At("/tool_call/id"))
	case "PostToolUse":
		in = in.With("tool_name", in.Any("/tool_result/name", "/postToolUse/toolName")).
			With("tool_input", in.Any("/tool_result/input", "/postToolUse/parameters")).With("tool_use_id", in.At("/tool_result/id")).
			With("tool_response", in.Any("/tool_result/output", "/postToolUse/result")).With("duration_ms", in.At("/postToolUse/executionTimeMs"))
	case "UserPromptSubmit":
		in = in.With("prompt", in.At("/userPromptSubmit/prompt"))
	case "Notification":
		in = in.With("message", in.At("/notification/message")).With("notification_type", in.At("/notification/event"))
	}
	if tool := in.Text("tool_name"); tool == "use_mcp_tool" {
		return readClineServer(a, in, row)
	}
	return dialect.ReadClaudeFamily(a, in, row)
}

// agreeOnCall holds the two forms of a call against each other: Cline in a terminal writes
// both, and its editors preToolUse alone.
func agreeOnCall(in *dialect.Input) error {
	own, both := in.At("tool_call"), in.At("preToolUse")
	if own == nil {
		return nil
	}
	name, err := in.Need("/tool_call/name")
	if err != nil {
		return err
	}
	if jsonspan.Kind(in.At("/tool_call/input")) != '{' {
		return errors.New("tool_call says no input")
	}
	if jsonspan.Kind(both) != '{' || jsonspan.Kind(in.At("/preToolUse/parameters")) != '{' || in.Text("/preToolUse/toolName") != name {
		return errors.New("tool_call and preToolUse are not the same call")
	}
	return nil
}

// readClineServer reads the call of a server's tool, which is one tool with the server's
// and the tool's names and a text of JSON among its args.
func readClineServer(a *dialect.Agent, in *dialect.Input, row *dialect.Row) (dialect.Reading, error) {
	server, err := in.Need("/tool_input/server_name")
	if err != nil {
		return dialect.Reading{}, err
	}
	tool, err := in.Need("/tool_input/tool_name")
	if err != nil {
		return dialect.Reading{}, err
	}
	args := in.At("/tool_input/arguments")
	if text := []byte(jsonspan.Text(args)); jsonspan.Kind(args) == '"' && jsonspan.Valid(text) {
		args = jsonspan.Trim(text)
	}
	if args == nil {
		args = []byte("{}")
	}
	there := *in.With("tool_input", args)
	there.Tool = "mcp__" + server + "__" + tool
	got, err := dialect.ReadClaudeFamily(a, &there, row)
	got.Call.Wrapped = in.At("tool_input")
	return got, err
}
