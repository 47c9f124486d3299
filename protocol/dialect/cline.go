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
	Rows: []Row{
		{"TaskStart", protocol.SessionStart, Can{Context: carried}, 30 * time.Second, true},
		{"TaskResume", protocol.SessionStart, Can{Context: carried}, 30 * time.Second, true},
		{"TaskComplete", protocol.AgentStop, Can{}, 30 * time.Second, true},
		{"TaskCancel", protocol.SessionEnd, Can{}, 30 * time.Second, true},
		{"SessionShutdown", protocol.SessionEnd, Can{}, 30 * time.Second, true},
		{"UserPromptSubmit", protocol.PromptSubmit, Can{Block: translated("the task ends"), Context: carried, Stop: carried}, 30 * time.Second, true},
		{"PreToolUse", protocol.ToolCallStart, Can{Block: translated("the task ends"), Change: carried, Context: carried, Stop: carried}, 30 * time.Second, true},
		{"PostToolUse", protocol.ToolCallEnd, Can{Block: translated("the task ends"), Context: carried, Stop: carried}, 30 * time.Second, true},
		{"PreCompact", protocol.CompactStart, Can{Context: carried}, 30 * time.Second, true},
	},
	read: readCline,
	write: func(c *Call, v *Verdict) Answer {
		top := object{}
		if v.Refuse || v.Stop {
			top = append(top, member{"cancel", true}, member{"errorMessage", v.Reason})
		}
		top = append(top, member{"overrideInput", v.Changed}, member{"contextModification", v.Context})
		return Answer{Stdout: top.line()}
	},
}

var clineFamily func(in *input, row *Row) (reading, error)

func init() { clineFamily = readClaudeFamily(cline) }

func readCline(in *input, row *Row) (reading, error) {
	object := in.object
	put := func(name string, value []byte) {
		if value != nil {
			object = set(object, name, value)
		}
	}
	if roots := jsonspan.Elements(in.at("workspaceRoots")); len(roots) > 0 {
		put("cwd", roots[0])
	}
	inside := func(name string) {
		put("tool_name", in.at("/"+name+"/toolName"))
		put("tool_input", in.at("/"+name+"/parameters"))
		put("tool_response", in.at("/"+name+"/result"))
	}
	switch row.Name {
	case "PreToolUse":
		inside("preToolUse")
		if in.at("tool_call") != nil { // as its SDK writes it
			put("tool_name", in.at("/tool_call/name"))
			put("tool_input", in.at("/tool_call/input"))
			put("tool_use_id", in.at("/tool_call/id"))
		}
	case "PostToolUse":
		inside("postToolUse")
		if in.at("tool_result") != nil {
			put("tool_name", in.at("/tool_result/name"))
			put("tool_input", in.at("/tool_result/input"))
			put("tool_use_id", in.at("/tool_result/id"))
			put("tool_response", in.at("/tool_result/output"))
		}
	case "UserPromptSubmit":
		put("prompt", in.at("/userPromptSubmit/prompt"))
	}
	return clineFamily(&input{object: object}, row)
}
