package rule

import (
	"fmt"

	"github.com/hookd-dev/hookd/protocol"
)

// Reply is what a rule answers, as its settings entry says it.
type Reply struct {
	Action  protocol.Action `json:"action,omitzero"`
	Reason  string          `json:"reason,omitzero"`
	Context string          `json:"context,omitzero"`
	Notice  string          `json:"notice,omitzero"`
}

// Actions are the words that the action of a rule may be. Without an action a rule says
// context or a notice, and decides nothing.
var Actions = []protocol.Action{protocol.Block, protocol.Ask, protocol.Allow, protocol.Observe}

// Refuses reports whether a rule with this reply is a guard.
func (r *Reply) Refuses() bool { return r.Action == protocol.Block || r.Action == protocol.Ask }

// Grants reports whether the reply lets something pass that would be asked about.
func (r *Reply) Grants() bool { return r.Action == protocol.Allow }

// Problem is what is wrong with a reply.
type Problem struct {
	Field           string // action, reason, context or notice; "" for the reply as a whole
	Message, Remedy string
}

// Answer is a compiled [Reply]. It does not change, and may be used by several
// goroutines.
type Answer struct {
	action                  protocol.Action
	reason, context, notice template
}

// Compile checks a reply for the events that it answers. With problems there is no
// answer.
func Compile(r *Reply, events []protocol.EventName) (*Answer, []Problem) {
	a := &Answer{action: r.Action}
	var problems []Problem
	specs := specsOf(events)
	for _, text := range []struct {
		field, written string
		into           *template
	}{{"reason", r.Reason, &a.reason}, {"context", r.Context, &a.context}, {"notice", r.Notice, &a.notice}} {
		parsed, err := parse(text.written, specs)
		if err != nil {
			problems = append(problems, Problem{text.field, err.Error(), partsRemedy})
		}
		*text.into = parsed
	}
	problems = append(problems, r.contradictions()...)
	for _, spec := range specs {
		if p := r.notAt(spec); p != nil {
			problems = append(problems, *p)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return a, nil
}

func specsOf(events []protocol.EventName) (specs []*protocol.Spec) {
	for _, name := range events {
		if spec := protocol.Lookup(name); spec != nil {
			specs = append(specs, spec)
		}
	}
	return specs
}

// contradictions are what no event could make right.
func (r *Reply) contradictions() (problems []Problem) {
	decides := r.Refuses() || r.Grants()
	if !decides && r.Context == "" && r.Notice == "" {
		problems = append(problems, Problem{"", "the reply says nothing: it has no action block, ask or allow, no context and no notice", `write such as {"action": "block", "reason": "why"}`})
	}
	if !decides && r.Reason != "" {
		problems = append(problems, Problem{"reason", "reason goes with an action: block, ask or allow", "add the action, or write context for the model or notice for the person"})
	}
	return problems
}

// notAt is what the table of events says against the reply at one event.
func (r *Reply) notAt(spec *protocol.Spec) *Problem {
	info := protocol.HookInfo{Class: protocol.CanBlock, Mode: protocol.Enforce}
	reply := protocol.Reply{Action: r.Action, Reason: r.Reason, Context: r.Context, Notice: r.Notice}
	_, warnings, err := protocol.CheckReply(spec, info, reply)
	switch {
	case err != nil:
		return &Problem{"action", err.Error(), "describe the rule for other events, or have it answer what is possible there"}
	case len(warnings) > 0:
		field := "action"
		if r.Context != "" && spec.Context == "" {
			field = "context"
		}
		return &Problem{field, fmt.Sprintf("at %s: %s", spec.Name, warnings[0]), "describe the rule for other events, or have it answer what is possible there"}
	}
	return nil
}

// Blocks reports whether the answer is always a block.
func (a *Answer) Blocks() bool { return a.action == protocol.Block }

// At returns the reply to an event. hidden says that its data is not to be shown: a
// sensitive hook has seen it.
func (a *Answer) At(ev *protocol.Event, hidden bool) protocol.Reply {
	action := a.action
	if action == "" {
		action = protocol.Observe
	}
	return protocol.Reply{
		Action: action, Reason: a.reason.expand(ev, hidden),
		Context: a.context.expand(ev, hidden), Notice: a.notice.expand(ev, hidden),
	}
}

// Undecided returns the reply to an event of which nobody can tell whether the rule is
// about it: a person decides, or where nobody can be asked the event is refused. It is
// for rules that refuse; no other one answers such an event.
func (a *Answer) Undecided(ev *protocol.Event, hidden bool, why error) protocol.Reply {
	reply := protocol.Reply{Action: protocol.Ask, Reason: "it cannot be told before it runs whether this rule is about it: " + why.Error()}
	if reason := a.reason.expand(ev, hidden); reason != "" {
		reply.Reason += "; the rule: " + reason
	}
	if spec := ev.Spec(); spec != nil && spec.Ask == protocol.AskFails {
		reply.Action = protocol.Block
	}
	return reply
}
