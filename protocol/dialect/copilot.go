package dialect

import (
	"fmt"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// copilot is GitHub Copilot CLI. With its own names of events, which install uses, the
// inputs do not name their event, so the command line does. With Claude Code's names it
// writes Claude Code's members, and takes most answers in other places than that.
var copilot = &Agent{
	Name: "copilot", Title: "GitHub Copilot CLI", Tier: Captured,
	Rows: slices.Concat(
		failsOpen(30*time.Second,
			Row{Name: "preToolUse", Event: protocol.ToolCallStart, Can: Can{Block: carried, Change: alsoAllows, Context: carried, Ask: translated("with -p nobody can be asked, and the call is refused")}},
			Row{Name: "preMcpToolCall", Event: protocol.ToolCallStart, Same: "preToolUse"},
			Row{Name: "permissionRequest", Event: protocol.PermissionRequest, Can: Can{Block: carried, Ask: carried, Allow: carried, Stop: carried}},
			Row{Name: "postToolUse", Event: protocol.ToolCallEnd, Can: Can{Block: carried, Change: carried, Context: carried}},
			Row{Name: "postToolUseFailure", Event: protocol.ToolCallError, Can: Can{Context: carried}},
			Row{Name: "userPromptSubmitted", Event: protocol.PromptSubmit, Can: Can{Block: carried, Change: carried, Context: carried, Stop: endsPrompt}},
			Row{Name: "userPromptTransformed", Event: protocol.PromptSubmit, Can: Can{Change: carried}, Same: "userPromptSubmitted"},
			Row{Name: "sessionStart", Event: protocol.SessionStart, Can: Can{Context: carried}},
			Row{Name: "sessionEnd", Event: protocol.SessionEnd},
			Row{Name: "agentStop", Event: protocol.AgentStop, Can: Can{Continue: translated("at most 8 times in a row"), Stop: endsAnyway}},
			Row{Name: "subagentStart", Event: protocol.SubagentStart, Can: Can{Context: carried}},
			Row{Name: "subagentStop", Event: protocol.SubagentStop, Can: Can{Continue: carried, Change: carried}},
			Row{Name: "preCompact", Event: protocol.CompactStart},
			Row{Name: "errorOccurred", Event: protocol.AgentError},
			Row{Name: "notification", Event: protocol.Notification},
		),
		failsOpen(30*time.Second,
			Row{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: Can{Block: carried, Change: alsoAllows, Context: carried, Ask: translated("with -p nobody can be asked, and the call is refused")}, Same: "preToolUse"},
			Row{Name: "PermissionRequest", Event: protocol.PermissionRequest, Can: Can{Block: carried, Ask: carried, Allow: carried, Stop: carried}, Same: "permissionRequest"},
			Row{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: Can{Context: carried}, Same: "postToolUse"},
			Row{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: Can{Context: carried}, Same: "userPromptSubmitted"},
			Row{Name: "SessionStart", Event: protocol.SessionStart, Can: Can{Context: carried}, Same: "sessionStart"},
			Row{Name: "SessionEnd", Event: protocol.SessionEnd, Same: "sessionEnd"},
			Row{Name: "Stop", Event: protocol.AgentStop, Can: Can{Continue: translated("at most 8 times in a row"), Stop: endsAnyway}, Same: "agentStop"},
		),
	),
	read:  readCopilot,
	write: writeCopilot,
}

// copilotMembers are its names of members, and Claude Code's.
var copilotMembers = [][2]string{
	{"toolName", "tool_name"}, {"toolArgs", "tool_input"}, {"toolInput", "tool_input"}, {"arguments", "tool_input"},
	{"toolResult", "tool_result"}, {"toolCallId", "tool_use_id"},
}

func readCopilot(a *Agent, in *input, row *Row) (reading, error) {
	there := *in
	for _, m := range copilotMembers {
		if value := in.at(m[0]); value != nil {
			if there.at(m[1]) != nil {
				return reading{}, fmt.Errorf("%s is given twice, by two names", m[1])
			}
			there.object = set(there.object, m[1], value)
		}
	}
	// Args may come as a text that is JSON.
	if text := []byte(there.text("tool_input")); len(text) > 0 && jsonspan.Valid(text) {
		there.object = set(there.object, "tool_input", jsonspan.Trim(text))
	}
	switch row.Name {
	case "preMcpToolCall":
		there.tool = "mcp__" + in.text("serverName") + "__" + in.text("toolName")
	case "userPromptTransformed":
		text, err := in.need("transformedPrompt")
		if err != nil {
			return reading{}, err
		}
		there.object = set(there.object, "prompt", jsonspan.Quote(text))
	case "errorOccurred":
		there.object = set(there.object, "last_assistant_message", jsonspan.Quote(in.first("/error/message", "error")))
	}
	return readClaudeFamily(a, &there, row)
}

func writeCopilot(c *Call, v *Verdict) Answer {
	switch c.Row.Name {
	case "PreToolUse": // the only one that reads Claude Code's nested form
		return writeClaude(c, v)
	case "userPromptTransformed":
		return Answer{Stdout: object{{"modifiedTransformedPrompt", v.Changed}}.line()}
	}
	top := object{}
	block := func() {
		if v.Refuse || v.Continue {
			top = append(top, member{"decision", "block"}, member{"reason", v.Reason})
		}
	}
	switch c.Row.Event {
	case protocol.ToolCallStart:
		switch {
		case v.Refuse:
			top = append(top, member{"permissionDecision", "deny"}, member{"permissionDecisionReason", v.Reason})
		case v.Ask:
			top = append(top, member{"permissionDecision", "ask"}, member{"permissionDecisionReason", v.Reason})
		}
		top = append(top, member{"modifiedArgs", v.Changed})
	case protocol.PermissionRequest:
		switch {
		case v.Refuse:
			top = append(top, member{"behavior", "deny"}, member{"message", v.Reason}, member{"interrupt", v.Stop})
		case v.Allow:
			top = append(top, member{"behavior", "allow"})
		}
	case protocol.ToolCallEnd:
		block()
		if v.Changed != nil {
			top = append(top, member{"modifiedResult", object{{"resultType", "success"}, {"textResultForLlm", v.Changed}}})
		}
	case protocol.PromptSubmit:
		block()
		top = append(top, member{"modifiedPrompt", v.Changed})
	case protocol.SubagentStop:
		block()
		top = append(top, member{"modifiedResponse", v.Changed})
	default:
		block()
	}
	return Answer{Stdout: append(top, member{"additionalContext", v.Context}).line()}
}
