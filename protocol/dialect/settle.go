package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// settling makes a [Verdict] of an outcome.
type settling struct {
	c    *Call
	out  *protocol.Outcome
	can  *Can
	v    Verdict
	lost []string

	context []string // for the model
}

func (s *settling) lose(format string, args ...any) {
	s.lost = append(s.lost, fmt.Sprintf(format, args...))
}

// by names the hook whose voice counts.
func (s *settling) by() string {
	if s.out.By == nil || *s.out.By == "" {
		return "hookd"
	}
	return "the hook " + *s.out.By
}

func (s *settling) reason() string {
	if strings.TrimSpace(s.out.Reason) != "" { // a refusal with a blank reason is none for Codex
		return s.out.Reason
	}
	return "refused by " + s.by()
}

// settle decides the verdict in the order in which one part depends on another: a
// change that cannot be made refuses what it was to change, and what is refused needs
// no change.
func (s *settling) settle() {
	s.action()
	s.replaced()
	if !s.v.Refuse {
		s.changed()
	}
	if s.out.Callback != nil {
		s.lose("%s asked for the recipe %q, which %s cannot run", s.by(), s.out.Callback.Name, s.c.Agent.Title)
	}
	s.texts()
}

func (s *settling) action() {
	agent, event := s.c.Agent.Title, s.c.Row.Name
	switch s.out.Action {
	case protocol.Stop:
		s.v.Reason = s.reason()
		// A stop that ends the run leaves a result as it is.
		keeps := s.c.Row.Event == protocol.ToolCallEnd && s.can.Stop.Possible()
		s.v.Refuse = s.can.Block.Possible() && !s.endsRun() && !keeps
		switch s.v.Stop = s.can.Stop.Possible(); {
		case s.v.Stop:
		case s.v.Refuse:
			s.lose("%s ends the run, and %s cannot at %s: only this was refused", s.by(), agent, event)
		default:
			s.lose("%s ends the run, and %s cannot at %s", s.by(), agent, event)
		}
	case protocol.Block:
		switch {
		case s.endsRun():
			s.goOn(s.reason())
		case s.can.Block.Possible():
			s.v.Refuse, s.v.Reason = true, s.reason()
		default:
			s.lose("%s refuses %s, and %s cannot refuse it", s.by(), event, agent)
			if s.can.Context.Possible() && s.c.Row.Event == protocol.ToolCallEnd { // the model at least reads why
				s.context = append(s.context, s.reason())
			}
		}
	case protocol.Ask:
		s.v.Reason = s.reason()
		switch {
		case s.can.Ask.Possible():
			s.v.Ask = true
		case s.can.Block.Possible():
			s.v.Refuse = true
			s.lose("%s wants a person to decide, and %s cannot ask at %s: refused", s.by(), agent, event)
		default:
			s.lose("%s wants a person to decide, and %s cannot ask at %s", s.by(), agent, event)
		}
	case protocol.Continue:
		if s.c.Row.Event == protocol.StepStop {
			s.goesOnAnyway()
			return
		}
		s.goOn(s.messages())
	case protocol.Allow:
		if s.v.Allow = s.can.Allow.Possible(); !s.v.Allow {
			s.lose("%s allows it, and %s does not take that from a hook", s.by(), agent)
		}
	}
}

// endsRun reports whether a block at this event means: do not end.
func (s *settling) endsRun() bool {
	return s.c.Row.Event == protocol.AgentStop || s.c.Row.Event == protocol.SubagentStop
}

// goesOnAnyway: after a step the run goes on by itself, and the messages of a hook that
// goes on are text for the model.
func (s *settling) goesOnAnyway() {
	if !s.can.Context.Possible() {
		s.lose("%s adds messages, and %s takes none at %s", s.by(), s.c.Agent.Title, s.c.Row.Name)
		return
	}
	s.context = append(s.context, s.messages())
}

func (s *settling) goOn(text string) {
	if strings.TrimSpace(text) == "" {
		text = s.reason()
	}
	if !s.can.Continue.Possible() {
		s.lose("%s wants the run to go on, and %s cannot at %s", s.by(), s.c.Agent.Title, s.c.Row.Name)
		return
	}
	s.v.Continue, s.v.Reason = true, text
}

// messages is the text of the messages that a hook goes on with.
func (s *settling) messages() string {
	var texts []string
	for _, m := range s.out.Messages {
		if text := m.Content.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return s.out.Reason
	}
	return strings.Join(texts, "\n\n")
}

// replaced settles a result in the place of a tool, or a response in that of a model call.
// An agent that takes none reads it as the reason of a refusal.
func (s *settling) replaced() {
	if s.out.Replaced == nil || s.v.Refuse || s.v.Stop {
		return
	}
	owner, event := "the hook "+s.out.ReplacedBy, s.c.Row.Name
	text := object.ContentText(jsonspan.Get(s.out.Replaced, "content"))
	switch {
	case s.can.Replace.Possible():
		s.v.Response, s.v.Reason = s.out.Replaced, owner+" answers in the model's place"
		return
	case !s.can.Block.Possible():
		s.lose("%s gives a result of its own, and %s cannot take one at %s", owner, s.c.Agent.Title, event)
		return
	case s.c.Row.Event != protocol.ToolCallStart:
		text = owner + " answers in the model's place, which " + s.c.Agent.Title + " cannot take"
	case strings.TrimSpace(text) == "":
		text = owner + " has done this in the tool's place, without a result"
	}
	s.v.Refuse, s.v.Reason = true, text
	s.lose("%s answers in its place at %s: %s refuses it with that answer as the reason", owner, event, s.c.Agent.Title)
}

// changed finds what hooks changed, and writes it in the agent's form.
func (s *settling) changed() {
	var members []string
	for _, m := range jsonspan.Members(s.out.Event.Data) {
		before := jsonspan.Get(s.c.Event.Data, m.Name)
		if !byHookd(m.Name) && !jsonspan.Equal(before, m.Value) {
			members = append(members, m.Name)
		}
	}
	if len(members) == 0 || s.v.Response != nil {
		return
	}
	changed, err := s.c.changed(s.out.Event.Data, members)
	if err == nil && s.can.Change.Possible() {
		if changed, err = s.c.asItsOutput(changed); err == nil {
			s.v.Changed = changed
			return
		}
	}
	if err == nil {
		err = fmt.Errorf("%s takes no change of it at %s", s.c.Agent.Title, s.c.Row.Name)
	}
	text := fmt.Sprintf("%s changed %s, and %v", s.owner(), strings.Join(members, ", "), err)
	if s.can.Block.Possible() && !s.endsRun() {
		text += "; so it was refused"
		s.v.Refuse, s.v.Ask, s.v.Reason = true, false, text+s.advice(changed)
	}
	s.lose("%s", text)
}

// advice tells the model how a refused call would be let through. It is left out where a
// sensitive hook took part, and where it is long.
func (s *settling) advice(changed protocol.RawMessage) string {
	const longest = 2000
	sensitive := slices.ContainsFunc(s.out.Changes, func(c protocol.Change) bool { return c.Sensitive })
	if s.c.Row.Event != protocol.ToolCallStart || changed == nil || sensitive || len(changed) > longest {
		return ""
	}
	return ". The hook wants these args: " + string(changed)
}

// owner names the hook that changed something last.
func (s *settling) owner() string {
	for i := len(s.out.Runs) - 1; i >= 0; i-- {
		if r := &s.out.Runs[i]; r.Action == protocol.Modify {
			return "the hook " + r.Hook
		}
	}
	return "a hook"
}

// texts settles what the model and the person are to read.
func (s *settling) texts() {
	for _, c := range s.out.Context {
		s.context = append(s.context, c.Text)
	}
	text := strings.Join(s.context, "\n\n")
	switch {
	case strings.TrimSpace(text) == "":
	case s.v.Continue:
		s.v.Reason += "\n\n" + text
	case s.can.Context.Possible():
		s.v.Context = text
	case s.v.Refuse:
		s.v.Reason += "\n\n" + text
	default:
		for _, c := range s.out.Context {
			s.lose("the hook %s gives text to the model, and %s takes none at %s", c.Hook, s.c.Agent.Title, s.c.Row.Name)
		}
	}
	if s.can.Notice.Possible() {
		s.v.Notice = s.notice()
	}
}

// notice is all text for the person: what hooks say, and, where the agent shows it, what
// got lost.
func (s *settling) notice() string {
	var notices []string
	for _, n := range s.out.Notices {
		notices = append(notices, n.Hook+": "+n.Text)
	}
	if s.v.Ask && s.c.Row.Event == protocol.PermissionRequest { // why the agent's own question is put
		notices = append(notices, s.by()+": "+s.v.Reason)
	}
	if s.can.Notice.Possible() {
		notices = append(notices, s.lost...)
	}
	return strings.Join(notices, "\n")
}

// byHookd reports whether a member of data is what hookd says of an event itself, which no
// hook changes.
func byHookd(member string) bool {
	return slices.Contains([]string{"original", "realPath", "realPaths", "links", "otherPaths", "continued", "continuedTotal"}, member)
}
