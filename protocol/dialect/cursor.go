package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// cursor is Cursor with its own names of events. With failClosed, which install sets, an
// empty answer blocks: hookd always writes an object. Of one command Cursor fires both
// preToolUse and beforeShellExecution; hookd is installed for preToolUse, and for
// beforeShellExecution only to ask, since Cursor does not put a question at preToolUse.
var cursor = &Agent{
	Name: "cursor", Title: "Cursor", Tier: FromDocuments,
	Rows: []Row{
		{"preToolUse", protocol.ToolCallStart, Can{Block: carried, Change: carried, Context: carried}, 60 * time.Second, false},
		{"postToolUse", protocol.ToolCallEnd, Can{Context: carried}, 60 * time.Second, true},
		{"postToolUseFailure", protocol.ToolCallError, Can{Context: carried}, 60 * time.Second, true},
		{"beforeShellExecution", protocol.PermissionRequest, Can{Block: carried, Ask: carried, Allow: carried}, 60 * time.Second, false},
		{"beforeMCPExecution", protocol.PermissionRequest, Can{Block: carried, Ask: carried, Allow: carried}, 60 * time.Second, false},
		{"beforeReadFile", protocol.ToolCallStart, Can{Block: carried}, 60 * time.Second, false},
		{"beforeSubmitPrompt", protocol.PromptSubmit, Can{Block: carried, Context: carried, Stop: translated("the prompt is refused")}, 60 * time.Second, true},
		{"sessionStart", protocol.SessionStart, Can{Context: carried, Stop: carried}, 60 * time.Second, true},
		{"sessionEnd", protocol.SessionEnd, Can{}, 60 * time.Second, true},
		{"stop", protocol.AgentStop, Can{Continue: translated("at most 5 times")}, 60 * time.Second, true},
		{"subagentStart", protocol.SubagentStart, Can{Block: carried}, 60 * time.Second, false},
		{"subagentStop", protocol.SubagentStop, Can{Continue: translated("at most 5 times")}, 60 * time.Second, true},
		{"preCompact", protocol.CompactStart, Can{Notice: carried}, 60 * time.Second, true},
	},
	read:  readCursor,
	write: writeCursor,
}

var cursorFamily func(in *input, row *Row) (reading, error)

func init() { cursorFamily = readClaudeFamily(cursor) }

func readCursor(in *input, row *Row) (reading, error) {
	object := in.object
	if in.text("cwd") == "" {
		if roots := jsonspan.Elements(in.at("workspace_roots")); len(roots) > 0 {
			object = set(object, "cwd", roots[0])
		}
	}
	// Some members are JSON that is written as a text.
	for _, name := range []string{"tool_input", "tool_output", "result_json"} {
		if value := jsonspan.Get(object, name); jsonspan.Kind(value) == '"' {
			if text := []byte(jsonspan.Text(value)); jsonspan.Valid(text) {
				object = set(object, name, jsonspan.Trim(text))
			}
		}
	}
	call := func(name string, args []byte) {
		object = set(set(object, "tool_name", jsonspan.Quote(name)), "tool_input", args)
	}
	switch row.Name {
	case "beforeShellExecution":
		command, err := in.need("command")
		if err != nil {
			return reading{}, err
		}
		call("Shell", set([]byte("{}"), "command", jsonspan.Quote(command)))
	case "beforeMCPExecution":
		call("mcp__"+in.text("mcp_server_name")+"__"+in.text("tool_name"), jsonspan.Get(object, "tool_input"))
	case "beforeReadFile":
		path, err := in.need("file_path")
		if err != nil {
			return reading{}, err
		}
		call("Read", set([]byte("{}"), "file_path", jsonspan.Quote(path)))
	}
	return cursorFamily(&input{object: object}, row)
}

func writeCursor(c *Call, v *Verdict) Answer {
	top := object{}
	refused := func() {
		top = append(top, member{"permission", "deny"}, member{"user_message", v.Reason}, member{"agent_message", v.Reason})
	}
	switch c.Row.Event {
	case protocol.ToolCallStart, protocol.PermissionRequest, protocol.SubagentStart:
		switch {
		case v.Refuse:
			refused()
		case v.Ask:
			top = append(top, member{"permission", "ask"}, member{"user_message", v.Reason}, member{"agent_message", v.Reason})
		case v.Allow:
			top = append(top, member{"permission", "allow"})
		}
		top = append(top, member{"updated_input", v.Changed}, member{"additional_context", v.Context})
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
