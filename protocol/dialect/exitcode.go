package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// kiro is Kiro: exit code 2 refuses, with stderr for the model, and a text on stdout is
// context at the first two events.
var kiro = &Agent{
	Name: "kiro", Title: "Kiro", Tier: FromDocuments,
	Rows: []Row{
		{"agentSpawn", protocol.SessionStart, Can{Context: carried}, 30 * time.Second, true},
		{"userPromptSubmit", protocol.PromptSubmit, Can{Context: carried}, 30 * time.Second, true},
		{"preToolUse", protocol.ToolCallStart, Can{Block: carried}, 30 * time.Second, true},
		{"postToolUse", protocol.ToolCallEnd, Can{}, 30 * time.Second, true},
		{"stop", protocol.AgentStop, Can{}, 30 * time.Second, true},
		{"SessionStart", protocol.SessionStart, Can{Context: carried}, 30 * time.Second, true},
		{"UserPromptSubmit", protocol.PromptSubmit, Can{Block: carried, Context: carried}, 30 * time.Second, true},
		{"PreToolUse", protocol.ToolCallStart, Can{Block: carried, Context: carried}, 30 * time.Second, true},
		{"PostToolUse", protocol.ToolCallEnd, Can{Context: carried}, 30 * time.Second, true},
		{"Stop", protocol.AgentStop, Can{}, 30 * time.Second, true},
	},
	write: writeExitCode,
}

// windsurf is Windsurf Cascade: exit code 2 refuses before something is done, and nothing
// else is read.
var windsurf = &Agent{
	Name: "windsurf", Title: "Windsurf", Tier: FromDocuments,
	Rows: []Row{
		{"pre_run_command", protocol.ToolCallStart, Can{Block: carried}, 30 * time.Second, true},
		{"pre_write_code", protocol.ToolCallStart, Can{Block: carried}, 30 * time.Second, true},
		{"pre_read_code", protocol.ToolCallStart, Can{Block: carried}, 30 * time.Second, true},
		{"pre_mcp_tool_use", protocol.ToolCallStart, Can{Block: carried}, 30 * time.Second, true},
		{"pre_user_prompt", protocol.PromptSubmit, Can{Block: carried}, 30 * time.Second, true},
		{"post_run_command", protocol.ToolCallEnd, Can{}, 30 * time.Second, true},
		{"post_write_code", protocol.ToolCallEnd, Can{}, 30 * time.Second, true},
		{"post_read_code", protocol.ToolCallEnd, Can{}, 30 * time.Second, true},
		{"post_mcp_tool_use", protocol.ToolCallEnd, Can{}, 30 * time.Second, true},
		{"post_cascade_response", protocol.AgentStop, Can{}, 30 * time.Second, true},
	},
	read:  readWindsurf,
	write: writeExitCode,
}

var windsurfFamily func(in *input, row *Row) (reading, error)

func init() {
	kiro.read = readClaudeFamily(kiro)
	windsurfFamily = readClaudeFamily(windsurf)
}

func writeExitCode(c *Call, v *Verdict) Answer {
	if v.Refuse {
		return Answer{Exit: 2, Stderr: v.Reason}
	}
	a := Answer{}
	if v.Context != "" {
		a.Stdout = []byte(v.Context + "\n")
	}
	return a
}

func readWindsurf(in *input, row *Row) (reading, error) {
	object := in.object
	put := func(name string, value []byte) { object = set(object, name, value) }
	call := func(name string, args []byte) {
		put("tool_name", jsonspan.Quote(name))
		put("tool_input", args)
	}
	text := func(member string) ([]byte, error) {
		s, err := in.need("/tool_info/" + member)
		return jsonspan.Quote(s), err
	}
	var err error
	var value []byte
	switch row.Name {
	case "pre_run_command", "post_run_command":
		value, err = text("command_line")
		call("bash", set([]byte("{}"), "command", value))
		if cwd := in.at("/tool_info/cwd"); cwd != nil {
			put("cwd", cwd)
		}
	case "pre_write_code", "post_write_code":
		value, err = text("file_path")
		args := set([]byte("{}"), "path", value)
		if edits := in.at("/tool_info/edits"); edits != nil {
			args = set(args, "edits", edits)
		}
		call("edit_file", args)
	case "pre_read_code", "post_read_code":
		value, err = text("file_path")
		call("read_file", set([]byte("{}"), "path", value))
	case "pre_mcp_tool_use", "post_mcp_tool_use":
		call("mcp__"+in.text("/tool_info/mcp_server_name")+"__"+in.text("/tool_info/mcp_tool_name"), in.at("/tool_info/mcp_tool_arguments"))
		if result := in.at("/tool_info/mcp_result"); result != nil {
			put("tool_response", result)
		}
	case "pre_user_prompt":
		value, err = text("user_prompt")
		put("prompt", value)
	case "post_cascade_response":
		put("last_assistant_message", jsonspan.Quote(in.text("/tool_info/response")))
	}
	if err != nil {
		return reading{}, err
	}
	return windsurfFamily(&input{object: object}, row)
}
