package dialect

import (
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// The inputs of agents with Claude Code's names, for hooks that are asked here.

// claudeMembers are the members of an input from the event's name on.
func claudeMembers(a *Asking) object {
	o := object{{"hook_event_name", a.Event.Name}}
	in := &a.data
	call := object{{"tool_name", always(toolName(a))}, {"tool_input", a.call.input}}
	if server := server(a); server != "" && a.Foreign.Name == "claude" {
		call = append(object{{"mcp_server", object{{"name", server}, {"source", "dynamic"}}}}, call...)
	}
	switch a.ev.Event {
	case protocol.SessionStart:
		return append(o, member{"source", in.text("source")}, member{"model", in.text("model")})
	case protocol.SessionEnd:
		return append(o, member{"reason", claudeEnding(in.text("reason"))})
	case protocol.PromptSubmit:
		return append(o, member{"prompt", always(in.text("prompt"))})
	case protocol.ToolCallStart:
		return append(append(o, call...), member{"tool_use_id", always(a.call.id)})
	case protocol.PermissionRequest:
		return append(append(o, call...), member{"permission_suggestions", always([]string{})})
	case protocol.ToolCallEnd:
		return append(append(o, call...), member{"tool_response", claudeResponse(a)}, member{"tool_use_id", always(a.call.id)}, member{"duration_ms", millis(a, "durationMs")})
	case protocol.ToolCallError:
		return append(append(o, call...), member{"tool_use_id", always(a.call.id)}, member{"error", always(in.text("/error/text"))},
			member{"is_interrupt", always(in.text("/error/kind") == string(protocol.CallAborted))}, member{"duration_ms", millis(a, "durationMs")})
	case protocol.StepStop:
		return append(o, member{"tool_calls", raw(claudeBatch(a))})
	case protocol.AgentStop, protocol.SubagentStop:
		o = append(o, member{"stop_hook_active", always(in.number("continued") > 0)})
		if a.ev.Event == protocol.SubagentStop {
			o = append(o, member{"agent_transcript_path", always("")})
		}
		return append(o, member{"last_assistant_message", always(in.text("response"))}, member{"background_tasks", always([]string{})}, member{"session_crons", always([]string{})})
	case protocol.AgentError:
		return append(o, member{"error", "unknown"}, member{"last_assistant_message", always(in.text("message"))})
	case protocol.CompactStart:
		return append(o, member{"trigger", manualOrAuto(a)}, member{"custom_instructions", always(in.text("instructions"))})
	case protocol.CompactEnd:
		return append(o, member{"trigger", manualOrAuto(a)}, member{"compact_summary", always(in.text("summary"))})
	case protocol.Notification:
		return append(o, member{"message", always(in.text("text"))}, member{"title", in.text("title")}, member{"notification_type", claudeNotification(in.text("kind"))})
	}
	return o
}

// subAgent names the sub-agent that an event is about, or comes from.
func subAgent(a *Asking) object {
	switch {
	case a.ev.Event == protocol.SubagentStart || a.ev.Event == protocol.SubagentStop:
		return object{{"agent_id", always(a.data.text("agentId"))}, {"agent_type", always(agentType(a))}}
	case a.ev.Agent.Depth > 0:
		return object{{"agent_id", a.ev.Agent.ID}, {"agent_type", "general-purpose"}}
	}
	return nil
}

func agentType(a *Asking) string {
	if name := a.data.text("name"); name != "" {
		return name
	}
	return "general-purpose"
}

func toolName(a *Asking) string {
	if len(a.call.names) == 0 {
		return ""
	}
	return a.call.names[0]
}

// server is the MCP server whose tool is called, "" for any other tool.
func server(a *Asking) string {
	server, _, is := strings.Cut(strings.TrimPrefix(a.call.name, "mcp__"), "__")
	if !is || !strings.HasPrefix(a.call.name, "mcp__") {
		return ""
	}
	return server
}

// claudeResponse is a tool's result in the form that Claude Code has for the tool.
func claudeResponse(a *Asking) protocol.RawMessage {
	words, in := resultOf(a), &input{object: a.call.ours}
	if a.call.kind == protocol.KindMCP {
		return raw([]object{{{"type", "text"}, {"text", always(words)}}})
	}
	switch a.call.name {
	case "bash":
		return object{
			{"stdout", always(words)}, {"stderr", always("")}, {"interrupted", always(false)}, {"isImage", always(false)}, {"noOutputExpected", always(false)},
		}.json()
	case "read_file":
		return object{{"type", "text"}, {"file", object{{"filePath", always(a.absolute(in.text("path")))}, {"content", always(words)}}}}.json()
	case "write_file":
		return object{{"type", "create"}, {"filePath", always(a.absolute(in.text("path")))}, {"content", always(in.text("content"))}}.json()
	case "edit_file":
		return object{{"filePath", always(a.absolute(in.text("path")))}, {"oldString", always(in.text("oldText"))}, {"newString", always(in.text("newText"))}}.json()
	}
	return jsonspan.Quote(words)
}

// claudeBatch are the calls of a step.
func claudeBatch(a *Asking) []object {
	list := []object{}
	for _, each := range jsonspan.Elements(a.data.at("calls")) {
		call := a.foreignCall(&input{object: each})
		if len(call.names) > 0 {
			list = append(list, object{{"tool_name", call.names[0]}, {"tool_input", call.input}, {"tool_use_id", always(call.id)}})
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

// manualOrAuto says who asked for a compaction.
func manualOrAuto(a *Asking) string {
	if a.data.text("trigger") == "manual" {
		return "manual"
	}
	return "auto"
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

// json is the object, which is written even if it says nothing.
func (o object) json() protocol.RawMessage { return raw(o) }

// variables are names and values of environment variables. One that no environment holds
// is left out.
func variables(pairs ...string) (env []string) {
	const longest = 4096
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := pairs[i+1]; value != "" && len(value) <= longest && !strings.ContainsRune(value, 0) {
			env = append(env, pairs[i]+"="+value)
		}
	}
	return env
}
