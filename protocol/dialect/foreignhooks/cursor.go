package foreignhooks

import (
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// cursorHooks are hooks that were written for Cursor.
var cursorHooks = Agent{
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
			return []string{(&object.Reader{JSON: a.call.input}).Text("command")}
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

func cursorInput(a *Asking) object.Object {
	id := a.ev.Session.ID
	o := object.Object{
		{"conversation_id", object.Always(id)}, {"generation_id", object.Always(a.ev.ID)}, {"model", object.Always(a.data.Text("model"))}, {"session_id", object.Always(id)},
		{"hook_event_name", a.Event.Name}, {"cursor_version", cursorVersion}, {"workspace_roots", object.Always([]string{a.project})},
		{"user_email", protocol.RawMessage("null")}, {"transcript_path", object.Always(a.ev.Session.Transcript)},
	}
	in, args := &a.data, &object.Reader{JSON: a.call.input}
	words := func() protocol.RawMessage { return object.Always(resultOf(a)) }
	file := object.Always(a.absolute((&object.Reader{JSON: a.call.ours}).Text("path")))
	_, tool, _ := strings.Cut(strings.TrimPrefix(a.call.name, "mcp__"), "__")
	mcp := object.Object{{"tool_name", object.Always(tool)}, {"tool_input", jsonspan.Quote(string(a.call.input))}, {"mcp_server_name", object.Always(in.Text("server"))}}
	switch a.Event.Name {
	case "preToolUse", "postToolUse", "postToolUseFailure":
		o = append(o, object.Member{"tool_name", object.Always(toolName(a))}, object.Member{"tool_input", a.call.input}, object.Member{"tool_use_id", object.Always(a.call.id)}, object.Member{"cwd", object.Always(a.cwd())})
		switch a.Event.Name {
		case "postToolUse":
			o = append(o, object.Member{"tool_output", jsonspan.Quote(string(object.Raw(object.Object{{"output", words()}})))}, object.Member{"duration", millis(a, "durationMs")})
		case "postToolUseFailure":
			o = append(o, object.Member{"error_message", object.Always(in.Text("/error/text"))}, object.Member{"failure_type", cursorFailure(in.Text("/error/kind"))},
				object.Member{"duration", millis(a, "durationMs")}, object.Member{"is_interrupt", object.Always(in.Text("/error/kind") == "aborted")})
		}
	case "beforeShellExecution":
		o = append(o, object.Member{"command", object.Always(args.Text("command"))}, object.Member{"cwd", object.Always(a.cwd())}, object.Member{"sandbox", object.Always(false)})
	case "afterShellExecution":
		o = append(o, object.Member{"command", object.Always(args.Text("command"))}, object.Member{"output", words()}, object.Member{"duration", millis(a, "durationMs")}, object.Member{"sandbox", object.Always(false)})
	case "beforeMCPExecution":
		o = append(o, mcp...)
	case "afterMCPExecution":
		o = append(append(o, mcp...), object.Member{"result_json", object.Always(resultOf(a))}, object.Member{"duration", millis(a, "durationMs")})
	case "beforeReadFile":
		o = append(o, object.Member{"file_path", file}, object.Member{"content", object.Always("")}, object.Member{"attachments", object.Always([]string{})})
	case "afterFileEdit":
		ours := &object.Reader{JSON: a.call.ours}
		edit := object.Object{{"old_string", object.Always(ours.Text("oldText"))}, {"new_string", object.Always(ours.First("newText", "content"))}}
		o = append(o, object.Member{"file_path", file}, object.Member{"edits", object.Raw([]object.Object{edit})})
	case "beforeSubmitPrompt":
		o = append(o, object.Member{"prompt", object.Always(in.Text("prompt"))}, object.Member{"attachments", object.Always([]string{})}, object.Member{"composer_mode", "agent"})
	case "sessionStart":
		o = append(o, object.Member{"is_background_agent", object.Always(false)})
	case "sessionEnd":
		o = append(o, object.Member{"reason", object.Always(in.Text("reason"))}, object.Member{"duration_ms", object.Always(0)}, object.Member{"final_status", "completed"})
	case "stop":
		o = append(o, object.Member{"status", "completed"}, object.Member{"loop_count", object.Raw(int64(in.Number("continued")))})
	case "subagentStart":
		o = append(o, object.Member{"subagent_id", object.Always(in.Text("agentId"))}, object.Member{"subagent_type", agentType(a)}, object.Member{"task", object.Always(in.Text("prompt"))}, object.Member{"parent_conversation_id", object.Always(id)}, object.Member{"tool_call_id", object.Always(in.Text("toolCallId"))})
	case "subagentStop":
		o = append(o, object.Member{"status", "completed"}, object.Member{"summary", object.Always(in.Text("response"))}, object.Member{"loop_count", object.Raw(int64(in.Number("continued")))})
	case "preCompact":
		o = append(o, object.Member{"trigger", manualOrAuto(a)}, object.Member{"message_count", object.Raw(int64(in.Number("/before/messages")))})
	case "afterAgentResponse", "afterAgentThought":
		o = append(o, object.Member{"text", object.Always(in.Text("content"))})
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
			reason = in.First("agent_message", "user_message", "reason")
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

func cursorReply(a *Asking, in *object.Reader) said {
	for _, wrong := range []string{
		members{"continue": aBool, "user_message": aText, "agent_message": aText, "updated_input": anObj, "additional_context": aText, "additionalContext": aText, "followup_message": aText, "reason": aText}.check(in.JSON, false),
		oneOf(in, "permission", "allow", "deny", "ask"),
	} {
		if wrong != "" {
			return a.unread("the reply is not one that Cursor reads: %s", wrong)
		}
	}
	s := said{}
	reason := in.First("agent_message", "user_message", "reason")
	if notice := in.Text("user_message"); notice != reason {
		s.reply.Notice = notice
	}
	switch a.ev.Event {
	case protocol.ToolCallStart, protocol.SubagentStart:
		switch permission := in.Text("permission"); {
		case permission == "deny", permission == "ask" && a.Event.Name == "beforeReadFile":
			s.reply.Action, s.reply.Reason = protocol.Block, reason
		case permission == "ask":
			s.reply.Action, s.reply.Reason = protocol.Ask, reason
		}
		if args := in.At("updated_input"); jsonspan.Kind(args) == '{' && a.Event.Name == "preToolUse" {
			a.changesArgs(&s, a.call.back(args))
		}
	case protocol.PromptSubmit:
		if string(in.At("continue")) == "false" {
			s.reply.Action, s.reply.Reason = protocol.Block, reason
		}
	case protocol.SessionStart:
		if string(in.At("continue")) == "false" {
			a.ends(&s, reason)
		}
		if in.At("env") != nil {
			s.warn("env: no hook sets variables here")
		}
	case protocol.AgentStop, protocol.SubagentStop:
		follow := in.Text("followup_message")
		if follow == "" && in.Text("decision") == "block" {
			follow = in.Text("reason")
		}
		if follow != "" {
			s.reply.Action, s.reply.Reason = protocol.Continue, follow
		}
	case protocol.ToolCallEnd:
		if output := in.At("updated_mcp_tool_output"); output != nil && a.call.kind == protocol.KindMCP {
			a.changesResult(&s, object.ResultText(output))
		}
	}
	tells(&s, in.First("additional_context", "additionalContext"))
	return s
}
