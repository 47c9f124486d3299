package foreignhooks

import (
	"cmp"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// copilotHooks are hooks that were written for GitHub Copilot CLI. By a name of Claude
// Code's the hook reads Claude Code's members.
var copilotHooks = Agent{
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
	input: func(a *Asking) object.Object {
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

func copilotInput(a *Asking) object.Object {
	o := object.Object{{"sessionId", object.Always(a.ev.Session.ID)}, {"timestamp", object.Raw(a.ev.Time.UnixMilli())}, {"cwd", object.Always(a.cwd())}}
	in, transcript := &a.data, object.Member{"transcriptPath", object.Always(a.ev.Session.Transcript)}
	call := object.Object{{"toolName", object.Always(toolName(a))}, {"toolArgs", a.call.input}}
	switch a.event.Name {
	case "preToolUse":
		return append(o, call...)
	case "preMcpToolCall":
		_, tool, _ := strings.Cut(strings.TrimPrefix(a.call.name, "mcp__"), "__")
		return append(o, object.Member{"toolCallId", object.Always(a.call.id)}, object.Member{"serverName", object.Always(in.Text("server"))}, object.Member{"toolName", object.Always(tool)}, object.Member{"arguments", a.call.input})
	case "permissionRequest":
		return append(append(object.Object{{"hookName", a.event.Name}}, o...), object.Member{"toolName", object.Always(toolName(a))}, object.Member{"toolInput", a.call.input}, object.Member{"permissionSuggestions", object.Always([]string{})})
	case "postToolUse":
		kind := "success"
		if in.Is("/result/isError") {
			kind = "failure"
		}
		return append(append(o, call...), object.Member{"toolResult", object.Object{{"resultType", kind}, {"textResultForLlm", object.Always(resultOf(a))}}})
	case "postToolUseFailure":
		return append(append(o, call...), object.Member{"error", object.Always(in.Text("/error/text"))})
	case "userPromptSubmitted":
		return append(o, object.Member{"prompt", object.Always(in.Text("prompt"))})
	case "userPromptTransformed":
		return append(o, object.Member{"prompt", object.Always(in.Text("prompt"))}, object.Member{"transformedPrompt", object.Always(in.Text("prompt"))})
	case "sessionStart":
		return append(o, object.Member{"source", copilotSource(a)})
	case "sessionEnd":
		return append(o, object.Member{"reason", copilotEnding(a)})
	case "agentStop":
		return append(o, transcript, object.Member{"stopReason", "end_turn"}, object.Member{"stop_hook_active", object.Always(in.Number("continued") > 0)})
	case "subagentStart", "subagentStop":
		kind := agentType(a)
		o = append(o, transcript, object.Member{"agentName", kind}, object.Member{"agentId", object.Always(in.Text("agentId"))}, object.Member{"agentType", kind}, object.Member{"parentAgentId", a.ev.Agent.ID})
		if a.event.Name == "subagentStop" {
			o = append(o, object.Member{"response", object.Always(in.Text("response"))}, object.Member{"stopReason", "end_turn"}, object.Member{"stop_hook_active", object.Always(in.Number("continued") > 0)})
		}
		return o
	case "preCompact":
		return append(o, transcript, object.Member{"trigger", manualOrAuto(a)}, object.Member{"customInstructions", object.Always(in.Text("instructions"))})
	case "errorOccurred":
		return append(o, object.Member{"errorContext", "system"}, object.Member{"recoverable", object.Always(false)}, object.Member{"error", object.Object{{"message", object.Always(in.Text("message"))}, {"name", "Error"}}})
	case "notification":
		return append(o, object.Member{"message", object.Always(in.Text("text"))}, object.Member{"title", object.Always(in.Text("title"))}, object.Member{"hook_event_name", "Notification"}, object.Member{"notification_type", claudeNotification(in.Text("kind"))})
	}
	return o
}

// copilotAsClaude is an input with Claude Code's names of members.
func copilotAsClaude(a *Asking) object.Object {
	if a.ev.Event == protocol.PermissionRequest {
		name := object.Object{{"hookName", "permissionRequest"}}
		return append(append(name, object.Member{"sessionId", object.Always(a.ev.Session.ID)}, object.Member{"timestamp", object.Raw(a.ev.Time.UnixMilli())}, object.Member{"cwd", object.Always(a.cwd())}),
			object.Member{"toolName", object.Always(toolName(a))}, object.Member{"toolInput", a.call.input}, object.Member{"permissionSuggestions", object.Always([]string{})})
	}
	o := object.Object{{"hook_event_name", a.event.Name}, {"session_id", object.Always(a.ev.Session.ID)}, {"timestamp", a.stamp()}, {"cwd", object.Always(a.cwd())}}
	for _, m := range append(subAgent(a), claudeMembers(a)...) {
		switch m.Name {
		case "hook_event_name", "tool_use_id", "duration_ms", "is_interrupt", "background_tasks", "session_crons", "last_assistant_message", "agent_transcript_path", "model":
		case "tool_response":
			o = append(o, object.Member{"tool_result", object.Object{{"result_type", "success"}, {"text_result_for_llm", object.Always(resultOf(a))}}})
		case "source":
			o = append(o, object.Member{"source", copilotSource(a)})
		case "reason":
			o = append(o, object.Member{"reason", copilotEnding(a)})
		case "stop_hook_active":
			o = append(o, object.Member{"transcript_path", object.Always(a.ev.Session.Transcript)}, object.Member{"stop_reason", "end_turn"}, m)
		default:
			o = append(o, m)
		}
	}
	return o
}

func copilotSource(a *Asking) string {
	if source := a.data.Text("source"); source != "startup" {
		return source
	}
	return "new"
}

func copilotEnding(a *Asking) string {
	switch a.data.Text("reason") {
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
		if of, err := jsonObject([]byte(line)); err == nil && of.Text("type") == "progress" {
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
			reason = in.First("permissionDecisionReason", "message", "reason")
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

func copilotReply(a *Asking, in *object.Reader) said {
	top := in
	if nested := in.At("hookSpecificOutput"); asClaude(a) && a.ev.Event == protocol.ToolCallStart && nested != nil {
		top = &object.Reader{JSON: nested} // it counts before what stands outside
	}
	if wrong := copilotWrong(in, top); wrong != "" {
		return a.unread("the reply is not one that GitHub Copilot CLI reads: %s", wrong)
	}
	s := said{}
	blocks, reason := in.Text("decision") == "block", in.Text("reason")
	switch a.ev.Event {
	case protocol.ToolCallStart:
		copilotCall(a, &s, top)
	case protocol.PermissionRequest:
		permission(a, &s, in.JSON)
	case protocol.ToolCallEnd:
		if changed := in.At("modifiedResult"); jsonspan.Kind(changed) == '{' {
			a.changesResult(&s, object.ResultText(changed))
		}
		if blocks {
			s.reply = protocol.Reply{Action: protocol.Block, Reason: reason}
		}
	case protocol.PromptSubmit:
		if blocks {
			s.reply.Action, s.reply.Reason = protocol.Block, reason
		} else if prompt := in.First("modifiedTransformedPrompt", "modifiedPrompt"); prompt != "" && prompt != a.data.Text("prompt") {
			a.replaces(&s, "prompt", jsonspan.Quote(prompt))
		}
	case protocol.AgentStop, protocol.SubagentStop:
		if blocks {
			s.reply.Action, s.reply.Reason = protocol.Block, reason
		} else if changed := in.At("modifiedResponse"); jsonspan.Kind(changed) == '"' && a.ev.Event == protocol.SubagentStop {
			a.replaces(&s, "response", changed)
		}
	}
	tells(&s, top.Text("additionalContext"))
	return s
}

// copilotWrong says what of a reply GitHub Copilot CLI could not read, "" if nothing. top is
// the part of it that has what is said about the event.
func copilotWrong(in, top *object.Reader) string {
	wrong := members{"permissionDecisionReason": aText, "modifiedArgs": anObj, "updatedInput": anObj, "additionalContext": aText,
		"modifiedPrompt": aText, "modifiedTransformedPrompt": aText, "modifiedResponse": aText, "message": aText, "reason": aText}.check(top.JSON, false)
	return cmp.Or(wrong, oneOf(top, "permissionDecision", "allow", "deny", "ask"), oneOf(in, "decision", "block", "allow", "approve"), oneOf(in, "behavior", "allow", "deny"))
}

// copilotCall takes over what a reply says about a call that is to run.
func copilotCall(a *Asking, s *said, top *object.Reader) {
	reason := top.First("permissionDecisionReason", "reason")
	switch top.Text("permissionDecision") {
	case "deny":
		s.reply.Action, s.reply.Reason = protocol.Block, reason
	case "ask":
		s.reply.Action, s.reply.Reason = protocol.Ask, reason
	}
	if args := top.Any("modifiedArgs", "updatedInput"); jsonspan.Kind(args) == '{' {
		a.changesArgs(s, a.call.back(args))
	}
}
