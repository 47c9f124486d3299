package mcpproxy

import (
	"context"
	"errors"
	"sync"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// call is one request that hooks judge as the call of a tool, from the client's request to
// its answer.
type call struct {
	protocol.Call               // as hooks read it now
	told          *proxied.Call // what hooks are told of it: one for all requests that go on with it
	asked         asked
	guard         *guard
	request       *proxied.Request[kept]
	contexts      []string // for the model, from the hooks before the call
	asking        *asking  // of a call that waits for the person, and will be made again

	ctx  context.Context
	stop context.CancelCauseFunc

	progress progress
}

// asked is what the client wrote.
type asked struct {
	method *method
	params protocol.RawMessage // of the request
	args   protocol.RawMessage // as hooks read them
	strict bool                // the bytes of the line are those of params
	modern bool                // of a revision whose results say their type
}

// progress is how far a call has come. Its messages are read, decided and cancelled on
// different goroutines.
type progress struct {
	mu    sync.Mutex
	state state
}

// to takes the call on to a state, unless the client has cancelled it.
func (p *progress) to(next state) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == cancelled {
		return false
	}
	p.state = next
	return true
}

// from takes the call from one state to another, and reports whether it was in the former.
func (p *progress) from(was, next state) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != was {
		return false
	}
	p.state = next
	return true
}

// cancel cancels the call and returns the state that it was in.
func (p *progress) cancel() state {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.state
	p.state = cancelled
	return was
}

// state is how far a call has come.
type state int

const (
	judged    state = iota // hooks are asked whether it may run, or it waits for its turn
	running                // the server has it
	ending                 // the server has answered, or the call was refused
	cancelled              // the client gave it up
)

var errCancelled = errors.New("the client cancelled the call")

// begin has hooks judge the call. before is the one that it goes on with, nil if it is a call of its
// own.
func (c *call) begin(m *relay.Message, before *call) relay.Decision {
	c.ctx, c.stop = context.WithCancelCause(c.guard.life)
	switch {
	case before == nil:
	case before.asking != nil:
		return c.takeAnswer(m, before)
	default:
		return c.goOn(m)
	}
	decide := c.told.Start(c.ctx, c.complete)
	return relay.Later(callLane, func() relay.Decision { return c.judge(m, decide) })
}

// complete adds to the event of the call what the proxy knows of its tool.
func (c *call) complete(event *protocol.Event) {
	event.CheckArgs = func(args protocol.RawMessage) error { return c.asked.method.check(c, args) }
	if c.canAsk() {
		event.Lost = lostHere
	}
}

// judge decides whether the call reaches the server, and as what.
func (c *call) judge(m *relay.Message, decide func() (*protocol.Outcome, error)) relay.Decision {
	o, err := decide()
	if err != nil {
		return c.undecided(err)
	}
	c.contexts = proxied.Contexts(o)
	args := jsonspan.Get(o.Event.Data, "args")
	if redacted := o.Redacted(); redacted != nil {
		args = redacted
	}
	if !jsonspan.Equal(args, c.Args) {
		if c.Original = c.Args; o.ArgsHidden || o.Redacted() != nil {
			c.Original = nil
		}
		c.Args = args
		c.told.Changed(c.Call)
	}
	switch {
	case o.Action == protocol.Ask && o.Failure == "" && c.canAsk():
		return relay.Later("", func() relay.Decision { return consent{c, m, o}.decide() })
	case o.Refused():
		kind := protocol.CallBlocked
		if o.Action == protocol.Ask {
			kind = protocol.CallDenied
		}
		return relay.Later("", func() relay.Decision { return c.refuse(kind, o) })
	}
	return c.admit(m, o)
}

// admit carries out a call that hooks, or the person, let pass.
func (c *call) admit(m *relay.Message, o *protocol.Outcome) relay.Decision {
	switch {
	case o.Replaced != nil:
		return relay.Later("", func() relay.Decision { return c.replaced(o) })
	case !jsonspan.Equal(c.Args, c.asked.args):
		return c.passAs(m)
	}
	return c.passAsked(m)
}

// passAsked passes the call on as the client wrote it, in the one way in which it was judged.
func (c *call) passAsked(m *relay.Message) relay.Decision {
	if !c.asked.strict {
		return relay.Pass(m.With("params", c.asked.params)).Unless(c.mayNotRun)
	}
	return relay.Pass(m.Line).Unless(c.mayNotRun)
}

// passAs passes the call on with the args that hooks left.
func (c *call) passAs(m *relay.Message) relay.Decision {
	return relay.Pass(m.With("params", c.asked.method.write(c.asked.params, c.Args))).Unless(c.mayNotRun)
}

// goOn passes on a call that its server asked to be sent again, as hooks judged it before.
func (c *call) goOn(m *relay.Message) relay.Decision {
	d := c.passAsked(m)
	if !jsonspan.Equal(c.Args, c.asked.args) {
		d = c.passAs(m)
	}
	return relay.Later(callLane, func() relay.Decision { return d })
}

// goesOn takes over what is known of a call that this request goes on with.
func (c *call) goesOn(before *call) {
	c.told, c.contexts = before.told, before.contexts
	c.ToolCallID, c.Original, c.Args = before.ToolCallID, before.Original, before.Args
}

// mayNotRun is asked when it is the call's turn to go to the server.
func (c *call) mayNotRun() bool {
	if c.progress.from(judged, running) {
		return false
	}
	c.lost(aborted(errCancelled))
	return true
}

// undecided ends a call that no decision is there for: the client gave it up, or the
// connection ends. The client reads no answer to the former.
func (c *call) undecided(err error) relay.Decision {
	if c.ctx.Err() != nil {
		err = context.Cause(c.ctx)
	}
	c.lost(aborted(err))
	if c.progress.to(ending) && c.guard.pending.Remove(c.request) {
		return relay.Answer(relay.ErrorLine(c.request.ID, relay.CodeServer, "hookd: the call was not made: "+err.Error()))
	}
	return relay.Drop()
}

func aborted(cause error) protocol.CallError { return proxied.Aborted(cause.Error()) }

// cancelledByClient ends the call, and whatever hook is asked about it. It reports whether
// the server need not be told: it has not seen the call, or has answered it.
func (c *call) cancelledByClient() (ends bool) {
	was := c.progress.cancel()
	c.guard.pending.Cancel(c.request)
	c.stop(errCancelled)
	if was == running {
		c.lost(aborted(errCancelled))
	}
	return was != running
}

// refuse ends the call in place of the server.
func (c *call) refuse(kind protocol.CallErrorKind, o *protocol.Outcome) relay.Decision {
	by := ""
	if o.By != nil {
		by = *o.By
	}
	return c.refuseAs(protocol.CallError{Kind: kind, Text: refusal(o)}, &by)
}

func (c *call) refuseAs(problem protocol.CallError, by *string) relay.Decision {
	text, more, _ := c.failed(problem, by)
	if !c.progress.to(ending) || !c.guard.pending.Remove(c.request) {
		return relay.Drop()
	}
	c.stop(nil)
	texts := append(append([]string{text}, c.contexts...), more...)
	return relay.Answer(c.asked.method.result.refused(texts, c.asked.modern).line(c.request.ID))
}

// failed tells hooks that the call has no result. It returns what the model reads of that. The error is
// why hooks have not read it: then it is what the caller says, which the server must not have said.
func (c *call) failed(problem protocol.CallError, by *string) (text string, more []string, err error) {
	decide := c.told.Failed(c.guard.life, problem, by)
	if decide == nil { // they know how it ended
		return problem.Text, nil, errEnded
	}
	o, err := decide()
	if err != nil {
		return problem.Text, nil, err
	}
	if text := jsonspan.Find(o.Event.Data, "/error/text"); text != nil {
		problem.Text = jsonspan.Text(text)
	}
	return problem.Text, proxied.Contexts(o), nil
}

// lost tells hooks that the call has no result that anybody reads. Nobody waits for them.
func (c *call) lost(problem protocol.CallError) {
	if decide := c.told.Lost(c.guard.life, problem, nil); decide != nil {
		c.guard.background.Go(func() { _, _ = decide() })
	}
}
