package hosts

import (
	"errors"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// cursor is Cursor with its own names of events. With failClosed, which install sets, an
// empty answer blocks: hookd always writes an object. For one command Cursor fires both
// preToolUse, where it puts no question to the person, and beforeShellExecution, where it
// does: that one is our permission-request.
var cursor = &dialect.Agent{
	Name: "cursor", Title: "Cursor",
	FolderVariables: []string{"CURSOR_PROJECT_DIR"},
	Rows: slices.Concat(
		failsClosed(60*time.Second, []dialect.Row{
			{Name: "preToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Change: carried, Context: carried}},
			{Name: "beforeShellExecution", Event: protocol.PermissionRequest, Can: dialect.Can{Block: carried, Ask: carried, Allow: carried}},
			{Name: "beforeMCPExecution", Event: protocol.PermissionRequest, Can: dialect.Can{Block: carried, Ask: carried, Allow: carried}},
			{Name: "beforeReadFile", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried}, Same: "preToolUse"},
			{Name: "beforeTabFileRead", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried}},
			{Name: "subagentStart", Event: protocol.SubagentStart, Can: dialect.Can{Block: carried}},
		}),
		failsOpen(60*time.Second, []dialect.Row{
			{Name: "postToolUse", Event: protocol.ToolCallEnd, Can: dialect.Can{Context: carried}},
			{Name: "postToolUseFailure", Event: protocol.ToolCallError, Can: dialect.Can{Context: carried}},
			{Name: "afterShellExecution", Event: protocol.ToolCallEnd, Same: "postToolUse"},
			{Name: "afterMCPExecution", Event: protocol.ToolCallEnd, Same: "postToolUse"},
			{Name: "afterFileEdit", Event: protocol.ToolCallEnd, Same: "postToolUse"},
			{Name: "afterTabFileEdit", Event: protocol.ToolCallEnd},
			{Name: "afterAgentResponse", Event: protocol.MessageEnd},
			{Name: "afterAgentThought", Event: protocol.ThinkingEnd},
			{Name: "beforeSubmitPrompt", Event: protocol.PromptSubmit, Can: dialect.Can{Block: carried, Context: carried, Stop: endsPrompt}},
			{Name: "sessionStart", Event: protocol.SessionStart, Can: dialect.Can{Context: carried, Stop: carried}},
			{Name: "sessionEnd", Event: protocol.SessionEnd},
			{Name: "stop", Event: protocol.AgentStop, Can: dialect.Can{Continue: translated("at most 5 times"), Stop: endsAnyway}},
			{Name: "subagentStop", Event: protocol.SubagentStop, Can: dialect.Can{Continue: translated("at most 5 times")}},
			{Name: "preCompact", Event: protocol.CompactStart, Can: dialect.Can{Notice: carried}},
		}),
	),
	ReadInput:   readCursor,
	WriteAnswer: writeCursor,
}

func readCursor(a *dialect.Agent, in *dialect.Input, row *dialect.Row) (dialect.Reading, error) {
	there := *in
	in = &there
	if in.Text("cwd") == "" {
		if roots := jsonspan.Elements(in.At("workspace_roots")); len(roots) > 0 {
			in = in.With("cwd", roots[0])
		}
	}
	for _, name := range []string{"tool_input", "tool_output", "result_json"} { // JSON that is written as a text
		if text := []byte(in.Text(name)); len(text) > 0 && jsonspan.Valid(text) {
			in = in.With(name, jsonspan.Trim(text))
		}
	}
	in = in.With("duration_ms", in.Any("duration_ms", "duration"))
	if status := in.Text("status"); row.Event == protocol.AgentStop && status != "" && status != "completed" {
		return dialect.Reading{}, dialect.ErrNothing // the run was ended, and is not to be forced on
	}
	var err error
	switch row.Name {
	case "beforeShellExecution", "afterShellExecution":
		err = callOf(in, "Shell", "command", "command")
		in = in.With("tool_response", in.At("output"))
	case "beforeMCPExecution", "afterMCPExecution":
		if server, tool := in.Text("mcp_server_name"), in.Text("tool_name"); server != "" && tool != "" {
			in.Tool = "mcp__" + server + "__" + tool
		}
		in = in.With("tool_response", in.At("result_json"))
	case "beforeReadFile", "beforeTabFileRead":
		err = callOf(in, "Read", "file_path", "file_path")
	case "afterFileEdit", "afterTabFileEdit":
		err = callOf(in, "Write", "file_path", "file_path")
	case "subagentStart":
		in = in.With("agent_id", in.At("subagent_id")).With("agent_type", in.At("subagent_type"))
	case "subagentStop":
		if status := in.Text("status"); status != "" && status != "completed" {
			return dialect.Reading{}, dialect.ErrNothing
		}
		in = in.With("last_assistant_message", in.At("summary")).With("agent_id", in.Any("subagent_id", "tool_call_id"))
	}
	if err != nil {
		return dialect.Reading{}, err
	}
	return dialect.ReadClaudeFamily(a, in, row)
}

// callOf makes a call of an input that has its only argument as a member.
func callOf(in *dialect.Input, tool, member, arg string) error {
	if jsonspan.Kind(in.At(member)) != '"' {
		return errors.New(member + " is missing or no string")
	}
	in.Tool, in.JSON = tool, object.Set(in.JSON, "tool_input", object.Set([]byte("{}"), arg, in.At(member)))
	return nil
}

func writeCursor(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
	top := object.Object{}
	switch c.Row.Event {
	case protocol.ToolCallStart, protocol.PermissionRequest, protocol.SubagentStart:
		permission := ""
		switch {
		case v.Refuse:
			permission = "deny"
		case v.Ask:
			permission = "ask"
		case v.Allow:
			permission = "allow"
		}
		top = append(top, object.Member{"permission", permission}, object.Member{"user_message", v.Reason}, object.Member{"agent_message", v.Reason},
			object.Member{"updated_input", v.Changed}, object.Member{"additional_context", v.Context})
	case protocol.PromptSubmit, protocol.SessionStart:
		if v.Refuse || v.Stop {
			top = append(top, object.Member{"continue", object.False{}}, object.Member{"user_message", v.Reason})
		}
		top = append(top, object.Member{"additional_context", v.Context})
	case protocol.AgentStop, protocol.SubagentStop:
		if v.Continue {
			top = append(top, object.Member{"followup_message", v.Reason})
		}
	case protocol.CompactStart:
		top = append(top, object.Member{"user_message", v.Notice})
	default:
		top = append(top, object.Member{"additional_context", v.Context})
	}
	a := dialect.Answer{Stdout: top.Line()}
	if a.Stdout == nil {
		a.Stdout = []byte("{}\n")
	}
	return a
}
