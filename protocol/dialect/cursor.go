package dialect

import (
	"errors"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// cursor is Cursor with its own names of events. With failClosed, which install sets, an
// empty answer blocks: hookd always writes an object. For one command Cursor fires both
// preToolUse, where it puts no question to the person, and beforeShellExecution, where it
// does: that one is our permission-request.
var cursor = &Agent{
	Name: "cursor", Title: "Cursor", Tier: FromDocuments,
	Rows: slices.Concat(
		failsClosed(60*time.Second,
			Row{Name: "preToolUse", Event: protocol.ToolCallStart, Can: Can{Block: carried, Change: carried, Context: carried}},
			Row{Name: "beforeShellExecution", Event: protocol.PermissionRequest, Can: Can{Block: carried, Ask: carried, Allow: carried}},
			Row{Name: "beforeMCPExecution", Event: protocol.PermissionRequest, Can: Can{Block: carried, Ask: carried, Allow: carried}},
			Row{Name: "beforeReadFile", Event: protocol.ToolCallStart, Can: Can{Block: carried}, Same: "preToolUse"},
			Row{Name: "beforeTabFileRead", Event: protocol.ToolCallStart, Can: Can{Block: carried}},
			Row{Name: "subagentStart", Event: protocol.SubagentStart, Can: Can{Block: carried}},
		),
		failsOpen(60*time.Second,
			Row{Name: "postToolUse", Event: protocol.ToolCallEnd, Can: Can{Context: carried}},
			Row{Name: "postToolUseFailure", Event: protocol.ToolCallError, Can: Can{Context: carried}},
			Row{Name: "afterShellExecution", Event: protocol.ToolCallEnd, Same: "postToolUse"},
			Row{Name: "afterMCPExecution", Event: protocol.ToolCallEnd, Same: "postToolUse"},
			Row{Name: "afterFileEdit", Event: protocol.ToolCallEnd, Same: "postToolUse"},
			Row{Name: "afterTabFileEdit", Event: protocol.ToolCallEnd},
			Row{Name: "afterAgentResponse", Event: protocol.MessageEnd},
			Row{Name: "afterAgentThought", Event: protocol.ThinkingEnd},
			Row{Name: "beforeSubmitPrompt", Event: protocol.PromptSubmit, Can: Can{Block: carried, Context: carried, Stop: endsPrompt}},
			Row{Name: "sessionStart", Event: protocol.SessionStart, Can: Can{Context: carried, Stop: carried}},
			Row{Name: "sessionEnd", Event: protocol.SessionEnd},
			Row{Name: "stop", Event: protocol.AgentStop, Can: Can{Continue: translated("at most 5 times"), Stop: endsAnyway}},
			Row{Name: "subagentStop", Event: protocol.SubagentStop, Can: Can{Continue: translated("at most 5 times")}},
			Row{Name: "preCompact", Event: protocol.CompactStart, Can: Can{Notice: carried}},
		),
	),
	read:  readCursor,
	write: writeCursor,
}

func readCursor(a *Agent, in *input, row *Row) (reading, error) {
	there := *in
	in = &there
	if in.text("cwd") == "" {
		if roots := jsonspan.Elements(in.at("workspace_roots")); len(roots) > 0 {
			in = in.with("cwd", roots[0])
		}
	}
	for _, name := range []string{"tool_input", "tool_output", "result_json"} { // JSON that is written as a text
		if text := []byte(in.text(name)); len(text) > 0 && jsonspan.Valid(text) {
			in = in.with(name, jsonspan.Trim(text))
		}
	}
	in = in.with("duration_ms", in.any("duration_ms", "duration"))
	if status := in.text("status"); row.Event == protocol.AgentStop && status != "" && status != "completed" {
		return reading{}, errNothing // the run was ended, and is not to be forced on
	}
	var err error
	switch row.Name {
	case "beforeShellExecution", "afterShellExecution":
		err = in.callOf("Shell", "command", "command")
		in = in.with("tool_response", in.at("output"))
	case "beforeMCPExecution", "afterMCPExecution":
		if server, tool := in.text("mcp_server_name"), in.text("tool_name"); server != "" && tool != "" {
			in.tool = "mcp__" + server + "__" + tool
		}
		in = in.with("tool_response", in.at("result_json"))
	case "beforeReadFile", "beforeTabFileRead":
		err = in.callOf("Read", "file_path", "file_path")
	case "afterFileEdit", "afterTabFileEdit":
		err = in.callOf("Write", "file_path", "file_path")
	case "subagentStart":
		in = in.with("agent_id", in.at("subagent_id")).with("agent_type", in.at("subagent_type"))
	case "subagentStop":
		if status := in.text("status"); status != "" && status != "completed" {
			return reading{}, errNothing
		}
		in = in.with("last_assistant_message", in.at("summary")).with("agent_id", in.any("subagent_id", "tool_call_id"))
	}
	if err != nil {
		return reading{}, err
	}
	return readClaudeFamily(a, in, row)
}

// callOf makes a call of an input that has its only argument as a member.
func (in *input) callOf(tool, member, arg string) error {
	if jsonspan.Kind(in.at(member)) != '"' {
		return errors.New(member + " is missing or no string")
	}
	in.tool, in.object = tool, set(in.object, "tool_input", set([]byte("{}"), arg, in.at(member)))
	return nil
}

func writeCursor(c *Call, v *Verdict) Answer {
	top := object{}
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
		top = append(top, member{"permission", permission}, member{"user_message", v.Reason}, member{"agent_message", v.Reason},
			member{"updated_input", v.Changed}, member{"additional_context", v.Context})
	case protocol.PromptSubmit, protocol.SessionStart:
		if v.Refuse || v.Stop {
			top = append(top, member{"continue", no{}}, member{"user_message", v.Reason})
		}
		top = append(top, member{"additional_context", v.Context})
	case protocol.AgentStop, protocol.SubagentStop:
		if v.Continue {
			top = append(top, member{"followup_message", v.Reason})
		}
	case protocol.CompactStart:
		top = append(top, member{"user_message", v.Notice})
	default:
		top = append(top, member{"additional_context", v.Context})
	}
	a := Answer{Stdout: top.line()}
	if a.Stdout == nil {
		a.Stdout = []byte("{}\n")
	}
	return a
}
