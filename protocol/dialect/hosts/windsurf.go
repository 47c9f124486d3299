package hosts

import (
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// windsurf is Windsurf Cascade: exit code 2 refuses before something is done, and nothing
// else is read. Its event says which tool is called.
var windsurf = &dialect.Agent{
	Name: "windsurf", Title: "Windsurf",
	Rows: failsOpen(30*time.Second, []dialect.Row{
		{Name: "pre_run_command", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried}},
		{Name: "pre_write_code", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried}},
		{Name: "pre_read_code", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried}},
		{Name: "pre_mcp_tool_use", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried}},
		{Name: "pre_user_prompt", Event: protocol.PromptSubmit, Can: dialect.Can{Block: carried}},
		{Name: "post_run_command", Event: protocol.ToolCallEnd},
		{Name: "post_write_code", Event: protocol.ToolCallEnd},
		{Name: "post_read_code", Event: protocol.ToolCallEnd},
		{Name: "post_mcp_tool_use", Event: protocol.ToolCallEnd},
		{Name: "post_cascade_response", Event: protocol.AgentStop, Can: dialect.Can{Stop: endsAnyway}},
		{Name: "post_cascade_response_with_transcript", Event: protocol.AgentStop, Can: dialect.Can{Stop: endsAnyway}, Same: "post_cascade_response"},
	}),
	ReadInput:   readWindsurf,
	WriteAnswer: writeExitCode,
}

// readWindsurf makes a call of what the event says is done.
func readWindsurf(a *dialect.Agent, in *dialect.Input, row *dialect.Row) (dialect.Reading, error) {
	there := *in
	in = &there
	call := func(tool string, args []byte) {
		in.Tool = tool
		in.JSON = object.Set(in.JSON, "tool_input", args)
	}
	info := func(member string) (string, error) { return in.Need("/tool_info/" + member) }
	one := func(name, text string) []byte { return object.Set([]byte("{}"), name, jsonspan.Quote(text)) }
	var text string
	var err error
	switch row.Name {
	case "pre_run_command", "post_run_command":
		text, err = info("command_line")
		call("bash", one("command", text))
		in = in.With("cwd", in.At("/tool_info/cwd")).With("tool_response", in.At("/tool_info/output"))
	case "pre_write_code", "post_write_code":
		text, err = info("file_path")
		args := one("path", text)
		if edits := in.At("/tool_info/edits"); edits != nil {
			args = object.Set(args, "edits", edits)
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
		args := in.At("/tool_info/mcp_tool_arguments")
		if args == nil {
			args = []byte("{}")
		}
		call("mcp__"+server+"__"+tool, args)
		in = in.With("tool_response", in.At("/tool_info/mcp_result"))
	case "pre_user_prompt":
		text, err = info("user_prompt")
		in = in.With("prompt", jsonspan.Quote(text))
	case "post_cascade_response":
		in = in.With("last_assistant_message", in.At("/tool_info/response"))
	case "post_cascade_response_with_transcript":
		in = in.With("transcript_path", in.At("/tool_info/transcript_path"))
	}
	if err != nil {
		return dialect.Reading{}, err
	}
	return dialect.ReadClaudeFamily(a, in, row)
}
