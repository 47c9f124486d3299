package dialect

import (
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/toolname"
)

// copilot is GitHub Copilot CLI with its own names of events. Its inputs do not name
// their event, so the command line does. What it writes for Claude Code's names of
// events is not read: install uses its own names.
var copilot = &Agent{
	Name: "copilot", Title: "GitHub Copilot CLI", Tier: Captured,
	Rows: []Row{
		{"preToolUse", protocol.ToolCallStart, Can{Block: carried, Change: translated("a change also allows the call"), Context: carried, Ask: translated("with -p nobody can be asked, and the call is refused")}, 30 * time.Second, true},
		{"permissionRequest", protocol.PermissionRequest, Can{Block: carried, Ask: carried, Allow: carried, Stop: carried}, 30 * time.Second, true},
		{"postToolUse", protocol.ToolCallEnd, Can{Block: translated("the result is replaced by the reason"), Change: carried, Context: carried}, 30 * time.Second, true},
		{"postToolUseFailure", protocol.ToolCallError, Can{Context: carried}, 30 * time.Second, true},
		{"userPromptSubmitted", protocol.PromptSubmit, Can{Block: carried, Change: carried, Context: carried, Stop: translated("the prompt is refused")}, 30 * time.Second, true},
		{"sessionStart", protocol.SessionStart, Can{Context: carried}, 30 * time.Second, true},
		{"sessionEnd", protocol.SessionEnd, Can{}, 30 * time.Second, true},
		{"agentStop", protocol.AgentStop, Can{Continue: translated("at most 8 times in a row")}, 30 * time.Second, true},
		{"subagentStart", protocol.SubagentStart, Can{Context: carried}, 30 * time.Second, true},
		{"subagentStop", protocol.SubagentStop, Can{Continue: carried, Change: carried}, 30 * time.Second, true},
		{"preCompact", protocol.CompactStart, Can{}, 30 * time.Second, true},
		{"errorOccurred", protocol.AgentError, Can{}, 30 * time.Second, true},
		{"notification", protocol.Notification, Can{}, 30 * time.Second, true},
	},
	read:  readCopilot,
	write: writeCopilot,
}

func readCopilot(in *input, row *Row) (reading, error) {
	names := [][2]string{
		{"toolName", "tool_name"}, {"toolArgs", "tool_input"}, {"toolInput", "tool_input"}, {"toolResult", "tool_result"},
		{"toolCallId", "tool_use_id"}, {"notification_type", "notification_type"},
	}
	snake, err := renamed(in.object, names, 0, 1)
	if err != nil {
		return reading{}, err
	}
	// Args may come as a text that is JSON.
	if args := jsonspan.Get(snake, "tool_input"); jsonspan.Kind(args) == '"' {
		if text := []byte(jsonspan.Text(args)); jsonspan.Kind(text) == '{' && jsonspan.Valid(text) {
			snake = set(snake, "tool_input", text)
		}
	}
	if row.Event == protocol.AgentError {
		snake = set(snake, "last_assistant_message", jsonspan.Quote((&input{in.object}).first("/error/message", "error")))
	}
	snake = set(snake, "tool_name", jsonspan.Quote(copilotTool(jsonspan.Text(jsonspan.Get(snake, "tool_name")))))
	return copilotFamily(&input{object: snake}, row)
}

// copilotTool is our name of a tool: of an MCP server's it writes SERVER-TOOL, and
// SERVER/TOOL where it asks for permission.
func copilotTool(name string) string {
	if _, known := toolname.Kind(name); known {
		return name
	}
	for _, separator := range []string{"/", "-"} {
		if server, tool, is := strings.Cut(name, separator); is && server != "" && tool != "" {
			return "mcp__" + server + "__" + tool
		}
	}
	return name
}

var copilotFamily func(in *input, row *Row) (reading, error)

func init() { copilotFamily = readClaudeFamily(copilot) }

func writeCopilot(c *Call, v *Verdict) Answer {
	top := object{}
	switch c.Row.Event {
	case protocol.ToolCallStart:
		switch {
		case v.Refuse:
			top = append(top, member{"permissionDecision", "deny"}, member{"permissionDecisionReason", v.Reason})
		case v.Ask:
			top = append(top, member{"permissionDecision", "ask"}, member{"permissionDecisionReason", v.Reason})
		}
		top = append(top, member{"modifiedArgs", v.Changed}, member{"additionalContext", v.Context})
	case protocol.PermissionRequest:
		switch {
		case v.Refuse:
			top = append(top, member{"behavior", "deny"}, member{"message", v.Reason}, member{"interrupt", v.Stop})
		case v.Allow:
			top = append(top, member{"behavior", "allow"})
		}
	case protocol.ToolCallEnd:
		text := v.Changed
		if v.Refuse {
			text = jsonspan.Quote(v.Reason)
		}
		if text != nil {
			kind := "success"
			if v.Refuse {
				kind = "failure"
			}
			top = append(top, member{"modifiedResult", object{{"resultType", kind}, {"textResultForLlm", text}}})
		}
		top = append(top, member{"additionalContext", v.Context})
	case protocol.PromptSubmit:
		if v.Refuse {
			top = append(top, member{"decision", "block"}, member{"reason", v.Reason})
		}
		top = append(top, member{"modifiedPrompt", v.Changed}, member{"additionalContext", v.Context})
	case protocol.SubagentStop:
		if v.Continue {
			top = append(top, member{"decision", "block"}, member{"reason", v.Reason})
		}
		top = append(top, member{"modifiedResponse", v.Changed})
	default:
		if v.Refuse || v.Continue {
			top = append(top, member{"decision", "block"}, member{"reason", v.Reason})
		}
		top = append(top, member{"additionalContext", v.Context})
	}
	return Answer{Stdout: top.line()}
}
