package dialect

import (
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// cursorHooks are hooks that were written for Cursor.
var cursorHooks = Foreign{
	Name: "cursor", Title: "Cursor", Unit: time.Second, Limit: time.Minute,
	ProjectVariables: []string{"CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
	FailsOpen:        "Cursor goes on when a hook crashes or takes too long",
	Events: append([]HookEvent{
		{Name: "preToolUse", Event: protocol.ToolCallStart, Refuses: true},
		{Name: "beforeShellExecution", Event: protocol.ToolCallStart, Refuses: true, Only: []string{"shell"}},
		{Name: "beforeMCPExecution", Event: protocol.ToolCallStart, Refuses: true, Only: []string{"mcp"}},
		{Name: "beforeReadFile", Event: protocol.ToolCallStart, Refuses: true, Only: []string{"read_file"}},
		{Name: "postToolUse", Event: protocol.ToolCallEnd},
		{Name: "afterShellExecution", Event: protocol.ToolCallEnd, Only: []string{"shell"}},
		{Name: "afterMCPExecution", Event: protocol.ToolCallEnd, Only: []string{"mcp"}},
		{Name: "afterFileEdit", Event: protocol.ToolCallEnd, Only: []string{"write"}},
		{Name: "postToolUseFailure", Event: protocol.ToolCallError},
		{Name: "beforeSubmitPrompt", Event: protocol.PromptSubmit, Refuses: true},
		{Name: "sessionStart", Event: protocol.SessionStart},
		{Name: "sessionEnd", Event: protocol.SessionEnd},
		{Name: "afterAgentResponse", Event: protocol.MessageEnd},
		{Name: "afterAgentThought", Event: protocol.ThinkingEnd},
		{Name: "stop", Event: protocol.AgentStop},
		{Name: "subagentStart", Event: protocol.SubagentStart, Refuses: true},
		{Name: "subagentStop", Event: protocol.SubagentStop},
		{Name: "preCompact", Event: protocol.CompactStart},
	}, nowhere("beforeTabFileRead", "afterTabFileEdit", "workspaceOpen")...),
	env: func(a *Asking) []string {
		return variables("CURSOR_PROJECT_DIR", a.project, "CURSOR_VERSION", cursorVersion, "CURSOR_TRANSCRIPT_PATH", a.ev.Session.Transcript, "CLAUDE_PROJECT_DIR", a.project)
	},
	input:   cursorInput,
	reply:   replyOfCursor,
	matcher: unanchored,
	subject: func(a *Asking) []string {
		switch a.Event.Name {
		case "beforeShellExecution", "afterShellExecution":
			return []string{(&input{object: a.call.input}).text("command")}
		case "subagentStart", "subagentStop":
			return []string{agentType(a)}
		case "beforeSubmitPrompt":
			return []string{"UserPromptSubmit"}
		case "stop":
			return []string{"Stop"}
		case "afterAgentResponse":
			return []string{"AgentResponse"}
		case "afterAgentThought":
			return []string{"AgentThought"}
		}
		return a.call.names
	},
	closed: func(e *HookEvent, kind protocol.FailureKind) bool {
		return kind == protocol.FailReply && e.Event != protocol.PromptSubmit
	},
}

// cursorVersion is what a hook reads where Cursor gives its own version.
const cursorVersion = "hookd"

func cursorInput(a *Asking) object {
	id := a.ev.Session.ID
	o := object{
		{"conversation_id", always(id)}, {"generation_id", always(a.ev.ID)}, {"model", always(a.data.text("model"))}, {"session_id", always(id)},
		{"hook_event_name", a.Event.Name}, {"cursor_version", cursorVersion}, {"workspace_roots", always([]string{a.project})},
		{"user_email", protocol.RawMessage("null")}, {"transcript_path", always(a.ev.Session.Transcript)},
	}
	in, args := &a.data, &input{object: a.call.input}
	words := func() protocol.RawMessage { return always(resultOf(a)) }
	file := always(a.absolute((&input{object: a.call.ours}).text("path")))
	_, tool, _ := strings.Cut(strings.TrimPrefix(a.call.name, "mcp__"), "__")
	mcp := object{{"tool_name", always(tool)}, {"tool_input", jsonspan.Quote(string(a.call.input))}, {"mcp_server_name", always(in.text("server"))}}
	switch a.Event.Name {
	case "preToolUse", "postToolUse", "postToolUseFailure":
		o = append(o, member{"tool_name", always(toolName(a))}, member{"tool_input", a.call.input}, member{"tool_use_id", always(a.call.id)}, member{"cwd", always(a.cwd())})
		switch a.Event.Name {
		case "postToolUse":
			o = append(o, member{"tool_output", jsonspan.Quote(string(raw(object{{"output", words()}})))}, member{"duration", millis(a, "durationMs")})
		case "postToolUseFailure":
			o = append(o, member{"error_message", always(in.text("/error/text"))}, member{"failure_type", cursorFailure(in.text("/error/kind"))},
				member{"duration", millis(a, "durationMs")}, member{"is_interrupt", always(in.text("/error/kind") == "aborted")})
		}
	case "beforeShellExecution":
		o = append(o, member{"command", always(args.text("command"))}, member{"cwd", always(a.cwd())}, member{"sandbox", always(false)})
	case "afterShellExecution":
		o = append(o, member{"command", always(args.text("command"))}, member{"output", words()}, member{"duration", millis(a, "durationMs")}, member{"sandbox", always(false)})
	case "beforeMCPExecution":
		o = append(o, mcp...)
	case "afterMCPExecution":
		o = append(append(o, mcp...), member{"result_json", always(resultOf(a))}, member{"duration", millis(a, "durationMs")})
	case "beforeReadFile":
		o = append(o, member{"file_path", file}, member{"content", always("")}, member{"attachments", always([]string{})})
	case "afterFileEdit":
		ours := &input{object: a.call.ours}
		edit := object{{"old_string", always(ours.text("oldText"))}, {"new_string", always(ours.first("newText", "content"))}}
		o = append(o, member{"file_path", file}, member{"edits", raw([]object{edit})})
	case "beforeSubmitPrompt":
		o = append(o, member{"prompt", always(in.text("prompt"))}, member{"attachments", always([]string{})}, member{"composer_mode", "agent"})
	case "sessionStart":
		o = append(o, member{"is_background_agent", always(false)})
	case "sessionEnd":
		o = append(o, member{"reason", always(in.text("reason"))}, member{"duration_ms", always(0)}, member{"final_status", "completed"})
	case "stop":
		o = append(o, member{"status", "completed"}, member{"loop_count", raw(int64(in.number("continued")))})
	case "subagentStart":
		o = append(o, member{"subagent_id", always(in.text("agentId"))}, member{"subagent_type", agentType(a)}, member{"task", always(in.text("prompt"))}, member{"parent_conversation_id", always(id)}, member{"tool_call_id", always(in.text("toolCallId"))})
	case "subagentStop":
		o = append(o, member{"status", "completed"}, member{"summary", always(in.text("response"))}, member{"loop_count", raw(int64(in.number("continued")))})
	case "preCompact":
		o = append(o, member{"trigger", manualOrAuto(a)}, member{"message_count", raw(int64(in.number("/before/messages")))})
	case "afterAgentResponse", "afterAgentThought":
		o = append(o, member{"text", always(in.text("content"))})
	}
	return o
}

func cursorFailure(kind string) string {
	switch kind {
	case "blocked", "denied":
		return "permission_denied"
	case "timeout":
		return "timeout"
	}
	return "error"
}

// replyOfCursor reads the whole of stdout as JSON, or what stands there from a { on.
func replyOfCursor(a *Asking, end *Ending) said {
	in, err := jsonObject(end.Stdout)
	words := strings.TrimSpace(string(end.Stdout))
	if err != nil {
		if at := strings.LastIndex("\n"+words, "\n{"); at > 0 {
			in, err = jsonObject([]byte(words[at:]))
		}
	}
	switch {
	case end.Exit == 2:
		reason := ""
		if in != nil {
			reason = in.first("agent_message", "user_message", "reason")
		} else {
			reason = text.Valid(words)
		}
		if a.ev.Spec().Block == protocol.BlockFails || !a.Event.Refuses {
			return exited(2)
		}
		return a.blockedByExit(end, reason)
	case end.Exit != 0:
		return exited(end.Exit)
	case words == "":
		return said{}
	case err != nil:
		return a.unread("stdout is no JSON object: %v", err)
	}
	return cursorReply(a, in)
}

func cursorReply(a *Asking, in *input) said {
	for _, wrong := range []string{
		members{"continue": aBool, "user_message": aText, "agent_message": aText, "updated_input": anObj, "additional_context": aText, "additionalContext": aText, "followup_message": aText, "reason": aText}.check(in.object, false),
		oneOf(in, "permission", "allow", "deny", "ask"),
	} {
		if wrong != "" {
			return a.unread("the reply is not one that Cursor reads: %s", wrong)
		}
	}
	s := said{}
	reason := in.first("agent_message", "user_message", "reason")
	if notice := in.text("user_message"); notice != reason {
		s.reply.Notice = notice
	}
	switch a.ev.Event {
	case protocol.ToolCallStart, protocol.SubagentStart:
		switch permission := in.text("permission"); {
		case permission == "deny", permission == "ask" && a.Event.Name == "beforeReadFile":
			s.reply.Action, s.reply.Reason = protocol.Block, reason
		case permission == "ask":
			s.reply.Action, s.reply.Reason = protocol.Ask, reason
		}
		if args := in.at("updated_input"); jsonspan.Kind(args) == '{' && a.Event.Name == "preToolUse" {
			a.changesArgs(&s, a.call.back(args))
		}
	case protocol.PromptSubmit:
		if string(in.at("continue")) == "false" {
			s.reply.Action, s.reply.Reason = protocol.Block, reason
		}
	case protocol.SessionStart:
		if string(in.at("continue")) == "false" {
			a.ends(&s, reason)
		}
		if in.at("env") != nil {
			s.warn("env: no hook sets variables here")
		}
	case protocol.AgentStop, protocol.SubagentStop:
		follow := in.text("followup_message")
		if follow == "" && in.text("decision") == "block" {
			follow = in.text("reason")
		}
		if follow != "" {
			s.reply.Action, s.reply.Reason = protocol.Continue, follow
		}
	case protocol.ToolCallEnd:
		if output := in.at("updated_mcp_tool_output"); output != nil && a.call.kind == protocol.KindMCP {
			a.changesResult(&s, resultText(output))
		}
	}
	tells(&s, in.first("additional_context", "additionalContext"))
	return s
}
