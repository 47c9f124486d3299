package hosts

import (
	"fmt"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// copilot is GitHub Copilot CLI. With its own names of events, which install uses, the
// inputs do not name their event, so the command line does. With Claude Code's names it
// writes Claude Code's members, and takes most answers in other places than that.
var copilot = &dialect.Agent{
	Name: "copilot", Title: "GitHub Copilot CLI",
	FolderVariables: []string{"COPILOT_PROJECT_DIR"},
	Rows: slices.Concat(
		failsOpen(30*time.Second, []dialect.Row{
			{Name: "preToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Change: alsoAllows, Context: carried, Ask: translated("with -p nobody can be asked, and the call is refused")}},
			{Name: "preMcpToolCall", Event: protocol.ToolCallStart, Same: "preToolUse"},
			{Name: "permissionRequest", Event: protocol.PermissionRequest, Can: dialect.Can{Block: carried, Ask: carried, Allow: carried, Stop: carried}},
			{Name: "postToolUse", Event: protocol.ToolCallEnd, Can: dialect.Can{Block: carried, Change: carried, Context: carried}},
			{Name: "postToolUseFailure", Event: protocol.ToolCallError, Can: dialect.Can{Context: carried}},
			{Name: "userPromptSubmitted", Event: protocol.PromptSubmit, Can: dialect.Can{Block: carried, Change: carried, Context: carried, Stop: endsPrompt}},
			{Name: "userPromptTransformed", Event: protocol.PromptSubmit, Can: dialect.Can{Change: carried}, Same: "userPromptSubmitted"},
			{Name: "sessionStart", Event: protocol.SessionStart, Can: dialect.Can{Context: carried}},
			{Name: "sessionEnd", Event: protocol.SessionEnd},
			{Name: "agentStop", Event: protocol.AgentStop, Can: dialect.Can{Continue: translated("at most 8 times in a row"), Stop: endsAnyway}},
			{Name: "subagentStart", Event: protocol.SubagentStart, Can: dialect.Can{Context: carried}},
			{Name: "subagentStop", Event: protocol.SubagentStop, Can: dialect.Can{Continue: carried, Change: carried}},
			{Name: "preCompact", Event: protocol.CompactStart},
			{Name: "errorOccurred", Event: protocol.AgentError},
			{Name: "notification", Event: protocol.Notification},
		}),
		failsOpen(30*time.Second, []dialect.Row{
			{Name: "PreToolUse", Event: protocol.ToolCallStart, Can: dialect.Can{Block: carried, Change: alsoAllows, Context: carried, Ask: translated("with -p nobody can be asked, and the call is refused")}, Same: "preToolUse"},
			{Name: "PermissionRequest", Event: protocol.PermissionRequest, Can: dialect.Can{Block: carried, Ask: carried, Allow: carried, Stop: carried}, Same: "permissionRequest"},
			{Name: "PostToolUse", Event: protocol.ToolCallEnd, Can: dialect.Can{Context: carried}, Same: "postToolUse"},
			{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Can: dialect.Can{Context: carried}, Same: "userPromptSubmitted"},
			{Name: "SessionStart", Event: protocol.SessionStart, Can: dialect.Can{Context: carried}, Same: "sessionStart"},
			{Name: "SessionEnd", Event: protocol.SessionEnd, Same: "sessionEnd"},
			{Name: "Stop", Event: protocol.AgentStop, Can: dialect.Can{Continue: translated("at most 8 times in a row"), Stop: endsAnyway}, Same: "agentStop"},
		}),
	),
	ReadInput:   readCopilot,
	WriteAnswer: writeCopilot,
}

// copilotMembers are its names of members, and Claude Code's.
var copilotMembers = [][2]string{
	{"toolName", "tool_name"}, {"toolArgs", "tool_input"}, {"toolInput", "tool_input"}, {"arguments", "tool_input"},
	{"toolResult", "tool_result"}, {"toolCallId", "tool_use_id"},
}

func readCopilot(a *dialect.Agent, in *dialect.Input, row *dialect.Row) (dialect.Reading, error) {
	there := *in
	for _, m := range copilotMembers {
		if value := in.At(m[0]); value != nil {
			if there.At(m[1]) != nil {
				return dialect.Reading{}, fmt.Errorf("%s is given twice, by two names", m[1])
			}
			there.JSON = object.Set(there.JSON, m[1], value)
		}
	}
	// Args may come as a text that is JSON.
	if text := []byte(there.Text("tool_input")); len(text) > 0 && jsonspan.Valid(text) {
		there.JSON = object.Set(there.JSON, "tool_input", jsonspan.Trim(text))
	}
	switch row.Name {
	case "preMcpToolCall":
		there.Tool = "mcp__" + in.Text("serverName") + "__" + in.Text("toolName")
	case "userPromptTransformed":
		text, err := in.Need("transformedPrompt")
		if err != nil {
			return dialect.Reading{}, err
		}
		there.JSON = object.Set(there.JSON, "prompt", jsonspan.Quote(text))
	case "errorOccurred":
		there.JSON = object.Set(there.JSON, "last_assistant_message", jsonspan.Quote(in.First("/error/message", "error")))
	}
	return dialect.ReadClaudeFamily(a, &there, row)
}

func writeCopilot(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
	switch c.Row.Name {
	case "PreToolUse": // the only one that reads Claude Code's nested form
		return writeClaude(c, v)
	case "userPromptTransformed":
		return dialect.Answer{Stdout: object.Object{{"modifiedTransformedPrompt", v.Changed}}.Line()}
	}
	top := object.Object{}
	block := func() {
		if v.Refuse || v.Continue {
			top = append(top, object.Member{"decision", "block"}, object.Member{"reason", v.Reason})
		}
	}
	switch c.Row.Event {
	case protocol.ToolCallStart:
		switch {
		case v.Refuse:
			top = append(top, object.Member{"permissionDecision", "deny"}, object.Member{"permissionDecisionReason", v.Reason})
		case v.Ask:
			top = append(top, object.Member{"permissionDecision", "ask"}, object.Member{"permissionDecisionReason", v.Reason})
		}
		top = append(top, object.Member{"modifiedArgs", v.Changed})
	case protocol.PermissionRequest:
		switch {
		case v.Refuse:
			top = append(top, object.Member{"behavior", "deny"}, object.Member{"message", v.Reason}, object.Member{"interrupt", v.Stop})
		case v.Allow:
			top = append(top, object.Member{"behavior", "allow"})
		}
	case protocol.ToolCallEnd:
		block()
		if v.Changed != nil {
			top = append(top, object.Member{"modifiedResult", object.Object{{"resultType", "success"}, {"textResultForLlm", v.Changed}}})
		}
	case protocol.PromptSubmit:
		block()
		top = append(top, object.Member{"modifiedPrompt", v.Changed})
	case protocol.SubagentStop:
		block()
		top = append(top, object.Member{"modifiedResponse", v.Changed})
	default:
		block()
	}
	return dialect.Answer{Stdout: append(top, object.Member{"additionalContext", v.Context}).Line()}
}
