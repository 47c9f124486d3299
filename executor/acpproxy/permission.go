package acpproxy

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// permission decides a request of the agent for permission: hooks may refuse it, or grant it
// where they may speak for the person; else the person is asked.
func (g *guard) permission(m *relay.Message, r *request) (relay.Decision, error) {
	p, err := readParams(m, "sessionId", "toolCall", "options")
	if err != nil {
		return relay.Decision{}, err
	}
	about := p.get("toolCall")
	if jsonspan.Kind(about) != '{' {
		return relay.Decision{}, fmt.Errorf("the request for permission is about no tool call")
	}
	if err := unambiguous(about, judgedOfTool); err != nil {
		return relay.Decision{}, err
	}
	s, err := g.session(p.text("sessionId"))
	if err != nil {
		return relay.Decision{}, err
	}
	options, err := optionsOf(p.get("options"))
	if err != nil {
		return relay.Decision{}, err
	}
	t := s.tool(about, func(t *tool) bool { return t.judged })
	ask := &permission{tool: t, request: r, options: options, settled: make(chan struct{})}
	call, err := t.shown.call(t.id)
	if err != nil {
		return relay.Decision{}, err
	}
	t.call, ask.call, ask.title = call, call, t.shown.title
	if err := ask.readOthers(); err != nil {
		return relay.Decision{}, err
	}
	s.mu.Lock()
	t.judged, t.judgedOn, t.refused, t.gaveUp, t.ended = true, t.shown.rawInput, false, false, false
	s.mu.Unlock()
	ctx, giveUp := context.WithCancelCause(s.asking())
	ask.judgement = judgement{ctx: ctx, stop: giveUp}
	r.Call.answered, r.Call.gaveUp, r.Call.unsent = ask.answered, ask.gaveUp, ask.unsent
	decide := t.starts(ctx, call)
	return relay.Later(r.Call.lane, func() relay.Decision { return ask.judge(m, p, decide) }), nil
}

// permission is a request for permission, until the agent has its answer.
type permission struct {
	judgement
	tool    *tool
	call    protocol.Call
	request *request
	options []option
	title   string
	others  []*protocol.Call // that it may be about as well, and that are judged, too

	open    sync.WaitGroup // its events of permission-request that are not decided
	once    sync.Once
	settled chan struct{} // closed when came is known
	came    answer        // the person's, zero: hookd answered the request
}

// readOthers reads what else the request may be about.
func (a *permission) readOthers() error {
	for i := range a.tool.shown.others {
		call, err := a.tool.shown.others[i].call(a.tool.id)
		if err != nil {
			return err
		}
		if call.Name != a.call.Name || !jsonspan.Equal(call.Args, a.call.Args) {
			a.others = append(a.others, &call)
		}
	}
	return nil
}

// judge decides whether the person is asked.
func (a *permission) judge(m *relay.Message, p *params, decide func() (*protocol.Outcome, error)) relay.Decision {
	granted, done := a.judgeCall(&a.call, decide)
	for _, other := range a.others {
		if done != nil {
			break
		}
		var also bool
		also, done = a.judgeCall(other, a.tool.starts(a.ctx, *other))
		granted = granted && also
	}
	if done != nil {
		return *done
	}
	if once, is := choose(a.options, "allow_once"); is && granted {
		return a.answer(object(texts("outcome", "selected"), texts("optionId", once.id)))
	}
	return a.unlessGone(p.line(m), func() {
		a.forgo(errCancelled)
		if g := a.tool.session.guard; g.asked[relay.Server].Remove(a.request) {
			g.send(relay.Server, a.line(cancelledOutcome))
		}
	})
}

// judgeCall has hooks judge a call. done, if not nil, is what becomes of the request; else hooks
// grant it, or the person decides.
func (a *permission) judgeCall(call *protocol.Call, decide func() (*protocol.Outcome, error)) (granted bool, done *relay.Decision) {
	is := func(d relay.Decision) (bool, *relay.Decision) { return false, &d }
	o, err := decide()
	if err != nil {
		return is(a.undecided(err))
	}
	if problem := cannotRun(call, o); problem != "" {
		return is(a.refuse(problem, o))
	}
	q := &question{call: call, text: a.title, options: a.options}
	if o.Action == protocol.Ask {
		q.by = &protocol.Asker{Name: *o.By, Layer: o.DecidedLayer(), Reason: o.Reason}
	}
	open, o, err := a.put(q)
	switch {
	case open:
		return false, nil
	case err != nil:
		return is(a.undecided(err))
	case o.Action != protocol.Allow:
		return is(a.refuse(o.RefusalText(), o))
	}
	return true, nil
}

// put has hooks answer a question. open reports whether they leave it to the person. Then its event
// goes on until the person has answered, while the request is on its way: nothing waits for the two.
func (a *permission) put(q *question) (open bool, o *protocol.Outcome, err error) {
	type decision struct {
		o   *protocol.Outcome
		err error
	}
	s, left, decided := a.tool.session, make(chan struct{}), make(chan decision, 1)
	q.person = func() (answer, error) {
		close(left)
		return a.await()
	}
	a.open.Add(1)
	s.guard.background.Go(func() {
		defer a.open.Done()
		o, err := s.put(a.ctx, q)
		decided <- decision{o, err}
	})
	select {
	case <-left:
		return true, nil, nil
	case d := <-decided:
		select {
		case <-left: // and nobody waits for the answer
			return true, nil, nil
		default:
			return false, d.o, d.err
		}
	}
}

// await waits for the person's answer. Of too many questions at once the record holds none.
func (a *permission) await() (answer, error) {
	questions := a.tool.session.guard.background.questions
	select {
	case questions <- struct{}{}:
		defer func() { <-questions }()
	default:
		return answer{}, nil
	}
	select {
	case <-a.settled:
	case <-a.ctx.Done():
		select {
		case <-a.settled: // it has just come
		default:
			return a.unanswered()
		}
	}
	return a.came, nil
}

// settle ends the question. What comes later means nothing.
func (a *permission) settle(came answer) {
	a.once.Do(func() {
		a.came = came
		close(a.settled)
	})
}

// cannotRun returns why a call may not run, by what hooks said at its start; "" if it may,
// or a person is to decide.
func cannotRun(call *protocol.Call, o *protocol.Outcome) string {
	args := jsonspan.Get(o.Event.Data, "args")
	switch {
	case o.Refused() && !(o.Action == protocol.Ask && o.Failure == ""):
		return o.RefusalText()
	case o.Replaced != nil:
		return fmt.Sprintf("the hook %s answers in the tool's place, and an agent takes no such answer through ACP", o.ReplacedBy)
	case !jsonspan.Equal(args, call.Args):
		return "hooks changed what the call would do, and an agent takes no change of it through ACP"
	}
	return ""
}

// refuse answers the agent that the call may not run, and tells the person why.
func (a *permission) refuse(reason string, o *protocol.Outcome) relay.Decision {
	t := a.tool
	s := t.session
	by := ""
	if o.By != nil {
		by = *o.By
	}
	s.mu.Lock()
	t.refused = true
	s.mu.Unlock()
	t.failed(protocol.CallError{Kind: protocol.CallBlocked, Text: reason}, &by)
	s.tell(fmt.Sprintf("%s refused %s: %s", proxied.Who(o), what(&a.call), proxied.Explain(o, reason)))
	if o.Action == protocol.Stop {
		defer s.cancelTurn(proxied.Who(o) + " ends the turn")
	}
	meta := member{"_meta", object(member{"hookd", object(texts("by", by), texts("reason", reason))})}
	no, is := choose(a.options, "reject_once", "reject_always")
	if !is {
		s.guard.options.note(fmt.Sprintf("%s was refused, and the agent offers no option to reject it: it was answered as cancelled", what(&a.call)))
		return a.answer(cancelledOutcome)
	}
	return a.answer(object(texts("outcome", "selected"), texts("optionId", no.id), meta))
}

// undecided answers the agent that nobody has decided.
func (a *permission) undecided(err error) relay.Decision {
	a.forgo(err)
	return a.answer(cancelledOutcome)
}

// forgo takes that nobody decides about the call. If it runs all the same, it is judged as one that
// the agent did not ask about.
func (a *permission) forgo(err error) {
	t := a.tool
	t.session.mu.Lock()
	t.judged, t.gaveUp = false, true
	t.session.mu.Unlock()
	t.lost(proxied.Aborted(err.Error()), nil)
}

// answer answers the agent in the person's place.
func (a *permission) answer(outcome protocol.RawMessage) relay.Decision {
	a.settle(answer{})
	a.stop(nil)
	if !a.tool.session.guard.asked[relay.Server].Remove(a.request) {
		return relay.Drop()
	}
	return relay.Answer(a.line(outcome))
}

func (a *permission) line(outcome protocol.RawMessage) []byte {
	return relay.ResultLine(a.request.ID, object(member{"outcome", outcome}))
}

// cancelledOutcome answers what nobody has answered.
var cancelledOutcome = object(texts("outcome", "cancelled"))

// answered takes the person's answer, which passes at once. What hooks are told of the call from
// now on comes after what they are told of the answer.
func (a *permission) answered(m *relay.Message) relay.Decision {
	came := answerOf(m, a.options)
	t := a.tool
	t.session.mu.Lock()
	t.answered = a.open.Wait
	t.refused = t.refused || !came.yes
	t.session.mu.Unlock()
	a.settle(came)
	a.stop(nil)
	if !came.yes {
		kind := protocol.CallDenied
		if came.option == "" {
			kind = protocol.CallAborted
		}
		t.failed(protocol.CallError{Kind: kind, Text: came.words}, nil)
	}
	return relay.Pass(m.Line)
}

// askPerson asks the person about something that the agent has the client do: the call as it will
// run, nothing left out, with who asks and why.
func (c *clientCall) askPerson(call *protocol.Call, o *protocol.Outcome) (answer, error) {
	s := c.session
	why := proxied.Who(o) + " asks before " + call.Name + " runs"
	if o.Reason != "" {
		why += ": " + o.Reason
	}
	what := cmp.Or(jsonspan.Text(jsonspan.Get(call.Args, "command")), jsonspan.Text(jsonspan.Get(call.Args, "path")))
	content := []protocol.RawMessage{toolText(text.Line(why)), toolText(fenced(shownArgs(call.Args)))}
	about := object(texts("toolCallId", call.ToolCallID), texts("title", text.Line(call.Name+" "+text.Shorten(what, 200))), texts("kind", kindFor[call.Kind]), texts("status", "pending"),
		member{"content", jsonspan.JoinList(content)}, member{"rawInput", call.Args})
	var list []protocol.RawMessage
	for _, o := range personOptions {
		list = append(list, object(texts("optionId", o.id), texts("name", o.name), texts("kind", o.kind)))
	}
	m, err := s.guard.await(c.ctx, relay.Client, acp.SessionRequestPermission, object(texts("sessionId", s.id), member{"toolCall", about}, member{"options", jsonspan.JoinList(list)}))
	if err != nil {
		return c.unanswered()
	}
	if !m.Strict { // of two answers none counts
		m = &relay.Message{}
	}
	return answerOf(m, personOptions), nil
}

// kindFor are the kinds of what the agent has the client do, in the protocol's words.
var kindFor = map[protocol.ToolKind]string{protocol.KindRead: string(acp.KindRead), protocol.KindWrite: string(acp.KindEdit), protocol.KindShell: string(acp.KindExecute)}

func toolText(words string) protocol.RawMessage {
	return object(texts("type", "content"), member{"content", textBlock(words)})
}

// shownArgs are args as a person reads them: a text as it is, anything else as JSON.
func shownArgs(args protocol.RawMessage) string {
	var lines []string
	for _, m := range jsonspan.Members(args) {
		value := string(m.Value)
		if jsonspan.Kind(m.Value) == '"' {
			value = strings.ReplaceAll(jsonspan.Text(m.Value), "\n", "\n  ") // no line of it passes for another arg
		}
		lines = append(lines, m.Name+": "+value)
	}
	return strings.Join(lines, "\n")
}

// fenced puts a text between fences that it does not hold.
func fenced(words string) string {
	fence := "```"
	for strings.Contains(words, fence) {
		fence += "`"
	}
	return fence + "\n" + text.Visible(words) + "\n" + fence
}

var personOptions = []option{{"allow", "Allow", "allow_once"}, {"reject", "Reject", "reject_once"}}
