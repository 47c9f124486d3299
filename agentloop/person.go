package agentloop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/agentloop/internal/conversation"
	"github.com/hookd-dev/hookd/agentloop/internal/limits"
	"github.com/hookd-dev/hookd/protocol"
)

// Approver asks a person. Without one, or when it returns an error, the answer is no.
type Approver interface {
	Approve(ctx context.Context, question Question) (Answer, error)
}

// Question is what a person is asked.
type Question struct {
	Event   protocol.EventName // what waits for the answer
	Call    *protocol.Call     // the tool call, nil if it is not about one
	AskedBy string             // "hook:NAME", or "policy" for the loop's own rule
	Layer   protocol.Layer     // of the hook
	Text    string             // the hook's reason; may be empty
	Options []protocol.PermissionOption

	ifNobody string // why it is refused if nobody can be asked; "" for the usual reason
}

// Answer is what a person chose.
type Answer struct {
	OptionID string // of one of the options; any other refuses
	Text     string // for the model, with a refusal; may be empty
}

// onceOptions are the options of every question.
var onceOptions = []protocol.PermissionOption{
	{OptionID: "allow", Name: "Allow", Kind: "allow-once"},
	{OptionID: "reject", Name: "Reject", Kind: "reject-once"},
}

// person is the person at a run.
type person struct {
	approver  Approver // nil: nobody is there
	timeout   time.Duration
	exclusion *limits.Exclusion
	limits    *limits.Run // its time stands still while the person is asked
	notify    func(ctx context.Context, kind, text string)
}

// ask asks a question and writes the answer into the outcome: it becomes allow or block,
// and says who answered. It returns the option that was chosen, nil if none was, and fails
// only if the context ended.
func (p *person) ask(ctx context.Context, o *protocol.Outcome, question Question) (chosen *protocol.PermissionOption, err error) {
	reason := question.Text
	answered := &protocol.Answered{}
	o.Answered = answered
	refuse := func(by protocol.Answerer, reason string) {
		o.Action, o.Reason, answered.By = protocol.Block, reason, by
	}
	if p.approver == nil {
		refuse(protocol.ByNobody, cmp.Or(question.ifNobody, withReason("nobody is there to ask", reason)))
		return nil, nil
	}
	p.notify(ctx, "permission", question.notice())
	answer, expired, err := p.approve(ctx, question)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		if i := slices.IndexFunc(question.Options, func(o protocol.PermissionOption) bool { return o.OptionID == answer.OptionID }); i >= 0 {
			chosen = &question.Options[i]
		}
	}
	switch {
	case expired:
		refuse(protocol.ByTimeout, withReason("nobody answered in time", reason))
		return nil, nil
	case err != nil:
		refuse(protocol.ByFault, withReason("the person could not be asked", reason))
		return nil, nil
	case chosen != nil && strings.HasPrefix(chosen.Kind, "allow-"):
		o.Action, answered.By = protocol.Allow, protocol.ByPerson
	case answer.Text != "":
		answered.Text = clipAnswer(answer.Text)
		refuse(protocol.ByPerson, "denied by the person: "+answered.Text)
	default:
		refuse(protocol.ByPerson, withReason("denied by the person", reason))
	}
	if chosen != nil {
		answered.Option = chosen.Kind
	}
	return chosen, nil
}

// approve asks when no tool runs. The run's time stands still meanwhile.
func (p *person) approve(ctx context.Context, question Question) (answer Answer, expired bool, err error) {
	done, err := p.exclusion.BeginQuestion(ctx)
	if err != nil {
		return Answer{}, false, err
	}
	defer done()
	limited, cancel := ctx, context.CancelFunc(func() {})
	if p.timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, p.timeout)
	}
	defer cancel()
	defer p.limits.Pause()()
	answer, err = p.approver.Approve(limited, question)
	return answer, limited.Err() != nil, err
}

// approverQueue asks a person one question at a time: sub-agents that work at the same time share
// the person.
type approverQueue struct {
	person Approver
	turn   chan struct{} // holds one while a question is asked
}

// oneAtATime returns an approver that is asked one question at a time; nil stays nil.
func oneAtATime(person Approver) Approver {
	if person == nil {
		return nil
	}
	return &approverQueue{person, make(chan struct{}, 1)}
}

func (q *approverQueue) Approve(ctx context.Context, question Question) (Answer, error) {
	if ctx.Err() != nil {
		return Answer{}, context.Cause(ctx) // nobody waits for an answer
	}
	select {
	case q.turn <- struct{}{}:
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
	defer func() { <-q.turn }()
	return q.person.Approve(ctx, question)
}

// personCall is a tool call that a person makes.
type personCall struct {
	run  *agentRun
	name string
	args protocol.RawMessage
}

// byHand is a whole run: the call.
func (p *personCall) byHand(ctx context.Context) {
	r := p.run
	r.began = time.Now()
	err := r.sessionStart(ctx)
	if err == nil {
		err = p.make(ctx)
	}
	r.result = Result{StopReason: "done", Usage: r.usage.Sum()}
	end := r.endOf(ctx, err)
	switch {
	case end == nil:
	case end.stopReason == "":
		r.result.StopReason, r.err = "", &Error{Cause: end.cause, By: end.by, Message: end.message, err: end.err}
	default:
		r.result.StopReason, r.err = end.stopReason, end.err
	}
}

// IsPersonCall reports whether a message of a conversation tells of a tool call that the
// person made, so that it is no prompt. The message's first part names the call.
func IsPersonCall(m *protocol.Message) bool { return conversation.IsPersonCall(m) }

// make makes the call, and tells the conversation of it unless it was refused.
func (p *personCall) make(ctx context.Context) error {
	r := p.run
	r.refreshTools(ctx, false)
	t, description, known := r.agent.tools.Lookup(p.name)
	c := &toolCall{kept: true, Call: protocol.Call{ // no call of the model is there whose args could be replaced
		ToolCallID: "user-" + protocol.NewID(), Name: p.name, Kind: description.Kind, Server: description.Server, Args: p.args, Source: "user",
	}}
	if known && r.agent.tools.Allows(p.name) {
		c.tool = t
	}
	calls := &toolCalls{agent: r.agent, events: r.events, list: []*toolCall{c}, byPerson: true}
	ran := calls.admit(ctx, c)
	if ran {
		calls.execute(ctx, c)
	}
	if !ran && !c.judged {
		r.events.contextDropped(r.events.afterEnd(ctx), c.context)
	} else if err := r.agent.history.Add(conversation.PersonCall(&c.Call, c.result, c.context)); err != nil {
		return internal(err)
	}
	if err := calls.end.err; err != nil && calls.end.by == "" { // no decision; a refusal ends nothing here
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.runRecipes(ctx)
}

// maxAnswer bounds what a person says with a refusal, in bytes.
const maxAnswer = 16 << 10

func clipAnswer(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if len(text) <= maxAnswer {
		return text
	}
	return strings.ToValidUTF8(text[:maxAnswer], "") + " …"
}

// notice is the question on one line, for a person who is elsewhere: who asks, which tool,
// and what it is to do.
func (q *Question) notice() string {
	text := q.whoAsks() + " asks before "
	if q.Call == nil {
		text += string(q.Event)
	} else {
		text += q.Call.Name + " " + brief(q.Call)
	}
	return withReason(strings.TrimSpace(text), q.Text)
}

func (q *Question) whoAsks() string {
	name, isHook := strings.CutPrefix(q.AskedBy, "hook:")
	if !isHook {
		return "hookd"
	}
	return WhoseHook(q.Layer, name)
}

// WhoseHook names a hook with its layer, for a person.
func WhoseHook(layer protocol.Layer, name string) string {
	switch layer {
	case protocol.Managed:
		return "the machine's hook " + name
	case protocol.User:
		return "your hook " + name
	case protocol.Project:
		return "the project's hook " + name
	case protocol.Builtin:
		return "hookd's own hook " + name
	}
	return "the hook " + name
}

// brief is what a call is to do, shortened: its command or its path, else its args.
func brief(c *protocol.Call) string {
	var args struct {
		Command string `json:"command"`
		Path    string `json:"path"`
	}
	_ = json.Unmarshal(c.Args, &args)
	return shortened(cmp.Or(args.Command, args.Path, string(c.Args)), 200)
}

// shortened returns the beginning of a text, with how much is left out. A character that
// cannot be seen is written as its code.
func shortened(text string, most int) string {
	var b strings.Builder
	n := 0
	for _, c := range text {
		n++
		switch {
		case n > most:
		case unicode.IsGraphic(c) && (c == ' ' || !unicode.IsSpace(c)):
			b.WriteRune(c)
		default:
			fmt.Fprintf(&b, `\u{%x}`, c)
		}
	}
	if n > most {
		fmt.Fprintf(&b, " … %d more characters", n-most)
	}
	return b.String()
}

// withReason returns what happened with a hook's reason after it, if the hook gave one.
func withReason(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + " (" + reason + ")"
}
