package foreignhooks

import (
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// claudeHooks are hooks that were written for Claude Code.
var claudeHooks = Agent{
	Name: "claude", Title: "Claude Code", Unit: time.Second, Limit: 600 * time.Second,
	ProjectVariables: []string{"CLAUDE_PROJECT_DIR"}, envFile: "CLAUDE_ENV_FILE",
	FailsOpen: "Claude Code goes on when a hook crashes, takes too long or prints what it cannot read",
	Events: append([]HookEvent{
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Refuses: true},
		{Name: "PermissionRequest", Event: protocol.PermissionRequest, Refuses: true},
		{Name: "PostToolUse", Event: protocol.ToolCallEnd},
		{Name: "PostToolUseFailure", Event: protocol.ToolCallError},
		{Name: "PostToolBatch", Event: protocol.StepStop},
		{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Refuses: true},
		{Name: "SessionStart", Event: protocol.SessionStart},
		{Name: "SessionEnd", Event: protocol.SessionEnd},
		{Name: "Stop", Event: protocol.AgentStop},
		{Name: "StopFailure", Event: protocol.AgentError},
		{Name: "SubagentStart", Event: protocol.SubagentStart},
		{Name: "SubagentStop", Event: protocol.SubagentStop},
		{Name: "PreCompact", Event: protocol.CompactStart, Refuses: true},
		{Name: "PostCompact", Event: protocol.CompactEnd},
		{Name: "Notification", Event: protocol.Notification},
	}, nowhere("PermissionDenied", "UserPromptExpansion", "Setup", "PreModelSwitch", "PostModelSwitch", "MessageDisplay", "TeammateIdle", "TaskCreated",
		"TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged",
		"FileChanged", "DirectoryAdded", "PreSkillShellCommand")...),
	env: func(a *Asking) []string {
		return variables("CLAUDE_PROJECT_DIR", a.project, "CLAUDECODE", "1", "CLAUDE_CODE_SESSION_ID", a.ev.Session.ID)
	},
	input:   claudeInput,
	reply:   replyOfClaude,
	matcher: claudeMatcher,
	subject: claudeSubject,
}

// claudeSubject is what a matcher of Claude Code is compared with.
func claudeSubject(a *Asking) []string {
	switch a.ev.Event {
	case protocol.SessionStart:
		return []string{a.data.Text("source")}
	case protocol.SessionEnd:
		return []string{claudeEnding(a.data.Text("reason"))}
	case protocol.CompactStart, protocol.CompactEnd:
		return []string{manualOrAuto(a)}
	case protocol.Notification:
		return []string{claudeNotification(a.data.Text("kind"))}
	case protocol.SubagentStart, protocol.SubagentStop:
		return []string{agentType(a)}
	}
	return a.call.names
}

func claudeInput(a *Asking) object.Object {
	o := object.Object{
		{"session_id", object.Always(a.ev.Session.ID)}, {"transcript_path", object.Always(a.ev.Session.Transcript)}, {"cwd", object.Always(a.cwd())},
	}
	switch a.ev.Event {
	case protocol.ToolCallStart, protocol.PermissionRequest, protocol.ToolCallEnd, protocol.ToolCallError, protocol.StepStop, protocol.PromptSubmit, protocol.AgentStop, protocol.SubagentStop:
		o = append(o, object.Member{"permission_mode", "default"})
	}
	return append(append(o, subAgent(a)...), claudeMembers(a)...)
}

func replyOfClaude(a *Asking, end *Ending) said {
	in, err := jsonObject(end.Stdout)
	s := said{}
	switch {
	case end.Exit == 2:
		return claudeExit(a, end, in)
	case err == nil:
		s = claudeReply(a, in)
	case end.Exit != 0:
		return exited(end.Exit)
	case err != errNotJSON:
		return a.unread("stdout begins as JSON, and is none: %v", err)
	case takesText(a):
		tells(&s, text.Valid(strings.TrimSpace(string(end.Stdout))))
	default:
		return a.ignored(end.Stdout)
	}
	if end.Exit != 0 && s.failure == nil {
		s.warn("exit code %d; the reply on stdout counts all the same", end.Exit)
	}
	return s
}

// takesText reports whether plain text on stdout is for the model.
func takesText(a *Asking) bool {
	return a.ev.Event == protocol.PromptSubmit || a.ev.Event == protocol.SessionStart || a.ev.Event == protocol.CompactStart
}

// claudeExit is what exit code 2 means at the event.
func claudeExit(a *Asking, end *Ending, in *object.Reader) said {
	reason := ""
	if in != nil {
		reason = in.First("/hookSpecificOutput/permissionDecisionReason", "reason")
	}
	words := stderrText(end.Stderr)
	if words == "" {
		words = reason
	}
	s := said{}
	switch a.ev.Event {
	case protocol.PermissionRequest:
		return exited(end.Exit)
	case protocol.ToolCallEnd, protocol.ToolCallError:
		tells(&s, words)
		return s
	case protocol.StepStop:
		a.ends(&s, words)
		return s
	}
	if a.ev.Spec().Block == protocol.BlockFails || a.ev.Event == protocol.SubagentStart {
		s.reply.Notice = words
		return s
	}
	return a.blockedByExit(end, words)
}

// claudeReply reads a reply that is an object. One with a member that is not what it
// should be says nothing.
func claudeReply(a *Asking, in *object.Reader) said {
	if in.Is("async") {
		s := said{}
		s.warn("it works on in the background, where nothing of it counts")
		return s
	}
	specific := object.Reader{JSON: in.At("hookSpecificOutput")}
	for _, wrong := range []string{
		members{"continue": aBool, "suppressOutput": aBool, "stopReason": aText, "systemMessage": aText, "reason": aText, "hookSpecificOutput": anObj}.check(in.JSON, false),
		oneOf(in, "decision", "approve", "block"),
		wrongSpecific(a, &specific),
	} {
		if wrong != "" {
			return a.unread("the reply is not one that %s reads: %s", a.agent.Title, wrong)
		}
	}
	s := said{}
	s.reply.Notice = in.Text("systemMessage")
	claudeVerdict(a, &s, in, &specific)
	if string(in.At("continue")) == "false" {
		a.ends(&s, in.First("stopReason", "reason"))
	}
	return s
}

// wrongSpecific says what is wrong with the part of a reply that is the event's own.
func wrongSpecific(a *Asking, specific *object.Reader) string {
	if specific.JSON == nil || jsonspan.IsNull(specific.JSON) {
		return ""
	}
	if name := specific.Text("hookEventName"); name != a.event.Name {
		return "hookEventName is not " + a.event.Name
	}
	wrong := members{"permissionDecisionReason": aText, "updatedInput": anObj, "additionalContext": aText}.check(specific.JSON, false)
	if wrong == "" && a.ev.Event == protocol.ToolCallStart {
		wrong = oneOf(specific, "permissionDecision", "allow", "deny", "ask", "defer")
	}
	if wrong == "" && a.ev.Event == protocol.PermissionRequest && specific.At("decision") != nil {
		wrong = oneOf(specific, "/decision/behavior", "allow", "deny")
	}
	return wrong
}

// claudeVerdict takes over what a reply says at the event.
func claudeVerdict(a *Asking, s *said, in, specific *object.Reader) {
	blocks, reason, context := in.Text("decision") == "block", in.Text("reason"), specific.Text("additionalContext")
	switch a.ev.Event {
	case protocol.ToolCallStart:
		claudeCall(a, s, in, specific)
		tells(s, context)
	case protocol.PermissionRequest:
		permission(a, s, specific.At("decision"))
	case protocol.ToolCallEnd, protocol.ToolCallError:
		if blocks {
			tells(s, reason) // the result stays
		}
		tells(s, context)
		claudeResult(a, s, specific)
	case protocol.StepStop:
		tells(s, context)
		if blocks {
			a.ends(s, reason)
		}
	case protocol.AgentStop, protocol.SubagentStop:
		switch {
		case blocks:
			s.reply = protocol.Reply{Action: protocol.Block, Reason: reason, Context: context, Notice: s.reply.Notice}
		case context != "":
			s.reply = protocol.Reply{Action: protocol.Continue, Reason: context, Notice: s.reply.Notice}
		}
	default:
		tells(s, context)
		if blocks && a.ev.Spec().Block != protocol.BlockFails && a.event.Refuses {
			s.reply = protocol.Reply{Action: protocol.Block, Reason: reason, Context: s.reply.Context, Notice: s.reply.Notice}
		}
	}
	for _, lost := range claudeOnly {
		if value := specific.At(lost[0]); value != nil && !jsonspan.IsNull(value) && string(value) != "false" {
			s.warn("%s has no effect here: %s", lost[0][strings.LastIndexByte(lost[0], '/')+1:], lost[1])
		}
	}
}

// claudeOnly are members of replies that only Claude Code can carry out, with why.
var claudeOnly = [][2]string{
	{"initialUserMessage", "hookd sends no prompt of its own"},
	{"sessionTitle", "a session has no title"},
	{"watchPaths", "hookd follows no files for hooks"},
	{"reloadSkills", "skills are read again by themselves"},
	{"suppressOriginalPrompt", "the prompt stays as it is"},
	{"classifierContext", "nothing classifies results"},
	{"/decision/updatedPermissions", "hookd keeps no rules of that agent's"},
	{"displayContent", "a text is shown as it is"},
}

// claudeCall takes over what a reply says about a call that is to run. The newer member
// permissionDecision counts before decision.
func claudeCall(a *Asking, s *said, in, specific *object.Reader) {
	decision, reason := specific.Text("permissionDecision"), specific.Text("permissionDecisionReason")
	if reason == "" {
		reason = in.Text("reason")
	}
	switch {
	case decision == "deny", decision == "" && in.Text("decision") == "block":
		s.reply = protocol.Reply{Action: protocol.Block, Reason: reason, Notice: s.reply.Notice}
	case decision == "ask", decision == "defer":
		s.reply.Action, s.reply.Reason = protocol.Ask, reason
	}
	if input := specific.At("updatedInput"); jsonspan.Kind(input) == '{' {
		a.changesArgs(s, a.call.back(input))
	}
}

// claudeResult takes over a changed result.
func claudeResult(a *Asking, s *said, specific *object.Reader) {
	output := specific.At("updatedToolOutput")
	if output == nil && a.call.kind == protocol.KindMCP {
		output = specific.At("updatedMCPToolOutput")
	}
	if a.ev.Event == protocol.ToolCallEnd && output != nil && !jsonspan.IsNull(output) {
		a.changesResult(s, object.ResultText(output))
	}
}

// permission reads the decision at a permission-request: a yes that also changes the call
// is no yes to the call as it is.
func permission(a *Asking, s *said, decision protocol.RawMessage) {
	of := &object.Reader{JSON: decision}
	switch of.Text("behavior") {
	case "deny":
		s.reply.Action, s.reply.Reason = protocol.Block, of.Text("message")
		if of.Is("interrupt") {
			a.ends(s, of.Text("message"))
		}
	case "allow":
		updated := of.At("updatedInput")
		if jsonspan.Kind(updated) == '{' && !jsonspan.Equal(updated, a.call.input) {
			s.warn("it allows the call with other args, which cannot be changed here: the person decides")
			return
		}
		s.reply.Action = protocol.Allow
	}
}
