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
	began   time.Time
	call    protocol.Call
	started chan struct{} // closed when hooks have seen a start that nobody waited for, nil: they have

	// The session's lock guards the rest.
	judged   bool                // hooks were asked about its start
	judgedOn protocol.RawMessage // its args as the agent wrote them then, nil: it showed none
	runs     bool                // the agent says so
	refused  bool                // by hooks, or by the person
	ended    bool
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
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, member := range jsonspan.Members(update) {
		if !strings.EqualFold(member.Name, "toolCallId") {
			continue
		}
		id := jsonspan.Text(member.Value)
		if s.work.tools[id] == nil {
			s.work.keep(&tool{session: s, id: id, began: time.Now()})
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
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.work.tools[id]
	if t == nil {
		t = &tool{session: s, id: id, began: time.Now()}
		s.work.keep(t)
	}
	if again(t) {
		before := t.shown
		if t.ended && !isChange(update) {
			before = shown{}
		}
		t = &tool{session: s, id: id, began: time.Now(), shown: before, started: t.started}
		s.work.tools[id] = t
	}
	if !t.ended {
		t.shown.merge(update, vocabulary)
	}
	return t
}

func isChange(update protocol.RawMessage) bool {
	return acp.UpdateKind(jsonspan.Text(jsonspan.Get(update, "sessionUpdate"))) == acp.ToolCallChanged
}

// hasOtherArgs reports whether args are others than those that hooks were asked about.
func (t *tool) hasOtherArgs(args protocol.RawMessage) bool {
	return t.judged && !isNothing(args) && (t.judgedOn == nil || !jsonspan.Equal(args, t.judgedOn))
}

// keep remembers a call by its id; one without an id is a call of its own.
func (w *work) keep(t *tool) {
	if t.id == "" {
		return
	}
	if len(w.tools) >= mostTools {
		for old := range w.tools {
			delete(w.tools, old)
			break
		}
	}
	w.tools[t.id] = t
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
		t.failed(t.call, protocol.CallError{Kind: protocol.CallFailed, Text: outputOf(update)}, nil)
	default:
		data := protocol.ToolCallEndData{Call: t.call, Result: protocol.Result{Content: protocol.TextContent(outputOf(update))}, DurationMs: t.took()}
		decide := t.afterStart(s.Begin(s.guard.life, protocol.ToolCallEnd, data, losing(lostOfResult)))
		s.guard.background.observe(decide, func(o *protocol.Outcome) {
			if o.Action == protocol.Stop {
				s.cancelTurn(fmt.Sprintf("%s ends the turn: %s", proxied.Who(o), o.RefusalText()))
			}
		})
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
	data := protocol.ToolCallStartData{Call: call, Parallel: 1}
	ctx, cancel := lasting(s.guard.life)
	started := make(chan struct{})
	t.started = started
	s.guard.background.observe(s.Begin(ctx, protocol.ToolCallStart, data, losing(lostUnasked(runs, how))), func(o *protocol.Outcome) {
		if runs && unreadable && !o.Refused() {
			s.cancelTurn(fmt.Sprintf("hooks cannot judge a call that the agent ran %s: %v", how, err), passed)
			return
		}
		if runs && (o.Refused() || o.Replaced != nil || !jsonspan.Equal(jsonspan.Get(o.Event.Data, "args"), call.Args)) {
			s.cancelTurn(fmt.Sprintf("%s does not let %s be, which the agent ran %s: %s", proxied.Who(o), what(&call), how, o.RefusalText()), passed)
		}
	}, cancel, func() { close(started) })
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

// failed tells hooks that the call has no result.
func (t *tool) failed(call protocol.Call, problem protocol.CallError, by *string) {
	s := t.session
	s.mu.Lock()
	t.ended = true
	s.mu.Unlock()
	data := protocol.ToolCallErrorData{Call: call, Error: problem, BlockedBy: by, DurationMs: t.took()}
	s.guard.background.observe(t.afterStart(s.BeginDetached(s.guard.life, protocol.ToolCallError, data)), nil)
}

// afterStart has an event of the call decided after its start.
func (t *tool) afterStart(decide func() (*protocol.Outcome, error)) func() (*protocol.Outcome, error) {
	started := t.started
	if started == nil {
		return decide
	}
	return func() (*protocol.Outcome, error) {
		<-started
		return decide()
	}
}

func (t *tool) took() float64 { return protocol.Milliseconds(time.Since(t.began)) }

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

// lost says what of an outcome cannot be carried out between a client and an agent.
func lost(o *protocol.Outcome) (list []string) {
	lose := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	who := proxied.Who(o)
	switch o.Event.Event {
	case protocol.PromptSubmit:
		if o.Action == protocol.Ask {
			lose("%s wants a person to decide about a prompt, and an ACP proxy cannot ask that: refused", who)
		}
	case protocol.ToolCallStart, protocol.PermissionRequest, protocol.ToolCallEnd:
		for _, c := range o.Context {
			lose("the hook %s gives text to the model, and an ACP proxy cannot at %s", c.Hook, o.Event.Event)
		}
	case protocol.ToolCallError:
		if len(o.Changes) > 0 || len(o.Context) > 0 {
			lose("hooks change what the model reads of a failed call, and an ACP proxy cannot")
		}
	case protocol.AgentEnd:
		if o.Action == protocol.Continue {
			lose("%s wants another run after the end of this one, and an ACP proxy cannot begin it: answer agent-stop", who)
		}
	}
	if o.Callback != nil {
		lose("%s asked for the recipe %q, which an ACP proxy cannot run", who, o.Callback.Name)
	}
	return list
}

// losing has another function say what is lost of an outcome.
func losing(lost func(*protocol.Outcome) []string) func(*protocol.Event) {
	return func(event *protocol.Event) { event.Lost = lost }
}

// lostUnasked says what is lost of the outcome of a call that the agent began so. Of one that has failed already nothing is cancelled.
func lostUnasked(runs bool, how string) func(*protocol.Outcome) []string {
	then := ": it may have been done; the turn is cancelled"
	if !runs {
		then = " and that has failed"
	}
	return func(o *protocol.Outcome) []string {
		list := lost(o)
		if o.Refused() {
			list = append(list, proxied.Who(o)+" refuses a call that the agent began "+how+then)
		} else if len(o.Changes) > 0 || o.Replaced != nil {
			list = append(list, "hooks change a call that the agent began "+how+", and an ACP proxy cannot"+then)
		}
		return list
	}
}

// lostOfResult says what is lost of the outcome of a result that the agent has already.
func lostOfResult(o *protocol.Outcome) []string {
	list := lost(o)
	if o.Withholds() || len(o.Changes) > 0 {
		list = append(list, fmt.Sprintf("%s withholds or changes a result that the agent has already, and an ACP proxy cannot", proxied.Who(o)))
	}
	return list
}

// refusal is what the agent reads of a refusal.
func refusal(o *protocol.Outcome) string {
	if o.Action == protocol.Ask && o.Failure == "" {
		return "a person has to decide this, and nobody can be asked here: " + o.RefusalText()
	}
	return o.RefusalText()
}
