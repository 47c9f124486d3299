package dialect

import (
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// geminiHooks are hooks that were written for Gemini CLI.
var geminiHooks = Foreign{
	Name: "gemini", Title: "Gemini CLI", Unit: time.Millisecond, Limit: time.Minute,
	ProjectVariables: []string{"GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
	FailsOpen:        "Gemini CLI goes on when a hook is ended by a signal, takes too long or ends with exit code 1",
	Events: []HookEvent{
		{Name: "BeforeTool", Event: protocol.ToolCallStart, Refuses: true},
		{Name: "AfterTool", Event: protocol.ToolCallEnd, Refuses: true},
		{Name: "BeforeAgent", Event: protocol.PromptSubmit, Refuses: true},
		{Name: "AfterAgent", Event: protocol.AgentStop},
		{Name: "BeforeModel", Event: protocol.InferenceStart, Refuses: true},
		{Name: "BeforeToolSelection", Event: protocol.InferenceStart},
		{Name: "AfterModel", Event: protocol.InferenceEnd, Refuses: true},
		{Name: "SessionStart", Event: protocol.SessionStart},
		{Name: "SessionEnd", Event: protocol.SessionEnd},
		{Name: "PreCompress", Event: protocol.CompactStart},
		{Name: "Notification", Event: protocol.Notification},
	},
	env: func(a *Asking) []string {
		return variables("GEMINI_PROJECT_DIR", a.project, "GEMINI_CWD", a.cwd(), "GEMINI_SESSION_ID", a.ev.Session.ID, "CLAUDE_PROJECT_DIR", a.project)
	},
	input:   geminiInput,
	reply:   replyOfGemini,
	matcher: expressionOrText,
	subject: func(a *Asking) []string {
		switch a.ev.Event {
		case protocol.SessionStart:
			return []string{a.data.text("source")}
		case protocol.SessionEnd:
			return []string{"exit"}
		case protocol.CompactStart:
			return []string{manualOrAuto(a)}
		case protocol.Notification:
			return []string{"ToolPermission"}
		}
		return a.call.names
	},
}

func geminiInput(a *Asking) object {
	o := object{
		{"session_id", always(a.ev.Session.ID)}, {"transcript_path", always(a.ev.Session.Transcript)}, {"cwd", always(a.cwd())},
		{"hook_event_name", a.Event.Name}, {"timestamp", a.stamp()},
	}
	in := &a.data
	call := object{{"tool_name", always(toolName(a))}, {"tool_input", a.call.input}}
	if server, tool, is := strings.Cut(strings.TrimPrefix(a.call.name, "mcp__"), "__"); is && a.call.kind == protocol.KindMCP {
		call = append(call, member{"mcp_context", object{{"server_name", server}, {"tool_name", tool}}})
	}
	switch a.ev.Event {
	case protocol.ToolCallStart:
		return append(o, call...)
	case protocol.ToolCallEnd:
		response := object{{"llmContent", always(resultOf(a))}, {"returnDisplay", always(resultOf(a))}}
		if in.is("/result/isError") {
			response = append(response, member{"error", object{{"message", always(resultOf(a))}}})
		}
		return append(append(o, call...), member{"tool_response", response})
	case protocol.PromptSubmit:
		return append(o, member{"prompt", always(in.text("prompt"))})
	case protocol.AgentStop:
		return append(o, member{"prompt", always(lastPrompt(a))}, member{"prompt_response", always(in.text("response"))}, member{"stop_hook_active", always(in.number("continued") > 0)})
	case protocol.InferenceStart:
		return append(o, member{"llm_request", geminiRequest(a)})
	case protocol.InferenceEnd:
		words := contentText(in.at("/message/content"))
		candidate := object{{"content", object{{"role", "model"}, {"parts", raw([]string{words})}}}, {"finishReason", "STOP"}}
		return append(o, member{"llm_request", object{{"model", always("")}, {"messages", always([]string{})}}}, member{"llm_response", object{{"text", always(words)}, {"candidates", raw([]object{candidate})}}})
	case protocol.SessionStart:
		return append(o, member{"source", in.text("source")})
	case protocol.SessionEnd:
		return append(o, member{"reason", "exit"})
	case protocol.CompactStart:
		return append(o, member{"trigger", manualOrAuto(a)})
	case protocol.Notification:
		return append(o, member{"notification_type", "ToolPermission"}, member{"message", always(in.text("text"))}, member{"details", raw(map[string]string{})})
	}
	return o
}

// lastPrompt is the text of the last message of the person.
func lastPrompt(a *Asking) string {
	all := texts(a, "messages", func(string, string) string { return "" })
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Role == string(protocol.RoleUser) {
			return all[i].Content
		}
	}
	return ""
}

// geminiRequest is a model's request, with texts for messages.
func geminiRequest(a *Asking) object {
	messages := texts(a, "messages", func(name, args string) string { return "" })
	if system := a.data.text("system"); system != "" {
		messages = append([]flatMessage{{"system", system}}, messages...)
	}
	for i := range messages {
		if messages[i].Role == string(protocol.RoleAssistant) {
			messages[i].Role = "model"
		}
	}
	config := object{{"temperature", a.data.at("/params/temperature")}, {"maxOutputTokens", a.data.at("/params/maxTokens")}}
	return object{{"model", always(a.data.text("model"))}, {"messages", raw(messages)}, {"config", raw(config)}}
}

// replyOfGemini reads what stands on stdout, or on stderr where stdout is empty. JSON
// counts before the exit code.
func replyOfGemini(a *Asking, end *Ending) said {
	out := end.Stdout
	if len(strings.TrimSpace(string(out))) == 0 {
		out = end.Stderr
	}
	in, err := jsonObject(out)
	words := text.Valid(strings.TrimSpace(string(out)))
	switch {
	case err == nil:
		s := geminiReply(a, in)
		if end.Exit != 0 && s.failure == nil && !s.refuses() {
			s.warn("exit code %d counts for nothing: Gemini CLI goes by the JSON that was printed", end.Exit)
		}
		return s
	case end.Exit >= 2 && a.Event.Name != "BeforeToolSelection":
		switch a.ev.Event {
		case protocol.ToolCallStart, protocol.ToolCallEnd, protocol.PromptSubmit, protocol.AgentStop, protocol.InferenceStart, protocol.InferenceEnd:
			return a.blockedByExit(end, words)
		}
		return exited(end.Exit)
	case end.Exit != 0:
		return exited(end.Exit)
	case err != errNotJSON:
		return a.unread("stdout begins as JSON, and is none: %v", err)
	case len(strings.TrimSpace(string(end.Stdout))) == 0:
		return said{}
	}
	return said{reply: protocol.Reply{Notice: words}}
}

func geminiReply(a *Asking, in *input) said {
	for _, wrong := range []string{
		members{"continue": aBool, "stopReason": aText, "systemMessage": aText, "reason": aText, "hookSpecificOutput": anObj}.check(in.object, false),
		oneOf(in, "decision", "ask", "block", "deny", "approve", "allow"),
	} {
		if wrong != "" {
			return a.unread("the reply is not one that Gemini CLI reads: %s", wrong)
		}
	}
	s := said{}
	s.reply.Notice = in.text("systemMessage")
	specific := &input{object: in.at("hookSpecificOutput")}
	decision, reason := in.text("decision"), in.text("reason")
	denies := decision == "deny" || decision == "block"
	response := specific.at("llm_response")
	switch {
	case denies && a.ev.Event == protocol.InferenceStart && jsonspan.Kind(response) == '{':
		s.reply.Action, s.reply.Response = protocol.Modify, raw(object{{"message", object{{"role", "assistant"}, {"content", jsonspan.Quote(geminiAnswer(response))}}}})
	case denies && a.ev.Spec().Block != protocol.BlockFails && a.ev.Event != protocol.CompactStart && a.Event.Name != "BeforeToolSelection":
		s.reply.Action, s.reply.Reason = protocol.Block, reason
	case decision == "ask" && a.ev.Event == protocol.ToolCallStart:
		s.reply.Action, s.reply.Reason = protocol.Ask, reason
	}
	geminiChanges(a, &s, specific)
	if string(in.at("continue")) == "false" {
		a.ends(&s, in.first("stopReason", "reason"))
	}
	return s
}

// geminiChanges are the changes of a reply.
func geminiChanges(a *Asking, s *said, specific *input) {
	tells(s, specific.text("additionalContext"))
	switch a.Event.Name {
	case "BeforeTool":
		if args := specific.at("tool_input"); jsonspan.Kind(args) == '{' {
			a.changesArgs(s, a.call.merged(args))
		}
	case "AfterTool":
		if specific.at("tailToolCallRequest") != nil {
			s.warn("tailToolCallRequest: no hook starts a call of a tool here")
		}
	case "AfterAgent":
		if specific.is("clearContext") {
			s.warn("clearContext: the conversation stays as it is")
		}
	case "BeforeModel":
		if messages := specific.at("/llm_request/messages"); jsonspan.Kind(messages) == '[' && !jsonspan.Equal(messages, raw(geminiRequest(a)[1].value)) {
			geminiMessagesOf(a, s, messages)
		}
	case "BeforeToolSelection":
		geminiTools(a, s, &input{object: specific.at("toolConfig")})
	case "AfterModel":
		if response := specific.at("llm_response"); jsonspan.Kind(response) == '{' {
			if words := geminiAnswer(response); words != contentText(a.data.at("/message/content")) {
				a.replaces(s, "message", set(a.data.at("message"), "content", jsonspan.Quote(words)))
			}
		}
	}
}

// geminiAnswer is the text of a model's response.
func geminiAnswer(response protocol.RawMessage) string {
	of := &input{object: response}
	if words := of.text("text"); words != "" {
		return words
	}
	var words []string
	candidates := jsonspan.Elements(of.at("candidates"))
	if len(candidates) == 0 {
		return ""
	}
	for _, part := range jsonspan.Elements(jsonspan.Find(candidates[0], "/content/parts")) {
		if jsonspan.Kind(part) == '"' {
			words = append(words, jsonspan.Text(part))
		} else if t := jsonspan.Get(part, "text"); jsonspan.Kind(t) == '"' {
			words = append(words, jsonspan.Text(t))
		}
	}
	return strings.Join(words, "")
}

// geminiMessages replaces the conversation of a request.
func geminiMessagesOf(a *Asking, s *said, messages protocol.RawMessage) {
	var list []flatMessage
	for _, each := range jsonspan.Elements(messages) {
		m := &input{object: each}
		role, words := m.text("role"), contentText(m.at("content"))
		switch role {
		case "system":
			if words != a.data.text("system") {
				s.warn("a changed system text is not taken over")
			}
			continue
		case "model":
			role = string(protocol.RoleAssistant)
		}
		list = append(list, flatMessage{role, words})
	}
	a.replaces(s, "messages", raw(list))
}

// geminiTools leaves out the tools that the model is not to be offered.
func geminiTools(a *Asking, s *said, config *input) {
	mode := config.text("mode")
	if mode != "NONE" && config.at("allowedFunctionNames") == nil {
		return
	}
	var allowed []string
	for _, each := range jsonspan.Elements(config.at("allowedFunctionNames")) {
		allowed = append(allowed, jsonspan.Text(each))
	}
	kept, all := []protocol.RawMessage{}, jsonspan.Elements(a.data.at("tools"))
	for _, tool := range all {
		names := toolname.TheirNames(a.Foreign.Name, jsonspan.Text(jsonspan.Get(tool, "name")))
		if mode != "NONE" && slices.ContainsFunc(names, func(n string) bool { return slices.Contains(allowed, n) }) {
			kept = append(kept, tool)
		}
	}
	if len(kept) < len(all) {
		a.replaces(s, "tools", jsonspan.JoinList(kept))
	}
}
