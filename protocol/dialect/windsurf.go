package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// windsurf is Windsurf Cascade: exit code 2 refuses before something is done, and nothing
// else is read. Its event says which tool is called.
var windsurf = &Agent{
	Name: "windsurf", Title: "Windsurf", Tier: FromDocuments,
	Rows: failsOpen(30*time.Second,
		Row{Name: "pre_run_command", Event: protocol.ToolCallStart, Can: Can{Block: carried}},
		Row{Name: "pre_write_code", Event: protocol.ToolCallStart, Can: Can{Block: carried}},
		Row{Name: "pre_read_code", Event: protocol.ToolCallStart, Can: Can{Block: carried}},
		Row{Name: "pre_mcp_tool_use", Event: protocol.ToolCallStart, Can: Can{Block: carried}},
		Row{Name: "pre_user_prompt", Event: protocol.PromptSubmit, Can: Can{Block: carried}},
		Row{Name: "post_run_command", Event: protocol.ToolCallEnd},
		Row{Name: "post_write_code", Event: protocol.ToolCallEnd},
		Row{Name: "post_read_code", Event: protocol.ToolCallEnd},
		Row{Name: "post_mcp_tool_use", Event: protocol.ToolCallEnd},
		Row{Name: "post_cascade_response", Event: protocol.AgentStop, Can: Can{Stop: endsAnyway}},
		Row{Name: "post_cascade_response_with_transcript", Event: protocol.AgentStop, Can: Can{Stop: endsAnyway}, Same: "post_cascade_response"},
	),
	read:  readWindsurf,
	write: writeExitCode,
}

// readWindsurf makes a call of what the event says is done.
func readWindsurf(a *Agent, in *input, row *Row) (reading, error) {
	there := *in
	in = &there
	call := func(tool string, args []byte) {
		in.tool = tool
		in.object = set(in.object, "tool_input", args)
	}
	info := func(member string) (string, error) { return in.need("/tool_info/" + member) }
	one := func(name, text string) []byte { return set([]byte("{}"), name, jsonspan.Quote(text)) }
	var text string
	var err error
	switch row.Name {
	case "pre_run_command", "post_run_command":
		text, err = info("command_line")
		call("bash", one("command", text))
		in = in.with("cwd", in.at("/tool_info/cwd")).with("tool_response", in.at("/tool_info/output"))
	case "pre_write_code", "post_write_code":
		text, err = info("file_path")
		args := one("path", text)
		if edits := in.at("/tool_info/edits"); edits != nil {
			args = set(args, "edits", edits)
		}
		call("edit_file", args)
	case "pre_read_code", "post_read_code":
		text, err = info("file_path")
		call("read_file", one("path", text))
	case "pre_mcp_tool_use", "post_mcp_tool_use":
		var server, tool string
		if server, err = info("mcp_server_name"); err == nil {
			tool, err = info("mcp_tool_name")
		}
		args := in.at("/tool_info/mcp_tool_arguments")
		if args == nil {
			args = []byte("{}")
		}
		call("mcp__"+server+"__"+tool, args)
		in = in.with("tool_response", in.at("/tool_info/mcp_result"))
	case "pre_user_prompt":
		text, err = info("user_prompt")
		in = in.with("prompt", jsonspan.Quote(text))
	case "post_cascade_response":
		in = in.with("last_assistant_message", in.at("/tool_info/response"))
	case "post_cascade_response_with_transcript":
		in = in.with("transcript_path", in.at("/tool_info/transcript_path"))
	}
	if err != nil {
		return reading{}, err
	}
	return readClaudeFamily(a, in, row)
}
