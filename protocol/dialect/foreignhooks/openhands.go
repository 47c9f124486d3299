package foreignhooks

import (
	"cmp"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// openhandsHooks are hooks that were written for OpenHands.
var openhandsHooks = Agent{
	Name: "openhands", Title: "OpenHands", Unit: time.Second, Limit: time.Minute,
	ProjectVariables: []string{"OPENHANDS_PROJECT_DIR"},
	FailsOpen:        "OpenHands goes on when a hook crashes, takes too long or prints what it cannot read",
	Events: []HookEvent{
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Refuses: true},
		{Name: "PostToolUse", Event: protocol.ToolCallEnd},
		{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Refuses: true},
		{Name: "SessionStart", Event: protocol.SessionStart},
		{Name: "SessionEnd", Event: protocol.SessionEnd},
		{Name: "Stop", Event: protocol.AgentStop},
		{Name: "pre_tool_use", Event: protocol.ToolCallStart, Refuses: true},
		{Name: "post_tool_use", Event: protocol.ToolCallEnd},
		{Name: "user_prompt_submit", Event: protocol.PromptSubmit, Refuses: true},
		{Name: "session_start", Event: protocol.SessionStart},
		{Name: "session_end", Event: protocol.SessionEnd},
		{Name: "stop", Event: protocol.AgentStop},
	},
	env: func(a *Asking) []string {
		tool := toolName(a)
		if len(tool) > longestToolName {
			tool = ""
		}
		return variables("AI_AGENT", "openhands", "OPENHANDS_PROJECT_DIR", a.project, "OPENHANDS_SESSION_ID", a.ev.Session.ID,
			"OPENHANDS_EVENT_TYPE", openhandsEvents[a.ev.Event], "OPENHANDS_TOOL_NAME", tool)
	},
	input:   openhandsInput,
	reply:   replyOfOpenHands,
	matcher: exactOrWhole,
}

// longestToolName bounds what of an event is in a hook's environment.
const longestToolName = 256

// openhandsEvents are the words by which an input and the environment name the event,
// whatever the configuration calls it.
var openhandsEvents = map[protocol.EventName]string{
	protocol.ToolCallStart: "PreToolUse", protocol.ToolCallEnd: "PostToolUse", protocol.PromptSubmit: "UserPromptSubmit",
	protocol.SessionStart: "SessionStart", protocol.SessionEnd: "SessionEnd", protocol.AgentStop: "Stop",
}

func openhandsInput(a *Asking) object.Object {
	o := object.Object{{"event_type", openhandsEvents[a.ev.Event]}}
	none, metadata := protocol.RawMessage("null"), object.Raw(map[string]string{})
	name, input, response, message := none, none, none, none
	switch a.ev.Event {
	case protocol.ToolCallStart, protocol.ToolCallEnd:
		name, input = object.Always(toolName(a)), a.call.input
		if a.ev.Event == protocol.ToolCallEnd {
			response = object.Object{{"content", object.Always(resultOf(a))}, {"is_error", object.Always(a.data.Is("/result/isError"))}}.JSON()
		}
	case protocol.PromptSubmit:
		message = object.Always(a.data.Text("prompt"))
	case protocol.AgentStop:
		metadata = object.Raw(map[string]string{"reason": "agent_finished"})
	}
	return append(o, object.Member{"tool_name", name}, object.Member{"tool_input", input}, object.Member{"tool_response", response}, object.Member{"message", message},
		object.Member{"session_id", object.Always(a.ev.Session.ID)}, object.Member{"working_dir", object.Always(a.project)}, object.Member{"metadata", metadata})
}

// replyOfOpenHands reads exit code 2, and one object on stdout, at any exit code: a decision,
// whose case does not count, or continue.
func replyOfOpenHands(a *Asking, end *Ending) said {
	in, err := jsonObject(end.Stdout)
	refusable := a.ev.Spec().Block != protocol.BlockFails && a.ev.Event != protocol.ToolCallEnd
	switch {
	case end.Exit == 2 && refusable:
		return a.blockedByExit(end, openhandsReason(a, in, end))
	case err == nil:
		return openhandsReply(a, in, end, refusable)
	case end.Exit != 0:
		return exited(end.Exit)
	case len(strings.TrimSpace(string(end.Stdout))) == 0:
		return said{}
	case err != errNotJSON:
		return a.unread("stdout begins as JSON, and is none: %v", err)
	}
	return a.ignored(end.Stdout)
}

func openhandsReply(a *Asking, in *object.Reader, end *Ending, refusable bool) said {
	decision := strings.ToLower(in.Text("decision"))
	denies := decision == "deny" || string(in.At("continue")) == "false"
	wrong := members{"continue": aBool, "decision": aText, "reason": aText, "additionalContext": aText}.check(in.JSON, false)
	if wrong == "" && decision != "" && decision != "allow" && decision != "deny" {
		wrong = oneOf(in, "decision", "allow", "deny")
	}
	if wrong != "" && !denies {
		return a.unread("the reply is not one that OpenHands reads: %s", wrong)
	}
	s := said{}
	switch {
	case denies && refusable:
		s.reply = a.no(openhandsReason(a, in, end))
	case denies:
		s.warn("it refuses, which has no effect at %s", a.event.Name)
	}
	if end.Exit != 0 && !s.refuses() {
		return exited(end.Exit)
	}
	tells(&s, in.Text("additionalContext"))
	return s
}

// openhandsReason is why a hook refuses. At the end of a run the text for the model counts
// first.
func openhandsReason(a *Asking, in *object.Reader, end *Ending) string {
	reason := ""
	if in != nil {
		reason = in.Text("reason")
		if a.ev.Event == protocol.AgentStop {
			reason = cmp.Or(in.Text("additionalContext"), reason)
		}
	}
	return cmp.Or(reason, text.Valid(stderrText(end.Stderr)))
}
