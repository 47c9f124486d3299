package foreignhooks

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// acaiHooks are hooks as acai planned them: they describe themselves with name, timing
// and event, read the event as one object, and answer with a word or with an action and
// modifications. The variable TOOL_ACTION says which of the two is wanted.
var acaiHooks = Agent{
	Name: "acai", Title: "acai", Unit: time.Second, Limit: 30 * time.Second,
	ProjectVariables: []string{"ACAI_PROJECT_DIR"},
	FailsOpen:        "acai goes on when a hook crashes, takes too long or prints what it cannot read",
	Events: append([]HookEvent{
		{Name: "agent-start", Event: protocol.AgentStart, Refuses: true},
		{Name: "step-start", Event: protocol.StepStart, Refuses: true},
		{Name: "tool-call-start", Event: protocol.ToolCallStart, Refuses: true},
		{Name: "tool-call-end", Event: protocol.ToolCallEnd, Refuses: true},
		{Name: "tool-call-error", Event: protocol.ToolCallError},
		{Name: "step-stop", Event: protocol.StepStop},
		{Name: "agent-stop", Event: protocol.AgentStop},
		{Name: "agent-error", Event: protocol.AgentError},
		{Name: "thinking-start", Event: protocol.ThinkingStart},
		{Name: "thinking-end", Event: protocol.ThinkingEnd},
		{Name: "message-start", Event: protocol.MessageStart},
		{Name: "message-end", Event: protocol.MessageEnd},
	}, nowhere("thinking", "message", "tool-call-lifecycle")...),
	env: func(a *Asking) []string {
		return variables(actionVariable, "execute", "NODE_ENV", "production", "ACAI_SESSION_ID", a.ev.Session.ID, "ACAI_PROJECT_DIR", a.project)
	},
	input:    acaiInput,
	reply:    replyOfAcai,
	describe: describeAcai,
	matcher: func(matcher string) (fits, error) {
		return func(subject string) bool { return subject == matcher }, nil
	},
}

// actionVariable says what a program is started for: describe or execute.
const actionVariable = "TOOL_ACTION"

// DescribeEnv are the variables with which a program is asked for its events, besides
// hookd's own.
func DescribeEnv() []string { return []string{actionVariable + "=describe"} }

// acaiInput is acai's event with the members of ours besides its own.
func acaiInput(a *Asking) object.Object {
	o := object.Object{{"type", a.event.Name}, {"event", a.event.Name}, {"timing", "before"}, {"sessionId", a.ev.Session.ID}, {"cwd", object.Always(a.cwd())}}
	if a.ev.Event == protocol.ToolCallEnd {
		o = append(o, object.Member{"msg", object.Always(resultOf(a))})
	}
	if a.ev.Event == protocol.ToolCallError {
		o = append(o, object.Member{"msg", object.Always(a.data.Text("/error/text"))})
	}
	for _, m := range jsonspan.Members(a.data.JSON) {
		switch m.Name {
		case "host", "type", "event", "timing", "sessionId", "cwd", "msg":
		default:
			o = append(o, object.Member{m.Name, protocol.RawMessage(m.Value)})
		}
	}
	return o
}

// replyOfAcai reads a word, or an object with an action.
func replyOfAcai(a *Asking, end *Ending) said {
	words := strings.TrimSpace(text.Valid(string(end.Stdout)))
	in, err := jsonObject(end.Stdout)
	switch {
	case end.Exit != 0:
		return exited(end.Exit)
	case words == "":
		return said{}
	case err == nil:
		return acaiReply(a, in)
	case err != errNotJSON:
		return a.unread("stdout begins as JSON, and is none: %v", err)
	}
	word := strings.Trim(words, `"`)
	s := said{}
	switch word {
	case "continue", "observe":
	case "block":
		acaiBlock(a, &s, stderrText(end.Stderr))
	case "modify":
		s.warn("modify without modifications changes nothing")
	default:
		return a.unread("%q is none of the words continue, observe, block, modify", text.Shorten(words, 60))
	}
	return s
}

func acaiReply(a *Asking, in *object.Reader) said {
	wrong := members{"action": aText, "reason": aText, "message": aText, "modifications": anObj}.check(in.JSON, false)
	if wrong == "" {
		wrong = oneOf(in, "action", "continue", "observe", "block", "modify")
	}
	if wrong == "" && in.At("action") == nil && in.At("modifications") == nil {
		wrong = "it has neither action nor modifications"
	}
	if wrong != "" {
		return a.unread("the reply is not one that acai reads: %s", wrong)
	}
	s := said{}
	reason := in.First("reason", "message")
	modifications := in.At("modifications")
	switch action := in.Text("action"); {
	case action == "block":
		acaiBlock(a, &s, reason)
	case action == "continue", action == "observe":
		if modifications != nil {
			s.warn("modifications beside %s are ignored", action)
		}
	case jsonspan.Kind(modifications) != '{':
		s.warn("modify without modifications changes nothing")
	default:
		if problem := acaiChanges(a, &s, modifications); problem != "" {
			return a.unread("%s", problem)
		}
	}
	return s
}

// acaiBlock refuses the event. acai ends the run with an error there; at the end of a run
// that is to end it, and never to go on.
func acaiBlock(a *Asking, s *said, reason string) {
	if a.ev.Spec().Block == protocol.BlockRefuses {
		s.reply = a.no(reason)
		return
	}
	a.ends(s, reason)
}

// acaiChanges applies modifications: new values of the event's members.
func acaiChanges(a *Asking, s *said, modifications protocol.RawMessage) string {
	spec := a.ev.Spec()
	changes := object.Object{}
	for _, m := range jsonspan.Members(modifications) {
		switch {
		case m.Name == "msg" && a.ev.Event == protocol.ToolCallEnd && jsonspan.Kind(m.Value) == '"':
			a.changesResult(s, jsonspan.Text(m.Value))
			continue
		case m.Name == "msg" && a.ev.Event == protocol.ToolCallError:
			changes = append(changes, object.Member{"error", object.Object{{"text", protocol.RawMessage(m.Value)}}})
			continue
		case jsonspan.Equal(a.data.At(jsonspan.PointerToken(m.Name)), m.Value):
			continue
		}
		known := false
		for _, f := range spec.Fields {
			top, _, _ := strings.Cut(f.Path, ".")
			known = known || top == m.Name
		}
		if !known {
			return fmt.Sprintf("modifications: %q cannot be changed at %s", text.Shorten(m.Name, 60), a.event.Name)
		}
		changes = append(changes, object.Member{m.Name, protocol.RawMessage(m.Value)})
	}
	switch {
	case len(changes) == 0:
	case s.reply.Patch != nil:
		return "modifications: msg and other members together"
	default:
		s.reply.Action, s.reply.Changes = protocol.Modify, changes.JSON()
	}
	return ""
}

// describeAcai reads the answer of a hook of acai that was asked what it is for.
func describeAcai(f *Agent, answer string) (description, bool) {
	in, err := jsonObject([]byte(answer))
	if err != nil || jsonspan.Kind(in.At("event")) != '"' || in.At("timing") == nil && in.At("parameters") == nil && in.At("name") == nil {
		return description{}, false
	}
	d := description{Dialect: f.Name, Events: []string{in.Text("event")}, Description: in.Text("description")}
	if in.Text("timing") == "after" {
		d.Can = string(protocol.CanObserve) // the event has passed
	}
	return d, true
}
