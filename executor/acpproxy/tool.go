package acpproxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// mostTools bounds the calls of a session that are remembered. The agent has them end.
const mostTools = 4096

// tool is a tool call of the agent.
type tool struct {
	session *session
	id      string
	shown   shown
	call    protocol.Call

	// The session's lock guards the rest.
	told     []*proxied.Call     // what hooks are told of it: one for each way in which it can be read
	judged   bool                // hooks were asked about its start
	judgedOn protocol.RawMessage // its args as the agent wrote them then, nil: it showed none
	runs     bool                // the agent says so
	refused  bool                // by hooks, or by the person
	gaveUp   bool                // the agent asked, and did not wait for the answer
	ended    bool
	answered func() // waits until hooks are told what the person has answered, nil: nothing yet
}

// starts has hooks see the start of the call, read in one way. begin returns what decides that.
func (t *tool) starts(ctx context.Context, call protocol.Call, add ...func(*protocol.Event)) func() (*protocol.Outcome, error) {
	told := t.session.NewCall(call)
	t.session.mu.Lock()
	t.told = append(t.told, told)
	t.session.mu.Unlock()
	return told.Start(ctx, add...)
}

// ends takes what hooks are told of the call: it has ended for them. What ends it is decided after
// what the person has answered.
func (t *tool) ends(end func(*proxied.Call) func() (*protocol.Outcome, error)) (decide []func() (*protocol.Outcome, error)) {
	t.session.mu.Lock()
	told, answered := t.told, t.answered
	t.told = nil
	t.session.mu.Unlock()
	for _, one := range told {
		decided := end(one)
		if decided == nil {
			continue
		}
		decide = append(decide, func() (*protocol.Outcome, error) {
			if answered != nil {
				answered()
			}
			return decided()
		})
	}
	return decide
}

// update looks at an update of a session. It passes whatever hooks say of it. What hookd tells
// of it comes after it: passed, if not nil, is to be closed when it has been passed on.
func (g *guard) update(m *relay.Message) (passed chan struct{}) {
	s := g.sessions.get(jsonspan.Text(jsonspan.Get(m.Params, "sessionId")))
	if s == nil {
		return nil
	}
	update := jsonspan.Get(m.Params, "update")
	s.mu.Lock()
	history := s.work.loading > 0
	s.mu.Unlock()
	switch acp.UpdateKind(jsonspan.Text(jsonspan.Get(update, "sessionUpdate"))) {
	case acp.AgentMessageChunk:
		s.said(jsonspan.Text(jsonspan.Find(update, "/content/text")))
	case acp.ToolCallBegun, acp.ToolCallChanged:
		if !history {
			return s.toolChanged(update, !isReadable(m, update))
		}
	case acp.ModeChanged, "config_option_update":
		s.modeChanged(update)
	}
	return nil
}

// unreadable takes an update that can be read in two ways, by each id that it has: no question
// about these calls can be judged.
func (s *session) unreadable(update protocol.RawMessage) {
	var forgotten []*tool
	defer func() { lose(forgotten, forgottenTool) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, member := range jsonspan.Members(update) {
		if !strings.EqualFold(member.Name, "toolCallId") {
			continue
		}
		id := jsonspan.Text(member.Value)
		if s.work.tools[id] == nil {
			forgotten = append(forgotten, s.work.keep(&tool{session: s, id: id})...)
		}
		if t := s.work.tools[id]; t != nil {
			t.shown.unreadable = true
		}
	}
}

// isReadable reports whether there is one way to read what an update says of a tool call.
// Output that is not valid UTF-8 does no harm.
func isReadable(m *relay.Message, update protocol.RawMessage) bool {
	if unambiguous(m.Params, []string{"sessionId", "update"}) != nil || unambiguous(update, judgedOfTool) != nil {
		return false
	}
	if m.Strict {
		return true
	}
	for _, of := range []protocol.RawMessage{m.Params, update} {
		names := map[string]bool{}
		for _, member := range jsonspan.Members(of) {
			if names[member.Name] {
				return false
			}
			names[member.Name] = true
		}
	}
	judged := []string{"rawInput", "locations", "_meta"}
	if diffsOf(jsonspan.Get(update, "content")) != nil {
		judged = append(judged, "content")
	}
	for _, name := range judged {
		if part := jsonspan.Get(update, name); part != nil && !jsonspan.Valid(jsonspan.ReplaceLoneSurrogates(slices.Clone(part))) {
			return false
		}
	}
	return true
}

// tool returns the call that an update or a request is about, with what that says of it.
// again reports whether a call that is known makes place for another one with its id, of which
// what is said now is all that is known, unless it is an update.
func (s *session) tool(update protocol.RawMessage, again func(*tool) bool) *tool {
	id := jsonspan.Text(jsonspan.Get(update, "toolCallId"))
	vocabulary := ""
	if name := s.guard.vocabulary.Load(); name != nil {
		vocabulary = *name
	}
	var forgotten, replaced []*tool
	s.mu.Lock()
	t := s.work.tools[id]
	if t == nil {
		t = &tool{session: s, id: id}
		forgotten = s.work.keep(t)
	}
	if again(t) {
		before := t.shown
		if t.ended && !isChange(update) {
			before = shown{}
		}
		replaced = append(replaced, t)
		t = &tool{session: s, id: id, shown: before}
		s.work.tools[id] = t
	}
	if !t.ended {
		t.shown.merge(update, vocabulary)
	}
	s.mu.Unlock()
	lose(forgotten, forgottenTool)
	lose(replaced, "the agent begins another call with its id")
	return t
}

func isChange(update protocol.RawMessage) bool {
	return acp.UpdateKind(jsonspan.Text(jsonspan.Get(update, "sessionUpdate"))) == acp.ToolCallChanged
}

// hasOtherArgs reports whether args are others than those that hooks were asked about.
func (t *tool) hasOtherArgs(args protocol.RawMessage) bool {
	return t.judged && !isNothing(args) && (t.judgedOn == nil || !jsonspan.Equal(args, t.judgedOn))
}

// forgottenTool is why a call has ended that makes place for others.
const forgottenTool = "the agent has too many other calls"

// lose tells hooks of calls of which nobody will hear how they end.
func lose(tools []*tool, why string) {
	for _, t := range tools {
		t.lost(proxied.Aborted(why), nil)
	}
}

// keep remembers a call by its id; one without an id is a call of its own. It returns those that
// it forgets.
func (w *work) keep(t *tool) (forgotten []*tool) {
	if t.id == "" {
		return nil
	}
	if len(w.tools) >= mostTools {
		var one *tool
		for _, one = range w.tools {
			if one.ended { // what is known of the others may be all that hooks judge them by
				break
			}
		}
		delete(w.tools, one.id)
		forgotten = append(forgotten, one)
	}
	w.tools[t.id] = t
	return forgotten
}

// toolChanged takes what an update says of a tool call. A call that runs, and that the agent
// did not ask about, is judged now: it can no longer be stopped by itself.
func (s *session) toolChanged(update protocol.RawMessage, unreadable bool) (passed chan struct{}) {
	status := acp.ToolStatus(jsonspan.Text(jsonspan.Get(update, "status")))
	runs := status == acp.ToolRuns || status == acp.ToolCompleted
	begins := !isChange(update) && status != acp.ToolCompleted && status != acp.ToolFailed
	t := s.tool(update, func(t *tool) bool {
		return t.ended && (begins || runs && t.hasOtherArgs(jsonspan.Get(update, "rawInput")))
	})
	if t.shown.unreadable = t.shown.unreadable || unreadable; unreadable {
		s.unreadable(update)
	}
	is := t.becomes(status)
	if is.unjudged != "" {
		passed = make(chan struct{})
		t.unasked(is.runs, is.unjudged, passed)
	}
	if is.allTheSame {
		s.guard.options.note(fmt.Sprintf("the agent says that it completed %s, which was refused", what(&t.call)))
	}
	switch {
	case !is.ended || is.refused: // the hooks know
	case status == acp.ToolFailed:
		t.lost(protocol.CallError{Kind: protocol.CallFailed, Text: outputOf(update)}, nil)
	default:
		t.completed(outputOf(update))
	}
	if is.ended { // what else it was is not remembered
		t.shown = shown{agent: t.shown.agent, name: t.shown.name, kind: t.shown.kind}
	}
	return passed
}

// change is what becomes of a call by an update.
type change struct {
	runs       bool
	ended      bool   // it had not
	refused    bool   // and hooks know
	allTheSame bool   // it was completed although it was refused
	unjudged   string // how it began what hooks were not asked about, "" if they were
}

// becomes takes the status that an update tells of a call, "" if it tells none.
func (t *tool) becomes(status acp.ToolStatus) (is change) {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	over := status == acp.ToolCompleted || status == acp.ToolFailed
	t.runs = status == acp.ToolRuns || status == acp.ToolCompleted || status == "" && t.runs
	is.runs = t.runs
	if !is.runs && !over {
		return is
	}
	if t.gaveUp && status == acp.ToolFailed { // it never began, as hooks know
		t.judged, t.judgedOn, t.ended = true, t.shown.rawInput, true
	}
	is.ended = over && !t.ended
	is.allTheSame = t.refused && t.ended && status == acp.ToolCompleted
	if is.allTheSame { // told once
		t.refused = false
	}
	is.refused = t.refused
	switch {
	case !t.judged:
		is.unjudged = "without asking"
	case is.runs && !t.refused && !t.ended && t.hasOtherArgs(t.shown.rawInput):
		is.unjudged = "with other args than hooks were asked about"
	}
	if is.unjudged != "" {
		t.judged, t.judgedOn = true, t.shown.rawInput
	}
	t.ended = t.ended || over
	return is
}

// unasked has hooks see the start of a call that they were not asked about; how says how the agent
// began it. If they refuse it while it runs, its turn is cancelled. passed is closed when the client
// has read of it.
func (t *tool) unasked(runs bool, how string, passed <-chan struct{}) {
	s := t.session
	call, err := t.shown.call(t.id)
	unreadable := errors.Is(err, errUnreadable)
	if err != nil {
		s.guard.options.note(fmt.Sprintf("a tool call that the agent began %s cannot be shown to hooks: %v", how, err))
		call = protocol.Call{ToolCallID: t.id, Name: "tool", Kind: protocol.KindOther, Args: protocol.RawMessage("{}"), HostTool: t.shown.name}
	}
	t.call = call
	ctx, cancel := lasting(s.guard.life)
	s.guard.background.observe(t.starts(ctx, call, losing(lostUnasked(runs, how))), func(o *protocol.Outcome) {
		if runs && unreadable && !o.Refused() {
			s.cancelTurn(fmt.Sprintf("hooks cannot judge a call that the agent ran %s: %v", how, err), passed)
			return
		}
		if runs && (o.Refused() || o.Replaced != nil || !jsonspan.Equal(jsonspan.Get(o.Event.Data, "args"), call.Args)) {
			s.cancelTurn(fmt.Sprintf("%s does not let %s be, which the agent ran %s: %s", proxied.Who(o), what(&call), how, proxied.Explain(o, o.RefusalText())), passed)
		}
	}, cancel)
}

// lasting returns a context that ends a moment after another one: what has happened is told
// also at the end of a connection.
func lasting(ctx context.Context) (context.Context, func()) {
	const moment = time.Second
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(moment, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}

// completed tells hooks what the call has done.
func (t *tool) completed(output string) {
	s := t.session
	result := protocol.Result{Content: protocol.TextContent(output)}
	for _, decide := range t.ends(func(told *proxied.Call) func() (*protocol.Outcome, error) {
		return told.Result(s.guard.life, result, false, losing(lostOfResult))
	}) {
		s.guard.background.observe(decide, func(o *protocol.Outcome) {
			if o.Action == protocol.Stop {
				s.cancelTurn(fmt.Sprintf("%s ends the turn: %s", proxied.Who(o), proxied.Explain(o, o.RefusalText())))
			}
		})
	}
}

// failed ends the call with an error.
func (t *tool) failed(problem protocol.CallError, by *string) {
	t.session.mu.Lock()
	t.ended = true
	t.session.mu.Unlock()
	t.lost(problem, by)
}

// lost tells hooks that the call has no result.
func (t *tool) lost(problem protocol.CallError, by *string) {
	life := t.session.guard.life
	for _, decide := range t.ends(func(told *proxied.Call) func() (*protocol.Outcome, error) { return told.Lost(life, problem, by) }) {
		t.session.guard.background.observe(decide, nil)
	}
}

// outputOf is the text that an update shows of what a tool has done.
func outputOf(update protocol.RawMessage) (output string) {
	for _, item := range jsonspan.Elements(jsonspan.Get(update, "content")) {
		if words := jsonspan.Find(item, "/content/text"); words != nil {
			output += jsonspan.Text(words) + "\n"
		}
	}
	raw := jsonspan.Get(update, "rawOutput")
	switch {
	case output != "":
		return output[:len(output)-1]
	case jsonspan.Kind(raw) == '"':
		return jsonspan.Text(raw)
	case isNothing(raw):
		return ""
	}
	return string(raw)
}
