package foreignhooks

import (
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// geminiHooks are hooks that were written for Gemini CLI.
var geminiHooks = Agent{
	Name: "gemini", Title: "Gemini CLI", Unit: time.Millisecond, Limit: time.Minute,
	ProjectVariables: []string{"GEMINI_PROJECT_DIR", "GEMINI_CWD", "CLAUDE_PROJECT_DIR"},
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
			return []string{a.data.Text("source")}
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

func geminiInput(a *Asking) object.Object {
	o := object.Object{
		{"session_id", object.Always(a.ev.Session.ID)}, {"transcript_path", object.Always(a.ev.Session.Transcript)}, {"cwd", object.Always(a.cwd())},
		{"hook_event_name", a.event.Name}, {"timestamp", a.stamp()},
	}
	in := &a.data
	call := object.Object{{"tool_name", object.Always(toolName(a))}, {"tool_input", a.call.input}}
	if server, tool, is := strings.Cut(strings.TrimPrefix(a.call.name, "mcp__"), "__"); is && a.call.kind == protocol.KindMCP {
		call = append(call, object.Member{"mcp_context", object.Object{{"server_name", server}, {"tool_name", tool}}})
	}
	switch a.ev.Event {
	case protocol.ToolCallStart:
		return append(o, call...)
	case protocol.ToolCallEnd:
		response := object.Object{{"llmContent", object.Always(resultOf(a))}, {"returnDisplay", object.Always(resultOf(a))}}
		if in.Is("/result/isError") {
			response = append(response, object.Member{"error", object.Object{{"message", object.Always(resultOf(a))}}})
		}
		return append(append(o, call...), object.Member{"tool_response", response})
	case protocol.PromptSubmit:
		return append(o, object.Member{"prompt", object.Always(in.Text("prompt"))})
	case protocol.AgentStop:
		return append(o, object.Member{"prompt", object.Always(lastPrompt(a))}, object.Member{"prompt_response", object.Always(in.Text("response"))}, object.Member{"stop_hook_active", object.Always(in.Number("continued") > 0)})
	case protocol.InferenceStart:
		return append(o, object.Member{"llm_request", geminiRequest(a)})
	case protocol.InferenceEnd:
		words := object.ContentText(in.At("/message/content"))
		candidate := object.Object{{"content", object.Object{{"role", "model"}, {"parts", object.Raw([]string{words})}}}, {"finishReason", "STOP"}}
		return append(o, object.Member{"llm_request", object.Object{{"model", object.Always("")}, {"messages", object.Always([]string{})}}}, object.Member{"llm_response", object.Object{{"text", object.Always(words)}, {"candidates", object.Raw([]object.Object{candidate})}}})
	case protocol.SessionStart:
		return append(o, object.Member{"source", in.Text("source")})
	case protocol.SessionEnd:
		return append(o, object.Member{"reason", "exit"})
	case protocol.CompactStart:
		return append(o, object.Member{"trigger", manualOrAuto(a)})
	case protocol.Notification:
		return append(o, object.Member{"notification_type", "ToolPermission"}, object.Member{"message", object.Always(in.Text("text"))}, object.Member{"details", object.Raw(map[string]string{})})
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
func geminiRequest(a *Asking) object.Object {
	messages := texts(a, "messages", func(name, args string) string { return "" })
	if system := a.data.Text("system"); system != "" {
		messages = append([]flatMessage{{"system", system}}, messages...)
	}
	for i := range messages {
		if messages[i].Role == string(protocol.RoleAssistant) {
			messages[i].Role = "model"
		}
	}
	config := object.Object{{"temperature", a.data.At("/params/temperature")}, {"maxOutputTokens", a.data.At("/params/maxTokens")}}
	return object.Object{{"model", object.Always(a.data.Text("model"))}, {"messages", object.Raw(messages)}, {"config", object.Raw(config)}}
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
	case end.Exit >= 2 && a.event.Name != "BeforeToolSelection":
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

func geminiReply(a *Asking, in *object.Reader) said {
	for _, wrong := range []string{
		members{"continue": aBool, "stopReason": aText, "systemMessage": aText, "reason": aText, "hookSpecificOutput": anObj}.check(in.JSON, false),
		oneOf(in, "decision", "ask", "block", "deny", "approve", "allow"),
	} {
		if wrong != "" {
			return a.unread("the reply is not one that Gemini CLI reads: %s", wrong)
		}
	}
	s := said{}
	s.reply.Notice = in.Text("systemMessage")
	specific := &object.Reader{JSON: in.At("hookSpecificOutput")}
	decision, reason := in.Text("decision"), in.Text("reason")
	denies := decision == "deny" || decision == "block"
	response := specific.At("llm_response")
	switch {
	case denies && a.ev.Event == protocol.InferenceStart && jsonspan.Kind(response) == '{':
		s.reply.Action, s.reply.Response = protocol.Modify, object.Raw(object.Object{{"message", object.Object{{"role", "assistant"}, {"content", jsonspan.Quote(geminiAnswer(response))}}}})
	case denies && a.ev.Spec().Block != protocol.BlockFails && a.ev.Event != protocol.CompactStart && a.event.Name != "BeforeToolSelection":
		s.reply.Action, s.reply.Reason = protocol.Block, reason
	case decision == "ask" && a.ev.Event == protocol.ToolCallStart:
		s.reply.Action, s.reply.Reason = protocol.Ask, reason
	}
	geminiChanges(a, &s, specific)
	if string(in.At("continue")) == "false" {
		a.ends(&s, in.First("stopReason", "reason"))
	}
	return s
}

// geminiChanges are the changes of a reply.
func geminiChanges(a *Asking, s *said, specific *object.Reader) {
	tells(s, specific.Text("additionalContext"))
	switch a.event.Name {
	case "BeforeTool":
		if args := specific.At("tool_input"); jsonspan.Kind(args) == '{' {
			a.changesArgs(s, a.call.merged(args))
		}
	case "AfterTool":
		if specific.At("tailToolCallRequest") != nil {
			s.warn("tailToolCallRequest: no hook starts a call of a tool here")
		}
	case "AfterAgent":
		if specific.Is("clearContext") {
			s.warn("clearContext: the conversation stays as it is")
		}
	case "BeforeModel":
		if messages := specific.At("/llm_request/messages"); jsonspan.Kind(messages) == '[' && !jsonspan.Equal(messages, object.Raw(geminiRequest(a)[1].Value)) {
			geminiMessagesOf(a, s, messages)
		}
	case "BeforeToolSelection":
		geminiTools(a, s, &object.Reader{JSON: specific.At("toolConfig")})
	case "AfterModel":
		if response := specific.At("llm_response"); jsonspan.Kind(response) == '{' {
			if words := geminiAnswer(response); words != object.ContentText(a.data.At("/message/content")) {
				a.replaces(s, "message", object.Set(a.data.At("message"), "content", jsonspan.Quote(words)))
			}
		}
	}
}

// geminiAnswer is the text of a model's response.
func geminiAnswer(response protocol.RawMessage) string {
	of := &object.Reader{JSON: response}
	if words := of.Text("text"); words != "" {
		return words
	}
	var words []string
	candidates := jsonspan.Elements(of.At("candidates"))
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
		m := &object.Reader{JSON: each}
		role, words := m.Text("role"), object.ContentText(m.At("content"))
		switch role {
		case "system":
			if words != a.data.Text("system") {
				s.warn("a changed system text is not taken over")
			}
			continue
		case "model":
			role = string(protocol.RoleAssistant)
		}
		list = append(list, flatMessage{role, words})
	}
	a.replaces(s, "messages", object.Raw(list))
}

// geminiTools leaves out the tools that the model is not to be offered.
func geminiTools(a *Asking, s *said, config *object.Reader) {
	mode := config.Text("mode")
	if mode != "NONE" && config.At("allowedFunctionNames") == nil {
		return
	}
	var allowed []string
	for _, each := range jsonspan.Elements(config.At("allowedFunctionNames")) {
		allowed = append(allowed, jsonspan.Text(each))
	}
	kept, all := []protocol.RawMessage{}, jsonspan.Elements(a.data.At("tools"))
	for _, tool := range all {
		names := toolname.TheirNames(a.agent.Name, jsonspan.Text(jsonspan.Get(tool, "name")), "")
		if mode != "NONE" && slices.ContainsFunc(names, func(n string) bool { return slices.Contains(allowed, n) }) {
			kept = append(kept, tool)
		}
	}
	if len(kept) < len(all) {
		a.replaces(s, "tools", jsonspan.JoinList(kept))
	}
}
