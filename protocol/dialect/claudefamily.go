package dialect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// The agents that took over Claude Code's names send the same members, and differ in
// what they accept of an answer. An agent with other names is read by giving its members
// these names first.

// ReadClaudeFamily reads an input with Claude Code's names of members.
func ReadClaudeFamily(a *Agent, in *Input, row *Row) (Reading, error) {
	if protocol.Lookup(row.Event).Tool {
		return readToolEvent(a, in, row)
	}
	read, known := claudeData[row.Event]
	if !known {
		return Reading{}, errors.New("hookd cannot read this event") // a row without a reader, which a test finds
	}
	data, err := read(a, in)
	if err != nil {
		return Reading{}, err
	}
	return Reading{In: in, Data: data}, nil
}

// claudeData says how the data of each event that is not about a call is read.
var claudeData = map[protocol.EventName]func(a *Agent, in *Input) (any, error){
	protocol.SessionStart: func(_ *Agent, in *Input) (any, error) {
		return protocol.SessionStartData{Source: sessionSource(in.Text("source")), Model: in.Text("model")}, nil
	},
	protocol.SessionEnd: func(_ *Agent, in *Input) (any, error) {
		return protocol.SessionEndData{Reason: endReason(in.First("reason", "final_status"))}, nil
	},
	protocol.PromptSubmit: func(_ *Agent, in *Input) (any, error) {
		prompt, err := in.Need("prompt")
		return protocol.PromptSubmitData{Prompt: prompt, Source: "user", Attachments: []protocol.Part{}}, err
	},
	protocol.InferenceStart: func(_ *Agent, in *Input) (any, error) {
		return protocol.InferenceStartData{Model: in.Text("model"), Messages: []protocol.Message{}, Tools: []protocol.Tool{}, Attempt: 1}, nil
	},
	protocol.StepStop: func(a *Agent, in *Input) (any, error) {
		calls, err := a.stepCalls(in)
		return protocol.StepStopData{Messages: []protocol.Message{}, Type: "tools", Calls: calls}, err
	},
	protocol.AgentStop: func(_ *Agent, in *Input) (any, error) {
		continued := int(in.Number("loop_count"))
		if in.Is("stop_hook_active") {
			continued = max(continued, 1)
		}
		return protocol.AgentStopData{Reason: "done", Response: in.First("last_assistant_message", "prompt_response"), Messages: []protocol.Message{}, Continued: continued, ContinuedTotal: continued}, nil
	},
	protocol.AgentEnd: func(_ *Agent, in *Input) (any, error) {
		return protocol.AgentEndData{StopReason: "aborted"}, nil
	},
	protocol.AgentError: func(_ *Agent, in *Input) (any, error) {
		return protocol.AgentErrorData{Message: in.First("last_assistant_message", "error_details", "error", "error_message"), Cause: "model"}, nil
	},
	protocol.SubagentStart: func(_ *Agent, in *Input) (any, error) {
		return protocol.SubagentStartData{AgentID: in.First("agent_id", "agentId"), Name: in.First("agent_type", "agentType", "agentName"), Prompt: in.First("prompt", "task"), Tools: []string{}, ToolCallID: in.Text("tool_call_id")}, nil
	},
	protocol.SubagentStop: func(_ *Agent, in *Input) (any, error) {
		return protocol.SubagentStopData{AgentID: in.First("agent_id", "agentId"), Response: in.First("last_assistant_message", "response"), StopReason: "done"}, nil
	},
	protocol.CompactStart: func(_ *Agent, in *Input) (any, error) {
		return protocol.CompactStartData{Trigger: trigger(in), Instructions: in.First("custom_instructions", "customInstructions")}, nil
	},
	protocol.CompactEnd: func(_ *Agent, in *Input) (any, error) {
		return protocol.CompactEndData{Trigger: trigger(in), Summary: in.Text("compact_summary")}, nil
	},
	protocol.Notification: func(_ *Agent, in *Input) (any, error) {
		return protocol.NotificationData{Kind: notificationKind(in.Text("notification_type")), Title: in.Text("title"), Text: in.Text("message")}, nil
	},
	protocol.MessageEnd:  deltaEnd,
	protocol.ThinkingEnd: deltaEnd,
}

func deltaEnd(_ *Agent, in *Input) (any, error) {
	return protocol.DeltaEndData{Role: "assistant", MessageID: in.First("generation_id", "message_id"), Content: in.Text("text")}, nil
}

// readToolEvent reads an event about the call of a tool.
func readToolEvent(a *Agent, in *Input, row *Row) (Reading, error) {
	args := in.At("tool_input")
	asked := row.Event == protocol.ToolCallStart || row.Event == protocol.PermissionRequest
	if args == nil && asked && !in.NoArgs {
		return Reading{}, errors.New("it has no tool_input, and so hooks could not see what is called")
	}
	name := in.toolName()
	call, their, err := a.toolCall(in.First("tool_use_id", "tool_call_id"), name, args)
	if err != nil {
		return Reading{}, err
	}
	if asked && call.Name == "bash" && jsonspan.Kind(jsonspan.Get(call.Args, "command")) != '"' {
		return Reading{}, fmt.Errorf("the call of %s has no command that is a text, and so hooks could not see what is run", text.Shorten(name, 60))
	}
	if shown := in.Text("tool_name"); in.Tool != "" && shown != call.Name {
		call.HostTool = shown
	}
	got := Reading{In: in, Call: their}
	switch row.Event {
	case protocol.ToolCallStart:
		got.Data = protocol.ToolCallStartData{Call: call, Parallel: 1}
	case protocol.PermissionRequest:
		got.Data = protocol.PermissionRequestData{Call: call, AskedBy: "policy", Options: []protocol.PermissionOption{}}
	case protocol.ToolCallEnd:
		response := in.Any("tool_response", "tool_result", "tool_output")
		got.Data = protocol.ToolCallEndData{Call: call, Result: protocol.Result{Content: protocol.TextContent(object.ResultText(response)), IsError: object.ResultFailed(response)}, DurationMs: in.Number("duration_ms")}
	case protocol.ToolCallError:
		got.Data = protocol.ToolCallErrorData{Call: call, Error: callError(in), DurationMs: in.Number("duration_ms")}
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

func callError(in *Input) protocol.CallError {
	e := protocol.CallError{Kind: protocol.CallFailed, Text: in.First("error", "error_message", "reason")}
	failure := in.Text("failure_type")
	switch {
	case in.Is("is_interrupt"):
		e.Kind = protocol.CallAborted
	case failure == "timeout":
		e.Kind = protocol.CallTimeout
	case failure == "permission_denied" || in.Text("hook_event_name") == "PermissionDenied":
		e.Kind = protocol.CallDenied
	}
	return e
}

// toolName is the called tool by the name that the vocabulary has.
func (in *Input) toolName() string {
	if in.Tool != "" {
		return in.Tool
	}
	return in.Text("tool_name")
}

func trigger(in *Input) string {
	if in.Text("trigger") == "manual" {
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
func (a *Agent) stepCalls(in *Input) ([]protocol.StepCall, error) {
	calls := []protocol.StepCall{}
	for _, each := range jsonspan.Elements(in.At("tool_calls")) {
		one := &object.Reader{JSON: each}
		call, _, err := a.toolCall(one.First("tool_use_id", "tool_call_id"), one.Text("tool_name"), one.At("tool_input"))
		if err != nil {
			return nil, err
		}
		calls = append(calls, protocol.StepCall{Call: call, Outcome: "ok"})
	}
	return calls, nil
}
