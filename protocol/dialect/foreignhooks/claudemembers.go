package foreignhooks

import (
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// The inputs of agents with Claude Code's names, for hooks that are asked here.

// claudeMembers are the members of an input from the event's name on.
func claudeMembers(a *Asking) object.Object {
	o := object.Object{{"hook_event_name", a.event.Name}}
	in := &a.data
	call := object.Object{{"tool_name", object.Always(toolName(a))}, {"tool_input", a.call.input}}
	if server := server(a); server != "" && a.agent.Name == "claude" {
		call = append(object.Object{{"mcp_server", object.Object{{"name", server}, {"source", "dynamic"}}}}, call...)
	}
	switch a.ev.Event {
	case protocol.SessionStart:
		return append(o, object.Member{"source", in.Text("source")}, object.Member{"model", in.Text("model")})
	case protocol.SessionEnd:
		return append(o, object.Member{"reason", claudeEnding(in.Text("reason"))})
	case protocol.PromptSubmit:
		return append(o, object.Member{"prompt", object.Always(in.Text("prompt"))})
	case protocol.ToolCallStart:
		return append(append(o, call...), object.Member{"tool_use_id", object.Always(a.call.id)})
	case protocol.PermissionRequest:
		return append(append(o, call...), object.Member{"permission_suggestions", object.Always([]string{})})
	case protocol.ToolCallEnd:
		return append(append(o, call...), object.Member{"tool_response", claudeResponse(a)}, object.Member{"tool_use_id", object.Always(a.call.id)}, object.Member{"duration_ms", whole(a, "durationMs")})
	case protocol.ToolCallError:
		return append(append(o, call...), object.Member{"tool_use_id", object.Always(a.call.id)}, object.Member{"error", object.Always(in.Text("/error/text"))},
			object.Member{"is_interrupt", object.Always(in.Text("/error/kind") == string(protocol.CallAborted))}, object.Member{"duration_ms", whole(a, "durationMs")})
	case protocol.StepStop:
		return append(o, object.Member{"tool_calls", object.Raw(claudeBatch(a))})
	case protocol.AgentStop, protocol.SubagentStop:
		o = append(o, object.Member{"stop_hook_active", object.Always(in.Number("continued") > 0)})
		if a.ev.Event == protocol.SubagentStop {
			o = append(o, object.Member{"agent_transcript_path", object.Always("")})
		}
		return append(o, object.Member{"last_assistant_message", object.Always(in.Text("response"))}, object.Member{"background_tasks", object.Always([]string{})}, object.Member{"session_crons", object.Always([]string{})})
	case protocol.AgentError:
		return append(o, object.Member{"error", "unknown"}, object.Member{"last_assistant_message", object.Always(in.Text("message"))})
	case protocol.CompactStart:
		return append(o, object.Member{"trigger", manualOrAuto(a)}, object.Member{"custom_instructions", object.Always(in.Text("instructions"))})
	case protocol.CompactEnd:
		return append(o, object.Member{"trigger", manualOrAuto(a)}, object.Member{"compact_summary", object.Always(in.Text("summary"))})
	case protocol.Notification:
		return append(o, object.Member{"message", object.Always(in.Text("text"))}, object.Member{"title", in.Text("title")}, object.Member{"notification_type", claudeNotification(in.Text("kind"))})
	}
	return o
}

// subAgent names the sub-agent that an event is about, or comes from.
func subAgent(a *Asking) object.Object {
	switch {
	case a.ev.Event == protocol.SubagentStart || a.ev.Event == protocol.SubagentStop:
		return object.Object{{"agent_id", object.Always(a.data.Text("agentId"))}, {"agent_type", object.Always(agentType(a))}}
	case a.ev.Agent.Depth > 0:
		return object.Object{{"agent_id", a.ev.Agent.ID}, {"agent_type", "general-purpose"}}
	}
	return nil
}

// claudeResponse is a tool's result in the form that Claude Code has for the tool.
func claudeResponse(a *Asking) protocol.RawMessage {
	words, in := resultOf(a), &object.Reader{JSON: a.call.ours}
	if a.call.kind == protocol.KindMCP {
		return object.Raw([]object.Object{{{"type", "text"}, {"text", object.Always(words)}}})
	}
	switch a.call.name {
	case "bash":
		return object.Object{
			{"stdout", object.Always(words)}, {"stderr", object.Always("")}, {"interrupted", object.Always(false)}, {"isImage", object.Always(false)}, {"noOutputExpected", object.Always(false)},
		}.JSON()
	case "read_file":
		return object.Object{{"type", "text"}, {"file", object.Object{{"filePath", object.Always(a.absolute(in.Text("path")))}, {"content", object.Always(words)}}}}.JSON()
	case "write_file":
		return object.Object{{"type", "create"}, {"filePath", object.Always(a.absolute(in.Text("path")))}, {"content", object.Always(in.Text("content"))}}.JSON()
	case "edit_file":
		return object.Object{{"filePath", object.Always(a.absolute(in.Text("path")))}, {"oldString", object.Always(in.Text("oldText"))}, {"newString", object.Always(in.Text("newText"))}}.JSON()
	}
	return jsonspan.Quote(words)
}

// claudeBatch are the calls of a step.
func claudeBatch(a *Asking) []object.Object {
	list := []object.Object{}
	for _, each := range jsonspan.Elements(a.data.At("calls")) {
		call := a.foreignCall(&object.Reader{JSON: each})
		if len(call.names) > 0 {
			list = append(list, object.Object{{"tool_name", call.names[0]}, {"tool_input", call.input}, {"tool_use_id", object.Always(call.id)}})
		}
	}
	return list
}

// claudeEnding is Claude Code's word for the end of a session.
func claudeEnding(reason string) string {
	if reason == "exit" || reason == "interrupted" {
		return "prompt_input_exit"
	}
	return "other"
}

func claudeNotification(kind string) string {
	switch kind {
	case "permission":
		return "permission_prompt"
	case "idle":
		return "idle_prompt"
	}
	return kind
}
