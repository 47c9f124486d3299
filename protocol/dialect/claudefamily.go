package dialect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// The agents that took over Claude Code's names send the same members, and differ in
// what they accept of an answer. An agent with other names is read by giving its members
// these names first.

// readClaudeFamily reads an input with Claude Code's names of members.
func readClaudeFamily(a *Agent, in *input, row *Row) (reading, error) {
	if protocol.Lookup(row.Event).Tool {
		return readToolEvent(a, in, row)
	}
	got := reading{in: in}
	switch row.Event {
	case protocol.SessionStart:
		got.data = protocol.SessionStartData{Source: sessionSource(in.text("source")), Model: in.text("model")}
	case protocol.SessionEnd:
		got.data = protocol.SessionEndData{Reason: endReason(in.first("reason", "final_status"))}
	case protocol.PromptSubmit:
		prompt, err := in.need("prompt")
		if err != nil {
			return got, err
		}
		got.data = protocol.PromptSubmitData{Prompt: prompt, Source: "user", Attachments: []protocol.Part{}}
	case protocol.InferenceStart:
		got.data = protocol.InferenceStartData{Model: in.text("model"), Messages: []protocol.Message{}, Tools: []protocol.Tool{}, Attempt: 1}
	case protocol.StepStop:
		calls, err := a.stepCalls(in)
		if err != nil {
			return got, err
		}
		got.data = protocol.StepStopData{Messages: []protocol.Message{}, Type: "tools", Calls: calls}
	case protocol.AgentStop:
		continued := int(in.number("loop_count"))
		if in.is("stop_hook_active") {
			continued = max(continued, 1)
		}
		got.data = protocol.AgentStopData{Reason: "done", Response: in.first("last_assistant_message", "prompt_response"), Messages: []protocol.Message{}, Continued: continued, ContinuedTotal: continued}
	case protocol.AgentEnd:
		got.data = protocol.AgentEndData{StopReason: "aborted"}
	case protocol.AgentError:
		got.data = protocol.AgentErrorData{Message: in.first("last_assistant_message", "error_details", "error", "error_message"), Cause: "model"}
	case protocol.SubagentStart:
		got.data = protocol.SubagentStartData{AgentID: in.first("agent_id", "agentId"), Name: in.first("agent_type", "agentType", "agentName"), Prompt: in.first("prompt", "task"), Tools: []string{}, ToolCallID: in.text("tool_call_id")}
	case protocol.SubagentStop:
		got.data = protocol.SubagentStopData{AgentID: in.first("agent_id", "agentId"), Response: in.first("last_assistant_message", "response"), StopReason: "done"}
	case protocol.CompactStart:
		got.data = protocol.CompactStartData{Trigger: trigger(in), Instructions: in.first("custom_instructions", "customInstructions")}
	case protocol.CompactEnd:
		got.data = protocol.CompactEndData{Trigger: trigger(in), Summary: in.text("compact_summary")}
	case protocol.Notification:
		got.data = protocol.NotificationData{Kind: notificationKind(in.text("notification_type")), Title: in.text("title"), Text: in.text("message")}
	case protocol.MessageEnd, protocol.ThinkingEnd:
		got.data = protocol.DeltaEndData{Role: "assistant", MessageID: in.first("generation_id", "message_id"), Content: in.text("text")}
	default:
		return got, errors.New("hookd cannot read this event") // a row without a reader, which a test finds
	}
	return got, nil
}

// readToolEvent reads an event about the call of a tool.
func readToolEvent(a *Agent, in *input, row *Row) (reading, error) {
	args := in.at("tool_input")
	asked := row.Event == protocol.ToolCallStart || row.Event == protocol.PermissionRequest
	if args == nil && asked && !in.noArgs {
		return reading{}, errors.New("it has no tool_input, and so hooks could not see what is called")
	}
	name := in.toolName()
	call, their, err := a.toolCall(in.first("tool_use_id", "tool_call_id"), name, args)
	if err != nil {
		return reading{}, err
	}
	if asked && call.Name == "bash" && jsonspan.Kind(jsonspan.Get(call.Args, "command")) != '"' {
		return reading{}, fmt.Errorf("the call of %s has no command that is a text, and so hooks could not see what is run", text.Shorten(name, 60))
	}
	if shown := in.text("tool_name"); in.tool != "" && shown != call.Name {
		call.HostTool = shown
	}
	got := reading{in: in, call: their}
	switch row.Event {
	case protocol.ToolCallStart:
		got.data = protocol.ToolCallStartData{Call: call, Parallel: 1}
	case protocol.PermissionRequest:
		got.data = protocol.PermissionRequestData{Call: call, AskedBy: "policy", Options: []protocol.PermissionOption{}}
	case protocol.ToolCallEnd:
		response := in.any("tool_response", "tool_result", "tool_output")
		got.data = protocol.ToolCallEndData{Call: call, Result: protocol.Result{Content: protocol.TextContent(resultText(response)), IsError: resultFailed(response)}, DurationMs: in.number("duration_ms")}
	case protocol.ToolCallError:
		got.data = protocol.ToolCallErrorData{Call: call, Error: callError(in), DurationMs: in.number("duration_ms")}
	}
	return got, nil
}

// sessionSource is our word for how a session begins. What goes on with an older one is a
// resume.
func sessionSource(theirs string) string {
	switch theirs {
	case "resume", "fork":
		return theirs
	case "compact":
		return "resume"
	}
	return "startup"
}

// endReason is our word for why a session ends.
func endReason(theirs string) string {
	switch theirs {
	case "clear", "resume", "logout":
		return "closed"
	case "abort", "aborted", "interrupted":
		return "interrupted"
	case "error", "timeout":
		return "error"
	}
	return "exit"
}

func callError(in *input) protocol.CallError {
	e := protocol.CallError{Kind: protocol.CallFailed, Text: in.first("error", "error_message", "reason")}
	failure := in.text("failure_type")
	switch {
	case in.is("is_interrupt"):
		e.Kind = protocol.CallAborted
	case failure == "timeout":
		e.Kind = protocol.CallTimeout
	case failure == "permission_denied" || in.text("hook_event_name") == "PermissionDenied":
		e.Kind = protocol.CallDenied
	}
	return e
}

// any returns the first of several members that is there.
func (in *input) any(names ...string) protocol.RawMessage {
	for _, name := range names {
		if value := in.at(name); value != nil {
			return value
		}
	}
	return nil
}

// toolName is the called tool by the name that the vocabulary has.
func (in *input) toolName() string {
	if in.tool != "" {
		return in.tool
	}
	return in.text("tool_name")
}

// number returns the number at a JSON Pointer, 0 if there is none.
func (in *input) number(pointer string) float64 {
	var n float64
	if value := in.at(pointer); jsonspan.Kind(value) == '0' && json.Unmarshal(value, &n) == nil {
		return n
	}
	return 0
}

func trigger(in *input) string {
	if in.text("trigger") == "manual" {
		return "manual"
	}
	return "threshold"
}

// notificationKind is our word for an agent's kind of notification.
func notificationKind(theirs string) string {
	theirs = strings.ToLower(theirs)
	for _, kind := range []string{"permission", "idle", "error"} {
		if strings.Contains(theirs, kind) {
			return kind
		}
	}
	return "info"
}

// stepCalls reads the calls of a batch.
func (a *Agent) stepCalls(in *input) ([]protocol.StepCall, error) {
	calls := []protocol.StepCall{}
	for _, each := range jsonspan.Elements(in.at("tool_calls")) {
		one := &input{object: each}
		call, _, err := a.toolCall(one.first("tool_use_id", "tool_call_id"), one.text("tool_name"), one.at("tool_input"))
		if err != nil {
			return nil, err
		}
		calls = append(calls, protocol.StepCall{Call: call, Outcome: "ok"})
	}
	return calls, nil
}

// resultText is what a tool has printed, wherever the agent puts it: the value itself, or
// the members that agents are known to have.
func resultText(value protocol.RawMessage) string {
	switch jsonspan.Kind(value) {
	case '"':
		return jsonspan.Text(value)
	case '[':
		return contentText(value)
	case '{':
	default:
		return ""
	}
	of := &input{object: value}
	if out := of.at("stdout"); jsonspan.Kind(out) == '"' {
		return strings.TrimRight(strings.Join([]string{jsonspan.Text(out), of.text("stderr")}, "\n"), "\n")
	}
	for _, name := range []string{"textResultForLlm", "text_result_for_llm", "llmContent", "output", "text", "result", "content"} {
		if text := contentText(of.at(name)); text != "" {
			return text
		}
	}
	return string(value)
}

// resultFailed reports whether a result says of itself that the tool failed.
func resultFailed(value protocol.RawMessage) bool {
	of := &input{object: value}
	if jsonspan.Kind(value) != '{' {
		return false
	}
	kind := of.first("resultType", "result_type")
	return kind != "" && kind != "success" || string(of.at("success")) == "false" || of.is("isError") || of.is("is_error") ||
		jsonspan.Kind(of.at("error")) == '{'
}
