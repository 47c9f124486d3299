package dialect

import (
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// copilotHooks are hooks that were written for GitHub Copilot CLI. By a name of Claude
// Code's the hook reads Claude Code's members.
var copilotHooks = Foreign{
	Name: "copilot", Title: "GitHub Copilot CLI", Unit: time.Second, Limit: 30 * time.Second, claudeNames: true,
	ProjectVariables: []string{"COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
	FailsOpen:        "GitHub Copilot CLI goes on when a hook takes too long or prints what it cannot read, and at all events but preToolUse also when it crashes",
	Events: append([]HookEvent{
		{Name: "preToolUse", Event: protocol.ToolCallStart, Refuses: true},
		{Name: "permissionRequest", Event: protocol.PermissionRequest, Refuses: true},
		{Name: "preMcpToolCall", Event: protocol.ToolCallStart, Only: []string{"mcp"}},
		{Name: "postToolUse", Event: protocol.ToolCallEnd},
		{Name: "postToolUseFailure", Event: protocol.ToolCallError},
		{Name: "userPromptSubmitted", Event: protocol.PromptSubmit, Refuses: true},
		{Name: "userPromptTransformed", Event: protocol.PromptSubmit},
		{Name: "sessionStart", Event: protocol.SessionStart},
		{Name: "sessionEnd", Event: protocol.SessionEnd},
		{Name: "agentStop", Event: protocol.AgentStop},
		{Name: "subagentStart", Event: protocol.SubagentStart},
		{Name: "subagentStop", Event: protocol.SubagentStop},
		{Name: "preCompact", Event: protocol.CompactStart},
		{Name: "errorOccurred", Event: protocol.AgentError},
		{Name: "notification", Event: protocol.Notification},
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Refuses: true},
		{Name: "PermissionRequest", Event: protocol.PermissionRequest, Refuses: true},
		{Name: "PostToolUse", Event: protocol.ToolCallEnd},
		{Name: "PostToolUseFailure", Event: protocol.ToolCallError},
		{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Refuses: true},
		{Name: "SessionStart", Event: protocol.SessionStart},
		{Name: "SessionEnd", Event: protocol.SessionEnd},
		{Name: "Stop", Event: protocol.AgentStop},
		{Name: "SubagentStart", Event: protocol.SubagentStart},
		{Name: "SubagentStop", Event: protocol.SubagentStop},
		{Name: "PreCompact", Event: protocol.CompactStart},
		{Name: "ErrorOccurred", Event: protocol.AgentError},
		{Name: "Notification", Event: protocol.Notification},
	}, nowhere("postResult", "prePRDescription")...),
	env: func(a *Asking) []string {
		return variables("COPILOT_CLI", "1", "COPILOT_PROJECT_DIR", a.project, "CLAUDE_PROJECT_DIR", a.project)
	},
	input: func(a *Asking) object {
		if asClaude(a) {
			return copilotAsClaude(a)
		}
		return copilotInput(a)
	},
	reply:   replyOfCopilot,
	matcher: anchored,
	closed: func(e *HookEvent, kind protocol.FailureKind) bool {
		return e.Event == protocol.ToolCallStart && (kind == protocol.FailExit || kind == protocol.FailSignal)
	},
}

// asClaude reports whether the hook is asked by a name of Claude Code's.
func asClaude(a *Asking) bool { return isClaudeName(a.Event.Name) }

func isClaudeName(event string) bool { return event != "" && event[0] < 'a' }

func copilotInput(a *Asking) object {
	o := object{{"sessionId", always(a.ev.Session.ID)}, {"timestamp", raw(a.ev.Time.UnixMilli())}, {"cwd", always(a.cwd())}}
	in, transcript := &a.data, member{"transcriptPath", always(a.ev.Session.Transcript)}
	call := object{{"toolName", always(toolName(a))}, {"toolArgs", a.call.input}}
	switch a.Event.Name {
	case "preToolUse":
		return append(o, call...)
	case "preMcpToolCall":
		_, tool, _ := strings.Cut(strings.TrimPrefix(a.call.name, "mcp__"), "__")
		return append(o, member{"toolCallId", always(a.call.id)}, member{"serverName", always(in.text("server"))}, member{"toolName", always(tool)}, member{"arguments", a.call.input})
	case "permissionRequest":
		return append(append(object{{"hookName", a.Event.Name}}, o...), member{"toolName", always(toolName(a))}, member{"toolInput", a.call.input}, member{"permissionSuggestions", always([]string{})})
	case "postToolUse":
		kind := "success"
		if in.is("/result/isError") {
			kind = "failure"
		}
		return append(append(o, call...), member{"toolResult", object{{"resultType", kind}, {"textResultForLlm", always(resultOf(a))}}})
	case "postToolUseFailure":
		return append(append(o, call...), member{"error", always(in.text("/error/text"))})
	case "userPromptSubmitted":
		return append(o, member{"prompt", always(in.text("prompt"))})
	case "userPromptTransformed":
		return append(o, member{"prompt", always(in.text("prompt"))}, member{"transformedPrompt", always(in.text("prompt"))})
	case "sessionStart":
		return append(o, member{"source", copilotSource(a)})
	case "sessionEnd":
		return append(o, member{"reason", copilotEnding(a)})
	case "agentStop":
		return append(o, transcript, member{"stopReason", "end_turn"}, member{"stop_hook_active", always(in.number("continued") > 0)})
	case "subagentStart", "subagentStop":
		kind := agentType(a)
		o = append(o, transcript, member{"agentName", kind}, member{"agentId", always(in.text("agentId"))}, member{"agentType", kind}, member{"parentAgentId", a.ev.Agent.ID})
		if a.Event.Name == "subagentStop" {
			o = append(o, member{"response", always(in.text("response"))}, member{"stopReason", "end_turn"}, member{"stop_hook_active", always(in.number("continued") > 0)})
		}
		return o
	case "preCompact":
		return append(o, transcript, member{"trigger", manualOrAuto(a)}, member{"customInstructions", always(in.text("instructions"))})
	case "errorOccurred":
		return append(o, member{"errorContext", "system"}, member{"recoverable", always(false)}, member{"error", object{{"message", always(in.text("message"))}, {"name", "Error"}}})
	case "notification":
		return append(o, member{"message", always(in.text("text"))}, member{"title", always(in.text("title"))}, member{"hook_event_name", "Notification"}, member{"notification_type", claudeNotification(in.text("kind"))})
	}
	return o
}

// copilotAsClaude is an input with Claude Code's names of members.
func copilotAsClaude(a *Asking) object {
	if a.ev.Event == protocol.PermissionRequest {
		name := object{{"hookName", "permissionRequest"}}
		return append(append(name, member{"sessionId", always(a.ev.Session.ID)}, member{"timestamp", raw(a.ev.Time.UnixMilli())}, member{"cwd", always(a.cwd())}),
			member{"toolName", always(toolName(a))}, member{"toolInput", a.call.input}, member{"permissionSuggestions", always([]string{})})
	}
	o := object{{"hook_event_name", a.Event.Name}, {"session_id", always(a.ev.Session.ID)}, {"timestamp", a.stamp()}, {"cwd", always(a.cwd())}}
	for _, m := range append(subAgent(a), claudeMembers(a)...) {
		switch m.name {
		case "hook_event_name", "tool_use_id", "duration_ms", "is_interrupt", "background_tasks", "session_crons", "last_assistant_message", "agent_transcript_path", "model":
		case "tool_response":
			o = append(o, member{"tool_result", object{{"result_type", "success"}, {"text_result_for_llm", always(resultOf(a))}}})
		case "source":
			o = append(o, member{"source", copilotSource(a)})
		case "reason":
			o = append(o, member{"reason", copilotEnding(a)})
		case "stop_hook_active":
			o = append(o, member{"transcript_path", always(a.ev.Session.Transcript)}, member{"stop_reason", "end_turn"}, m)
		default:
			o = append(o, m)
		}
	}
	return o
}

func copilotSource(a *Asking) string {
	if source := a.data.text("source"); source != "startup" {
		return source
	}
	return "new"
}

func copilotEnding(a *Asking) string {
	switch a.data.text("reason") {
	case "exit":
		return "user_exit"
	case "interrupted":
		return "abort"
	case "error":
		return "error"
	}
	return "complete"
}

// replyOfCopilot reads one document of JSON, before which lines of progress may stand.
func replyOfCopilot(a *Asking, end *Ending) said {
	var rest []string
	for line := range strings.SplitSeq(string(end.Stdout), "\n") {
		if of, err := jsonObject([]byte(line)); err == nil && of.text("type") == "progress" {
			continue
		}
		rest = append(rest, line)
	}
	words := strings.TrimSpace(strings.Join(rest, "\n"))
	in, err := jsonObject([]byte(words))
	switch {
	case end.Exit == 2 && a.ev.Event == protocol.ToolCallError:
		s := said{}
		tells(&s, stderrText(end.Stderr))
		return s
	case end.Exit == 2 && (a.ev.Event == protocol.ToolCallStart || a.ev.Event == protocol.PermissionRequest):
		reason := ""
		if in != nil {
			reason = in.first("permissionDecisionReason", "message", "reason")
		}
		return a.blockedByExit(end, reason)
	case err == nil:
		s := copilotReply(a, in)
		if end.Exit != 0 && !s.refuses() {
			return exited(end.Exit)
		}
		return s
	case end.Exit != 0:
		return exited(end.Exit)
	case words == "":
		return said{}
	case err != errNotJSON:
		return a.unread("stdout begins as JSON, and is none: %v", err)
	}
	return a.ignored(end.Stdout)
}

func copilotReply(a *Asking, in *input) said {
	nested := &input{object: in.at("hookSpecificOutput")}
	top := in
	if asClaude(a) && a.ev.Event == protocol.ToolCallStart && nested.object != nil {
		top = nested // it counts before what stands outside
	}
	for _, wrong := range []string{
		members{"permissionDecisionReason": aText, "modifiedArgs": anObj, "updatedInput": anObj, "additionalContext": aText, "modifiedPrompt": aText, "modifiedTransformedPrompt": aText, "modifiedResponse": aText, "message": aText, "reason": aText}.check(top.object, false),
		oneOf(top, "permissionDecision", "allow", "deny", "ask"), oneOf(in, "decision", "block", "allow", "approve"), oneOf(in, "behavior", "allow", "deny"),
	} {
		if wrong != "" {
			return a.unread("the reply is not one that GitHub Copilot CLI reads: %s", wrong)
		}
	}
	s := said{}
	blocks, reason := in.text("decision") == "block", in.text("reason")
	switch a.ev.Event {
	case protocol.ToolCallStart:
		reason = top.first("permissionDecisionReason", "reason")
		switch top.text("permissionDecision") {
		case "deny":
			s.reply.Action, s.reply.Reason = protocol.Block, reason
		case "ask":
			s.reply.Action, s.reply.Reason = protocol.Ask, reason
		}
		args := top.at("modifiedArgs")
		if args == nil {
			args = top.at("updatedInput")
		}
		if jsonspan.Kind(args) == '{' {
			a.changesArgs(&s, a.call.back(args))
		}
	case protocol.PermissionRequest:
		permission(a, &s, in.object)
	case protocol.ToolCallEnd:
		if changed := in.at("modifiedResult"); jsonspan.Kind(changed) == '{' {
			a.changesResult(&s, resultText(changed))
		}
		if blocks {
			s.reply = protocol.Reply{Action: protocol.Block, Reason: reason}
		}
	case protocol.PromptSubmit:
		if blocks {
			s.reply.Action, s.reply.Reason = protocol.Block, reason
		} else if prompt := in.first("modifiedTransformedPrompt", "modifiedPrompt"); prompt != "" && prompt != a.data.text("prompt") {
			a.replaces(&s, "prompt", jsonspan.Quote(prompt))
		}
	case protocol.AgentStop, protocol.SubagentStop:
		if blocks {
			s.reply.Action, s.reply.Reason = protocol.Block, reason
		} else if changed := in.at("modifiedResponse"); jsonspan.Kind(changed) == '"' && a.ev.Event == protocol.SubagentStop {
			a.replaces(&s, "response", changed)
		}
	}
	tells(&s, top.text("additionalContext"))
	return s
}
