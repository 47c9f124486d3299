package dialect

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// The agents that took over Claude Code's names send the same members, and differ in
// what they accept of an answer.

// readClaudeFamily reads an input with Claude Code's names of members.
func readClaudeFamily(a *Agent) func(in *input, row *Row) (reading, error) {
	return func(in *input, row *Row) (reading, error) {
		got := reading{in: in, args: in.at("tool_input")}
		var call protocol.Call
		switch row.Event {
		case protocol.ToolCallStart, protocol.PermissionRequest, protocol.ToolCallEnd, protocol.ToolCallError:
			var err error
			if call, got.tool, err = a.toolCall(in.first("tool_use_id", "tool_call_id"), in.text("tool_name"), got.args); err != nil {
				return got, err
			}
		}
		switch row.Event {
		case protocol.SessionStart:
			source := "startup"
			if s := in.text("source"); s == "resume" || s == "fork" {
				source = s
			}
			got.data = protocol.SessionStartData{Source: source, Model: in.text("model")}
		case protocol.SessionEnd:
			got.data = protocol.SessionEndData{Reason: "exit"}
		case protocol.PromptSubmit:
			prompt, err := in.need("prompt")
			if err != nil {
				return got, err
			}
			got.data = protocol.PromptSubmitData{Prompt: prompt, Source: "user", Attachments: []protocol.Part{}}
		case protocol.ToolCallStart:
			got.data = protocol.ToolCallStartData{Call: call, Parallel: 1}
		case protocol.PermissionRequest:
			got.data = protocol.PermissionRequestData{Call: call, AskedBy: "policy", Options: []protocol.PermissionOption{}}
		case protocol.ToolCallEnd:
			got.data = protocol.ToolCallEndData{Call: call, Result: protocol.Result{Content: protocol.TextContent(resultText(in.first2("tool_response", "tool_result", "tool_output")))}, DurationMs: in.number("duration_ms")}
		case protocol.ToolCallError:
			kind := protocol.CallFailed
			if in.is("is_interrupt") {
				kind = protocol.CallAborted
			}
			got.data = protocol.ToolCallErrorData{Call: call, Error: protocol.CallError{Kind: kind, Text: in.first("error", "error_message")}, DurationMs: in.number("duration_ms")}
		case protocol.StepStop:
			got.data = protocol.StepStopData{Messages: []protocol.Message{}, Type: "tools", Calls: a.stepCalls(in)}
		case protocol.AgentStop:
			continued := 0
			if in.is("stop_hook_active") {
				continued = 1
			}
			got.data = protocol.AgentStopData{Reason: "done", Response: in.first("last_assistant_message", "prompt_response"), Messages: []protocol.Message{}, Continued: continued, ContinuedTotal: continued}
		case protocol.AgentError:
			got.data = protocol.AgentErrorData{Message: in.first("last_assistant_message", "error_details", "error"), Cause: "model"}
		case protocol.SubagentStart:
			got.data = protocol.SubagentStartData{AgentID: in.first("agent_id", "agentId"), Name: in.first("agent_type", "agentName"), Tools: []string{}}
		case protocol.SubagentStop:
			got.data = protocol.SubagentStopData{AgentID: in.first("agent_id", "agentId"), Response: in.first("last_assistant_message", "response"), StopReason: "done"}
		case protocol.CompactStart:
			got.data = protocol.CompactStartData{Trigger: trigger(in), Instructions: in.first("custom_instructions", "customInstructions")}
		case protocol.CompactEnd:
			got.data = protocol.CompactEndData{Trigger: trigger(in), Summary: in.text("compact_summary")}
		case protocol.Notification:
			got.data = protocol.NotificationData{Kind: notificationKind(in.first("notification_type")), Title: in.text("title"), Text: in.text("message")}
		}
		return got, nil
	}
}

// first2 returns the first of several members that is there.
func (in *input) first2(names ...string) protocol.RawMessage {
	for _, name := range names {
		if value := in.at(name); value != nil {
			return value
		}
	}
	return nil
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
	switch {
	case strings.Contains(theirs, "permission") || strings.Contains(theirs, "Permission"):
		return "permission"
	case strings.Contains(theirs, "idle"):
		return "idle"
	case strings.Contains(theirs, "error"):
		return "error"
	}
	return "info"
}

// stepCalls reads the calls of a batch.
func (a *Agent) stepCalls(in *input) []protocol.StepCall {
	calls := []protocol.StepCall{}
	for _, each := range jsonspan.Elements(in.at("tool_calls")) {
		one := &input{object: each}
		call, _, err := a.toolCall(one.text("tool_use_id"), one.text("tool_name"), one.at("tool_input"))
		if err == nil {
			calls = append(calls, protocol.StepCall{Call: call, Outcome: "ok"})
		}
	}
	return calls
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
	for _, name := range []string{"textResultForLlm", "text_result_for_llm", "llmContent", "output", "text"} {
		if text := of.text(name); text != "" {
			return text
		}
	}
	for _, name := range []string{"content", "llmContent"} {
		if text := contentText(of.at(name)); text != "" {
			return text
		}
	}
	return string(value)
}

// object is a JSON object that is written member by member, in this order. A member
// whose value is nil, "" or false is left out.
type object []member

type member struct {
	name  string
	value any
}

func (o object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		switch v := m.value.(type) {
		case nil:
			continue
		case string:
			if v == "" {
				continue
			}
		case bool:
			if !v {
				continue
			}
		case protocol.RawMessage:
			if v == nil {
				continue
			}
			m.value = jsontext.Value(v)
		case object:
			if !v.says() {
				continue
			}
		case no:
			m.value = false
		}
		if err := enc.WriteToken(jsontext.String(m.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, m.value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// no is false where it is to be written.
type no struct{}

// says reports whether anything of the object would be written, besides the name of the
// event that has to be there.
func (o object) says() bool {
	for _, m := range o {
		switch v := m.value.(type) {
		case nil:
		case string:
			if v != "" && m.name != "hookEventName" {
				return true
			}
		case bool:
			if v {
				return true
			}
		case protocol.RawMessage:
			if v != nil {
				return true
			}
		case object:
			if v.says() {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// line is the object as a line, or nothing if it says nothing.
func (o object) line() []byte {
	if !o.says() {
		return nil
	}
	var out bytes.Buffer
	if json.MarshalWrite(&out, o, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	return append(out.Bytes(), '\n')
}
