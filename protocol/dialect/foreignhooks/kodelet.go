package foreignhooks

import (
	"bytes"
	stdjson "encoding/json"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// kodeletHooks are hooks that were written for kodelet: an executable that answers the
// word hook with the name of its one event, and the word run with a reply. turn_end is of
// its releases, after_turn and the member result are of its ADR 025.
var kodeletHooks = Agent{
	Name: "kodelet", Title: "kodelet", Unit: time.Second, Limit: 30 * time.Second, arg: "run",
	FailsOpen: "kodelet goes on when a hook crashes, takes too long or prints what it cannot read",
	Events: []HookEvent{
		{Name: "before_tool_call", Event: protocol.ToolCallStart, Refuses: true},
		{Name: "after_tool_call", Event: protocol.ToolCallEnd},
		{Name: "user_message_send", Event: protocol.PromptSubmit, Refuses: true},
		{Name: "agent_stop", Event: protocol.AgentStop},
		{Name: "after_turn", Event: protocol.StepStop},
		{Name: "turn_end", Event: protocol.InferenceEnd},
	},
	input:    kodeletInput,
	reply:    replyOfKodelet,
	describe: describeKodelet,
	matcher: func(matcher string) (fits, error) { // kodelet has none; a name of a tool is one
		return func(subject string) bool { return subject == matcher }, nil
	},
}

func kodeletInput(a *Asking) object.Object {
	o := object.Object{{"event", a.event.Name}, {"conv_id", object.Always(a.ev.Session.ID)}, {"cwd", object.Always(a.cwd())}, {"invoked_by", kodeletCaller(a)}}
	if a.ev.Recipe != nil {
		o = append(o, object.Member{"recipe_name", *a.ev.Recipe}, object.Member{"invoked_recipe", *a.ev.Recipe})
	}
	in := &a.data
	call := object.Object{{"tool_name", object.Always(toolName(a))}, {"tool_input", a.call.input}, {"tool_user_id", object.Always(a.call.id)}}
	switch a.ev.Event {
	case protocol.ToolCallStart:
		return append(o, call...)
	case protocol.ToolCallEnd:
		return append(append(o, call...), object.Member{"tool_output", kodeletOutput(a)})
	case protocol.PromptSubmit:
		return append(o, object.Member{"message", object.Always(in.Text("prompt"))})
	case protocol.AgentStop:
		return append(append(o, object.Member{"messages", object.Raw(kodeletMessages(a))}), kodeletUsage(a)...)
	case protocol.StepStop:
		messages, used, last := kodeletMessages(a), len(jsonspan.Elements(in.At("calls"))) > 0, ""
		for _, m := range messages {
			if m.Role == string(protocol.RoleAssistant) {
				last = m.Content
			}
		}
		o = append(o, object.Member{"turn_number", object.Raw(a.ev.Step)}, object.Member{"tools_used", object.Always(used)}, object.Member{"last_assistant_content", last}, object.Member{"messages", object.Raw(messages)})
		return append(o, kodeletUsage(a)...)
	case protocol.InferenceEnd:
		return append(o, object.Member{"response", object.Always(object.ContentText(in.At("/message/content")))}, object.Member{"turn_number", object.Raw(a.ev.Step)})
	}
	return o
}

func kodeletCaller(a *Asking) string {
	if a.ev.Agent.Depth > 0 {
		return "subagent"
	}
	return "main"
}

// kodeletMessages are the conversation as kodelet flattens it. A call is named with its
// tool and args, which hooks look for.
func kodeletMessages(a *Asking) []flatMessage {
	return texts(a, "messages", func(name, args string) string {
		call := a.foreignCall(&object.Reader{JSON: object.Object{{"name", object.Always(name)}, {"args", jsonspan.Trim([]byte(args))}}.JSON()})
		if len(call.names) == 0 {
			return name
		}
		return call.names[0] + " " + string(call.input)
	})
}

// kodeletUsage is the usage of the run and what the host does about it. Figures that
// nobody knows are 0 there.
func kodeletUsage(a *Asking) object.Object {
	of := func(n *int64) protocol.RawMessage {
		if n == nil {
			return protocol.RawMessage("0")
		}
		return object.Raw(*n)
	}
	u := &a.ev.Usage
	return object.Object{
		{"usage", object.Object{
			{"input_tokens", of(u.InputTokens)}, {"output_tokens", of(u.OutputTokens)},
			{"current_context_window", of(u.ContextTokens)}, {"max_context_window", of(u.ContextMax)},
		}},
		{"auto_compact_enabled", object.Always(a.ev.Compaction.Auto)}, {"auto_compact_threshold", object.Raw(a.ev.Compaction.Threshold)},
	}
}

// kodeletOutput is a tool's result in kodelet's structure.
func kodeletOutput(a *Asking) object.Object {
	words, failed := resultOf(a), a.data.Is("/result/isError")
	o := object.Object{{"toolName", toolName(a)}, {"success", object.Always(!failed)}}
	if failed {
		o = append(o, object.Member{"error", words})
	}
	args := &object.Reader{JSON: a.call.input}
	switch a.call.name {
	case "bash":
		exit := a.data.At("/result/exitCode")
		if exit == nil {
			exit = protocol.RawMessage("0")
		}
		o = append(o, object.Member{"metadataType", "bash"}, object.Member{"metadata", object.Object{{"command", object.Always(args.Text("command"))}, {"exitCode", exit}, {"output", object.Always(words)}, {"executionTime", object.Raw(int64(a.data.Number("durationMs") * 1e6))}}})
	case "read_file":
		o = append(o, object.Member{"metadataType", "file_read"}, object.Member{"metadata", object.Object{{"filePath", object.Always(args.Text("file_path"))}, {"lines", object.Raw(strings.Split(words, "\n"))}, {"truncated", object.Always(false)}}})
	default:
		o = append(o, object.Member{"metadataType", "text"}, object.Member{"metadata", object.Object{{"output", object.Always(words)}}})
	}
	return append(o, object.Member{"timestamp", a.stamp()})
}

// kodeletReply is what a hook of kodelet answers, at any of its events.
type kodeletReply struct {
	Blocked          bool               `json:"blocked"`
	Reason           string             `json:"reason"`
	Input            stdjson.RawMessage `json:"input"`
	Output           stdjson.RawMessage `json:"output"`
	Result           string             `json:"result"`
	Messages         []flatMessage      `json:"messages"`
	FollowUpMessages []string           `json:"follow_up_messages"`
	FollowUps        []string           `json:"follow_ups"`
	Callback         string             `json:"callback"`
	CallbackArgs     map[string]string  `json:"callback_args"`
}

// replyOfKodelet reads one object of JSON at exit code 0, by the rules of the library that
// kodelet reads it with: case does not count, and a value of another type is an error.
func replyOfKodelet(a *Asking, end *Ending) said {
	out := bytes.TrimSpace(end.Stdout)
	switch {
	case end.Exit != 0:
		return exited(end.Exit)
	case len(out) == 0:
		return said{}
	case a.event.Name == "turn_end":
		return a.ignored(out)
	case jsonspan.DeeperThan(out, protocol.DefaultDepth):
		return a.unread("stdout is nested too deeply")
	}
	var r kodeletReply
	if err := stdjson.Unmarshal(out, &r); err != nil {
		return a.unread("stdout is not a reply of kodelet's: %v", err)
	}
	s := said{}
	switch a.ev.Event {
	case protocol.ToolCallStart, protocol.PromptSubmit:
		if r.Blocked {
			s.reply = a.no(text.Valid(r.Reason))
		}
		kodeletChange(a, &s, r.Input)
	case protocol.ToolCallEnd:
		if output := bytes.TrimSpace(r.Output); len(output) > 0 && !jsonspan.IsNull(output) {
			a.changesResult(&s, kodeletText(output))
		}
	case protocol.AgentStop, protocol.StepStop:
		kodeletResult(a, &s, &r)
	}
	return s
}

// kodeletChange takes over the input of a call. null is no input.
func kodeletChange(a *Asking, s *said, changed []byte) {
	changed = bytes.TrimSpace(changed)
	switch {
	case len(changed) == 0 || jsonspan.IsNull(changed) || a.ev.Event != protocol.ToolCallStart || s.refuses():
	case jsonspan.Kind(changed) != '{':
		*s = a.unread("input is %s, which no call takes", jsonspan.KindName(changed))
	default:
		clean, err := protocol.StrictJSON(changed, protocol.DecodeLimits{Size: 1 << 40, Depth: protocol.DefaultDepth})
		if err != nil {
			*s = a.unread("input: %v", err)
			return
		}
		a.changesArgs(s, a.call.back(clean))
	}
}

// kodeletResult is what a hook wants done when a turn or the run has ended.
func kodeletResult(a *Asking, s *said, r *kodeletReply) {
	follow := append(r.FollowUpMessages, r.FollowUps...)
	switch {
	case r.Result == "mutate":
		if len(r.Messages) == 0 {
			s.warn("mutate without messages changes nothing")
			return
		}
		messages := make([]flatMessage, 0, len(r.Messages))
		for _, m := range r.Messages {
			messages = append(messages, flatMessage{m.Role, text.Valid(m.Content)})
		}
		a.replaces(s, "messages", object.Raw(messages))
	case r.Result == "callback":
		if r.Callback == "" {
			*s = a.unread("callback names no recipe")
			return
		}
		s.reply.Action = protocol.Callback
		s.reply.Callback = &protocol.CallbackCall{Name: r.Callback, Args: r.CallbackArgs}
	case r.Result != "" && r.Result != "continue":
		*s = a.unread("result is %q, not one of continue mutate callback", text.Shorten(r.Result, 60))
	case len(follow) > 0 && a.ev.Event == protocol.AgentStop:
		messages := make([]flatMessage, 0, len(follow))
		for _, words := range follow {
			messages = append(messages, flatMessage{string(protocol.RoleUser), text.Valid(words)})
		}
		s.reply.Action, s.reply.Messages, s.reply.Reason = protocol.Continue, object.Raw(messages), strings.Join(follow, "\n")
	case len(follow) > 0:
		s.warn("follow_up_messages have no effect at %s", a.event.Name)
	}
}

// kodeletText is the text of a tool's result in kodelet's structure.
func kodeletText(output []byte) string {
	of := &object.Reader{JSON: output}
	if words := of.Text("error"); words != "" && !of.Is("success") {
		return words
	}
	if lines := of.At("/metadata/lines"); jsonspan.Kind(lines) == '[' {
		var all []string
		for _, line := range jsonspan.Elements(lines) {
			all = append(all, jsonspan.Text(line))
		}
		return strings.Join(all, "\n")
	}
	for _, at := range []string{"/metadata/output", "/metadata/content", "output", "result"} {
		if value := of.At(at); jsonspan.Kind(value) == '"' {
			return jsonspan.Text(value)
		}
	}
	if jsonspan.Kind(output) == '"' {
		return jsonspan.Text(output)
	}
	return text.Valid(string(output))
}

// describeKodelet reads the answer of a hook of kodelet that was asked for its event: one
// word.
func describeKodelet(f *Agent, answer string) (description, bool) {
	e := f.known(answer)
	if e == nil {
		return description{}, false
	}
	d := description{Dialect: f.Name, Events: []string{answer}}
	if e.Name == "turn_end" {
		d.Can = string(protocol.CanObserve) // nobody reads its answer
	}
	return d, true
}
