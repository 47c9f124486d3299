package acpproxy

import (
	"strconv"
	"sync"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

const (
	terminalCreate  = "terminal/create"
	terminalOutput  = "terminal/output"
	terminalRelease = "terminal/release"
)

// terminal is a command that the client runs for the agent.
type terminal struct {
	call *clientCall
	// holds reports whether hooks may withhold or change the output: the agent reads none
	// before the command has ended and they have judged it.
	holds bool

	mu      sync.Mutex
	last    string // output
	decide  func() // once the command has ended
	output  string // as hooks left it
	refused string // why the agent reads none, "" if it does
}

// keepTerminal takes the client's answer that a command runs.
func (s *session) keepTerminal(c *clientCall, m *relay.Message) {
	id := jsonspan.Text(jsonspan.Get(m.Result, "terminalId"))
	t := &terminal{call: c, holds: s.MayChange(protocol.ToolCallEnd, protocol.ToolCallEndData{Call: c.Call})}
	s.mu.Lock()
	before := s.work.terminals[id]
	s.work.terminals[id] = t
	s.mu.Unlock()
	if before != nil {
		before.gone()
	}
}

// terminalCall decides a request of the agent about a command that runs.
func (g *guard) terminalCall(m *relay.Message, r *request) (relay.Decision, error) {
	p, err := readParams(m, "sessionId", "terminalId")
	if err != nil {
		return relay.Decision{}, err
	}
	id := p.text("terminalId")
	t := g.sessions.terminal(p.text("sessionId"), id)
	switch {
	case t == nil:
	case m.Method == terminalOutput:
		r.Call.answered = func(answer *relay.Message) relay.Decision { return t.read(r, answer) }
	case m.Method == terminalRelease:
		r.Call.answered = func(answer *relay.Message) relay.Decision {
			if answer.Error == nil {
				t.released(id)
			}
			return relay.PassIn(r.Call.lane, answer.Line)
		}
	}
	return relay.PassIn(r.Call.lane, p.line(m)), nil
}

// terminal returns the command with an id: that of the session, or else that of another one,
// which a client may know by its id alone. nil: there is none.
func (all *sessions) terminal(of, id string) (found *terminal) {
	look := func(s *session) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t := s.work.terminals[id]; t != nil && (found == nil || s.id == of) {
			found = t
		}
	}
	all.each(look)
	return found
}

// released takes that the client has forgotten the command.
func (t *terminal) released(id string) {
	s := t.call.session
	s.mu.Lock()
	if s.work.terminals[id] == t {
		delete(s.work.terminals, id)
	}
	s.mu.Unlock()
	t.gone()
}

// read takes the client's answer with the output so far.
func (t *terminal) read(r *request, m *relay.Message) relay.Decision {
	pass := relay.Pass(m.Line)
	if m.Error != nil {
		return pass
	}
	if !m.Strict {
		return relay.Pass(relay.ErrorLine(r.ID, codeInternal, "hookd: "+errUnreadableAnswer.Error()))
	}
	status := jsonspan.Get(m.Result, "exitStatus")
	output := jsonspan.Text(jsonspan.Get(m.Result, "output"))
	t.mu.Lock()
	t.last = output
	t.mu.Unlock()
	switch {
	case isNothing(status) && t.holds:
		return relay.Pass(m.With("result", relay.Replace(m.Result, "output", []byte(`""`))))
	case isNothing(status):
		return pass
	}
	decide := t.ended(status)
	return relay.Later("", func() relay.Decision {
		decide()
		t.mu.Lock()
		defer t.mu.Unlock()
		switch {
		case t.refused != "":
			return relay.Pass(m.With("result", relay.Replace(m.Result, "output", jsonspan.Quote("hookd: "+t.refused))))
		case t.output != output:
			return relay.Pass(m.With("result", relay.Replace(m.Result, "output", jsonspan.Quote(t.output))))
		}
		return relay.Pass(m.Line)
	})
}

// ended has hooks judge the output of a command that has ended, once. It returns what waits
// for them.
func (t *terminal) ended(status protocol.RawMessage) func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.decide != nil {
		return t.decide
	}
	c, output := t.call, t.last
	result := protocol.Result{Content: protocol.TextContent(output)}
	if code, err := strconv.Atoi(string(jsonspan.Get(status, "exitCode"))); err == nil {
		result.ExitCode, result.IsError = &code, code != 0
	}
	decide := c.told.Result(c.session.guard.life, result, false)
	if decide == nil {
		decide = func() (*protocol.Outcome, error) { return nil, errEnded }
	}
	t.decide = sync.OnceFunc(func() {
		o, err := decide()
		t.mu.Lock()
		defer t.mu.Unlock()
		switch {
		case err != nil:
			t.refused = "the output was withheld: " + err.Error()
		case o.Withholds():
			t.refused = refusal(o)
		default:
			t.output = contentText(jsonspan.Get(o.Event.Data, "result"))
		}
	})
	return t.decide
}

// gone tells hooks of a command that the agent has read to no end.
func (t *terminal) gone() {
	t.mu.Lock()
	over, output := t.decide != nil, t.last
	if !over {
		t.decide = func() {}
	}
	t.mu.Unlock()
	if over {
		return
	}
	c := t.call
	result := protocol.Result{Content: protocol.TextContent(output)}
	c.session.guard.background.observe(c.told.Result(c.session.guard.life, result, false, proxied.Detached), nil)
}
