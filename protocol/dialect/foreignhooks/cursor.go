package foreignhooks

import (
	"cmp"
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
		switch a.event.Name {
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
	id := object.Always(a.ev.Session.ID)
	o := object.Object{
		{"conversation_id", id}, {"generation_id", object.Always(a.ev.ID)}, {"model", object.Always(a.data.Text("model"))}, {"session_id", id},
		{"hook_event_name", a.event.Name}, {"cursor_version", cursorVersion}, {"workspace_roots", object.Always([]string{a.project})},
		{"user_email", protocol.RawMessage("null")}, {"transcript_path", object.Always(a.ev.Session.Transcript)},
	}
	if members := cursorMembers[a.event.Name]; members != nil {
		o = append(o, members(a)...)
	}
	return o
}

// cursorMembers are the members that each event has besides those of all.
var cursorMembers = map[string]func(a *Asking) object.Object{
	"preToolUse": cursorCall,
	"postToolUse": func(a *Asking) object.Object {
		output := object.Object{{"output", object.Always(resultOf(a))}}.JSON()
		return append(cursorCall(a), object.Member{"tool_output", jsonspan.Quote(string(output))}, object.Member{"duration", whole(a, "durationMs")})
	},
	"postToolUseFailure": func(a *Asking) object.Object {
		kind := a.data.Text("/error/kind")
		return append(cursorCall(a), object.Object{
			{"error_message", object.Always(a.data.Text("/error/text"))}, {"failure_type", cursorFailure(kind)},
			{"duration", whole(a, "durationMs")}, {"is_interrupt", object.Always(kind == "aborted")},
		}...)
	},
	"beforeShellExecution": func(a *Asking) object.Object {
		return object.Object{{"command", cursorCommand(a)}, {"cwd", object.Always(a.cwd())}, {"sandbox", object.Always(false)}}
	},
	"afterShellExecution": func(a *Asking) object.Object {
		return object.Object{{"command", cursorCommand(a)}, {"output", object.Always(resultOf(a))}, {"duration", whole(a, "durationMs")}, {"sandbox", object.Always(false)}}
	},
	"beforeMCPExecution": cursorServerCall,
	"afterMCPExecution": func(a *Asking) object.Object {
		return append(cursorServerCall(a), object.Member{"result_json", object.Always(resultOf(a))}, object.Member{"duration", whole(a, "durationMs")})
	},
	"beforeReadFile": func(a *Asking) object.Object {
		return object.Object{{"file_path", cursorFile(a)}, {"content", object.Always("")}, {"attachments", object.Always([]string{})}}
	},
	"afterFileEdit": func(a *Asking) object.Object {
		ours := &object.Reader{JSON: a.call.ours}
		edit := object.Object{{"old_string", object.Always(ours.Text("oldText"))}, {"new_string", object.Always(ours.First("newText", "content"))}}
		return object.Object{{"file_path", cursorFile(a)}, {"edits", object.Raw([]object.Object{edit})}}
	},
	"beforeSubmitPrompt": func(a *Asking) object.Object {
		return object.Object{{"prompt", object.Always(a.data.Text("prompt"))}, {"attachments", object.Always([]string{})}, {"composer_mode", "agent"}}
	},
	"sessionStart": func(a *Asking) object.Object { return object.Object{{"is_background_agent", object.Always(false)}} },
	"sessionEnd": func(a *Asking) object.Object {
		return object.Object{{"reason", object.Always(a.data.Text("reason"))}, {"duration_ms", object.Always(0)}, {"final_status", "completed"}}
	},
	"stop": func(a *Asking) object.Object {
		return object.Object{{"status", "completed"}, {"loop_count", whole(a, "continued")}}
	},
	"subagentStart": func(a *Asking) object.Object {
		return object.Object{
			{"subagent_id", object.Always(a.data.Text("agentId"))}, {"subagent_type", agentType(a)}, {"task", object.Always(a.data.Text("prompt"))},
			{"parent_conversation_id", object.Always(a.ev.Session.ID)}, {"tool_call_id", object.Always(a.data.Text("toolCallId"))},
		}
	},
	"subagentStop": func(a *Asking) object.Object {
		return object.Object{{"status", "completed"}, {"summary", object.Always(a.data.Text("response"))}, {"loop_count", whole(a, "continued")}}
	},
	"preCompact": func(a *Asking) object.Object {
		return object.Object{{"trigger", manualOrAuto(a)}, {"message_count", whole(a, "/before/messages")}}
	},
	"afterAgentResponse": cursorText,
	"afterAgentThought":  cursorText,
}

func cursorText(a *Asking) object.Object {
	return object.Object{{"text", object.Always(a.data.Text("content"))}}
}

// cursorCall is a call of any tool.
func cursorCall(a *Asking) object.Object {
	return object.Object{{"tool_name", object.Always(toolName(a))}, {"tool_input", a.call.input}, {"tool_use_id", object.Always(a.call.id)}, {"cwd", object.Always(a.cwd())}}
}

// cursorServerCall is the call of a server's tool, with its args as a text.
func cursorServerCall(a *Asking) object.Object {
	_, tool, _ := strings.Cut(strings.TrimPrefix(a.call.name, "mcp__"), "__")
	return object.Object{{"tool_name", object.Always(tool)}, {"tool_input", jsonspan.Quote(string(a.call.input))}, {"mcp_server_name", object.Always(a.data.Text("server"))}}
}

func cursorCommand(a *Asking) protocol.RawMessage {
	return object.Always((&object.Reader{JSON: a.call.input}).Text("command"))
}

func cursorFile(a *Asking) protocol.RawMessage {
	return object.Always(a.absolute((&object.Reader{JSON: a.call.ours}).Text("path")))
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
		if a.ev.Spec().Block == protocol.BlockFails || !a.event.Refuses {
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
	wrong := members{"continue": aBool, "user_message": aText, "agent_message": aText, "updated_input": anObj, "additional_context": aText,
		"additionalContext": aText, "followup_message": aText, "reason": aText}.check(in.JSON, false)
	if wrong = cmp.Or(wrong, oneOf(in, "permission", "allow", "deny", "ask")); wrong != "" {
		return a.unread("the reply is not one that Cursor reads: %s", wrong)
	}
	s := said{}
	reason := in.First("agent_message", "user_message", "reason")
	if notice := in.Text("user_message"); notice != reason {
		s.reply.Notice = notice
	}
	refuses := string(in.At("continue")) == "false"
	switch a.ev.Event {
	case protocol.ToolCallStart, protocol.SubagentStart:
		cursorPermission(a, &s, in, reason)
	case protocol.PromptSubmit:
		if refuses {
			s.reply.Action, s.reply.Reason = protocol.Block, reason
		}
	case protocol.SessionStart:
		if refuses {
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

// cursorPermission takes over what a reply says about a call or a sub-agent that is to run.
// Cursor asks nobody about a file that is to be read.
func cursorPermission(a *Asking, s *said, in *object.Reader, reason string) {
	switch permission := in.Text("permission"); {
	case permission == "deny", permission == "ask" && a.event.Name == "beforeReadFile":
		s.reply.Action, s.reply.Reason = protocol.Block, reason
	case permission == "ask":
		s.reply.Action, s.reply.Reason = protocol.Ask, reason
	}
	if args := in.At("updated_input"); jsonspan.Kind(args) == '{' && a.event.Name == "preToolUse" {
		a.changesArgs(s, a.call.back(args))
	}
}
