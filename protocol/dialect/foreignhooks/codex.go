package foreignhooks

import (
	"strconv"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// codexHooks are hooks that were written for Codex CLI.
var codexHooks = Agent{
	Name: "codex", Title: "Codex CLI", Unit: time.Second, Limit: 600 * time.Second,
	FailsOpen: "Codex CLI goes on when a hook crashes, takes too long, ends with 2 without a text on stderr, or answers with a member that it does not know",
	Events: append([]HookEvent{
		{Name: "PreToolUse", Event: protocol.ToolCallStart, Refuses: true},
		{Name: "PermissionRequest", Event: protocol.PermissionRequest, Refuses: true},
		{Name: "PostToolUse", Event: protocol.ToolCallEnd, Refuses: true},
		{Name: "UserPromptSubmit", Event: protocol.PromptSubmit, Refuses: true},
		{Name: "SessionStart", Event: protocol.SessionStart},
		{Name: "SessionEnd", Event: protocol.SessionEnd},
		{Name: "Stop", Event: protocol.AgentStop},
		{Name: "SubagentStart", Event: protocol.SubagentStart},
		{Name: "SubagentStop", Event: protocol.SubagentStop},
		{Name: "PreCompact", Event: protocol.CompactStart, Refuses: true},
		{Name: "PostCompact", Event: protocol.CompactEnd},
	}, nowhere("PreModelRequest", "PostModelRequest", "Interrupt")...),
	input:   codexInput,
	reply:   replyOfCodex,
	patch:   codexPatch,
	matcher: alternatives("|", "|"),
	subject: func(a *Asking) []string {
		switch a.ev.Event {
		case protocol.PromptSubmit, protocol.AgentStop:
			return nil // it compares nothing there
		}
		return claudeSubject(a)
	},
}

func codexInput(a *Asking) object.Object {
	o := object.Object{{"session_id", object.Always(a.ev.Session.ID)}}
	if a.ev.Event != protocol.SessionStart && a.ev.Event != protocol.SessionEnd {
		o = append(o, object.Member{"turn_id", object.Always(codexTurn(a))})
	}
	o = append(o, object.Member{"transcript_path", object.Always(a.ev.Session.Transcript)}, object.Member{"cwd", object.Always(a.cwd())}, object.Member{"hook_event_name", a.event.Name})
	if a.ev.Event == protocol.SessionEnd {
		return append(o, object.Member{"reason", "other"})
	}
	o = append(o, object.Member{"model", object.Always(a.data.Text("model"))})
	if a.ev.Event != protocol.CompactStart && a.ev.Event != protocol.CompactEnd {
		o = append(o, object.Member{"permission_mode", "default"})
	}
	o = append(o, subAgent(a)...)
	for _, m := range claudeMembers(a) {
		switch m.Name {
		case "hook_event_name", "model", "duration_ms", "permission_suggestions", "background_tasks", "session_crons", "custom_instructions", "compact_summary":
		case "tool_response":
			response := object.Always(resultOf(a))
			if a.call.kind == protocol.KindMCP {
				response = object.Object{{"content", object.Raw([]object.Object{{{"type", "text"}, {"text", response}}})}}.JSON()
			}
			o = append(o, object.Member{m.Name, response})
		default:
			o = append(o, m)
		}
	}
	return o
}

func codexTurn(a *Asking) string {
	return a.ev.Session.ID + "-" + strconv.Itoa(a.ev.Turn)
}

// codexMembers are what Codex CLI knows of a reply at an event, in the reply and in its
// hookSpecificOutput.
func codexMembers(a *Asking) (top, specific members) {
	top = members{"continue": aBool, "stopReason": aText, "suppressOutput": aBool, "systemMessage": aText}
	switch a.ev.Event {
	case protocol.ToolCallStart, protocol.ToolCallEnd, protocol.PromptSubmit, protocol.AgentStop, protocol.SubagentStop:
		top["decision"], top["reason"] = aText, aText
	}
	switch a.ev.Event {
	case protocol.ToolCallStart:
		specific = members{"permissionDecision": aText, "permissionDecisionReason": aText, "updatedInput": anyKind, "additionalContext": aText}
	case protocol.ToolCallEnd:
		specific = members{"additionalContext": aText, "updatedMCPToolOutput": anyKind}
	case protocol.PermissionRequest:
		specific = members{"decision": anObj}
	case protocol.PromptSubmit, protocol.SessionStart, protocol.SubagentStart:
		specific = members{"additionalContext": aText}
	}
	if specific != nil {
		top["hookSpecificOutput"], specific["hookEventName"] = anObj, aText
	}
	return top, specific
}

func replyOfCodex(a *Asking, end *Ending) said {
	in, err := jsonObject(end.Stdout)
	words := text.Valid(strings.TrimSpace(string(end.Stdout)))
	switch {
	case end.Exit == 2 && stderrText(end.Stderr) == "":
		s := exited(2)
		s.failure.Remedy = "Codex CLI takes exit code 2 for a refusal only with a text on stderr"
		return s
	case end.Exit == 2:
		if !codexBlocks(a) {
			return exited(2)
		}
		return a.blockedByExit(end, "")
	case end.Exit != 0:
		return exited(end.Exit)
	case err == nil:
		return codexReply(a, in)
	case words == "":
		return said{}
	case err != errNotJSON:
		return a.unread("stdout begins as JSON, and is none: %v", err)
	}
	switch a.ev.Event {
	case protocol.SessionStart, protocol.PromptSubmit, protocol.SubagentStart:
		return said{reply: protocol.Reply{Context: words}}
	case protocol.AgentStop, protocol.SubagentStop:
		return a.unread("stdout is no JSON, which Codex CLI wants at %s", a.event.Name)
	}
	return a.ignored(end.Stdout)
}

// codexBlocks reports whether exit code 2 refuses at the event.
func codexBlocks(a *Asking) bool {
	switch a.ev.Event {
	case protocol.ToolCallStart, protocol.PermissionRequest, protocol.ToolCallEnd, protocol.PromptSubmit, protocol.AgentStop, protocol.SubagentStop:
		return true
	}
	return false
}

// codexReply reads a reply, of which one member that Codex CLI does not know, or does not
// support at the event, throws all away.
func codexReply(a *Asking, in *object.Reader) said {
	top, allowed := codexMembers(a)
	specific := &object.Reader{JSON: in.At("hookSpecificOutput")}
	wrong := top.check(in.JSON, true)
	if wrong == "" {
		wrong = allowed.check(specific.JSON, true)
	}
	if wrong == "" {
		wrong = codexUnsupported(a, in, specific)
	}
	if wrong != "" {
		return a.unread("Codex CLI throws the whole reply away: %s", wrong)
	}
	s := said{}
	s.reply.Notice = in.Text("systemMessage")
	blocks, reason := in.Text("decision") == "block", in.Text("reason")
	switch a.ev.Event {
	case protocol.ToolCallStart:
		if specific.Text("permissionDecision") == "deny" {
			blocks, reason = true, specific.Text("permissionDecisionReason")
		}
		if input := specific.At("updatedInput"); jsonspan.Kind(input) == '{' && !blocks {
			a.changesArgs(&s, a.call.back(input))
		}
	case protocol.PermissionRequest:
		permission(a, &s, specific.At("decision"))
	}
	if blocks {
		s.reply.Action, s.reply.Reason = protocol.Block, reason
	}
	tells(&s, specific.Text("additionalContext"))
	if string(in.At("continue")) == "false" {
		if a.ev.Event == protocol.CompactStart || a.ev.Event == protocol.ToolCallEnd {
			s.reply.Action, s.reply.Reason = protocol.Block, in.First("stopReason", "reason")
		} else {
			a.ends(&s, in.First("stopReason", "reason"))
		}
	}
	return s
}

// codexUnsupported says what of a reply Codex CLI knows and does not support, "" if nothing.
func codexUnsupported(a *Asking, in, specific *object.Reader) string {
	wrong := oneOf(in, "decision", "approve", "block")
	if wrong == "" {
		wrong = oneOf(specific, "permissionDecision", "allow", "deny", "ask")
	}
	if wrong == "" {
		switch a.ev.Event {
		case protocol.ToolCallStart:
			wrong = codexCallUnsupported(a, in, specific)
		case protocol.PermissionRequest:
			wrong = codexPermissionUnsupported(a, in, specific)
		case protocol.ToolCallEnd:
			wrong = codexMembersUnsupported(a, in, "suppressOutput")
			if specific.At("updatedMCPToolOutput") != nil {
				wrong = "updatedMCPToolOutput is not supported"
			}
		}
	}
	switch decision := in.Text("decision"); {
	case wrong != "":
	case decision == "block" && strings.TrimSpace(in.Text("reason")) == "":
		wrong = "a block without a reason is not supported"
	case decision == "" && in.Text("reason") != "":
		wrong = "a reason without a decision is not supported"
	}
	return wrong
}

// codexCallUnsupported is codexUnsupported at the start of a call.
func codexCallUnsupported(a *Asking, in, specific *object.Reader) string {
	decision, why := specific.Text("permissionDecision"), specific.Text("permissionDecisionReason")
	changes := specific.At("updatedInput") != nil
	switch {
	case in.Text("decision") == "approve", decision == "ask":
		return "it neither approves nor asks at PreToolUse"
	case decision == "allow" && !changes:
		return "permissionDecision allow without updatedInput is not supported"
	case decision != "allow" && changes:
		return "updatedInput without permissionDecision allow is not supported"
	case decision == "deny" && strings.TrimSpace(why) == "":
		return "a denial without a reason is not supported"
	case decision == "" && why != "":
		return "permissionDecisionReason without permissionDecision is not supported"
	}
	return codexMembersUnsupported(a, in, "continue", "stopReason", "suppressOutput")
}

// codexPermissionUnsupported is codexUnsupported where the person would be asked.
func codexPermissionUnsupported(a *Asking, in, specific *object.Reader) string {
	for _, name := range []string{"updatedInput", "updatedPermissions"} {
		if specific.At("/decision/"+name) != nil {
			return name + " is not supported at PermissionRequest"
		}
	}
	if specific.Is("/decision/interrupt") {
		return "interrupt is not supported at PermissionRequest"
	}
	return codexMembersUnsupported(a, in, "continue", "stopReason", "suppressOutput")
}

// codexMembersUnsupported names the first member that Codex CLI does not support there.
func codexMembersUnsupported(a *Asking, in *object.Reader, names ...string) string {
	for _, name := range names {
		value := in.At(name)
		if value != nil && string(value) != "true" && !jsonspan.IsNull(value) || name == "suppressOutput" && in.Is(name) {
			return name + " is not supported at " + a.event.Name
		}
	}
	return ""
}

// codexPatch returns the patch by which Codex CLI would write what a call of ours does, and
// the tool's names there, nil for any other tool.
func codexPatch(name string, args protocol.RawMessage) (names []string, text protocol.RawMessage) {
	of := &object.Reader{JSON: args}
	if name != "write_file" && name != "edit_file" {
		return nil, nil
	}
	lines := []string{"*** Begin Patch"}
	prefixed := func(mark, text string) {
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			lines = append(lines, mark+line)
		}
	}
	if name == "write_file" {
		lines = append(lines, "*** Add File: "+of.Text("path"))
		prefixed("+", of.Text("content"))
	} else {
		lines = append(lines, "*** Update File: "+of.Text("path"), "@@")
		prefixed("-", of.Text("oldText"))
		prefixed("+", of.Text("newText"))
	}
	whole := strings.Join(append(lines, "*** End Patch"), "\n") + "\n"
	return []string{"apply_patch", "Write", "Edit"}, object.Object{{"command", whole}}.JSON()
}
