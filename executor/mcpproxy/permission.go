package mcpproxy

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// canAsk reports whether the person at the client can be asked about the call.
func (c *call) canAsk() bool {
	if c.asked.modern {
		return takesForms(jsonspan.Find(c.asked.params, "/_meta/io.modelcontextprotocol~1clientCapabilities/elicitation"))
	}
	return c.guard.questions.taken.Load()
}

// options are the answers to every question. Nobody keeps one that holds always.
var options = []protocol.PermissionOption{
	{OptionID: answerYes, Name: "Allow", Kind: "allow-once"},
	{OptionID: answerNo, Name: "Refuse", Kind: "reject-once"},
}

// consent is a call about which hooks ask a person.
type consent struct {
	*call
	m     *relay.Message
	asked *protocol.Outcome // tool-call-start
}

// decide follows hooks' asks about the call, which has left its lane: others do not wait for
// the person.
func (c consent) decide() relay.Decision {
	if !c.guard.questions.begin() {
		problem := "not allowed: a person has to decide this, and too many questions wait for one already"
		return c.refuseAs(protocol.CallError{Kind: protocol.CallDenied, Text: problem}, c.asked.By)
	}
	if c.call.asked.modern {
		return c.follow(c.startAsking())
	}
	defer c.guard.questions.end()
	return c.decided(c.permission(c.ctx, c.guard.questions.put))
}

// permission is what became of hooks' asks.
type permission struct {
	refusal  *protocol.Outcome // the event that refused the call, nil: none did
	contexts []string          // for the model
	err      error             // why nothing was decided
}

// decided carries out what became of the asks.
func (c consent) decided(p permission) relay.Decision {
	c.contexts = append(c.contexts, p.contexts...)
	switch {
	case p.err != nil:
		return c.undecided(p.err)
	case p.refusal != nil:
		return c.refuse(protocol.CallDenied, p.refusal)
	}
	return c.admit(c.m, c.asked)
}

// permission puts the question of each hook that asks: first to hooks, which may answer in
// the person's place, and then to the person, whose answer is about the call. ask puts it.
func (c consent) permission(ctx context.Context, ask func(context.Context, []byte) answer) (p permission) {
	for _, by := range c.asked.Askers() {
		byPerson := false
		data := protocol.PermissionRequestData{Call: c.Call, AskedBy: "hook:" + by.Name, AskedByLayer: by.Layer, Text: by.Reason, Options: options}
		o, err := c.guard.events.Begin(ctx, protocol.PermissionRequest, data, func(event *protocol.Event) {
			event.ResolveAsk = func(ctx context.Context, o *protocol.Outcome) error {
				if by.LeavesOpen(o) {
					byPerson = true
					return c.askPerson(ctx, o, by, ask)
				}
				if o.Answered == nil && o.By != nil {
					o.Answered = &protocol.Answered{By: protocol.ByHook, Name: *o.By}
				}
				return nil
			}
		})()
		if err != nil {
			return permission{err: err}
		}
		p.contexts = append(p.contexts, proxied.Contexts(o)...)
		if o.Refused() {
			p.refusal = o
		}
		if o.Refused() || byPerson {
			break
		}
	}
	return p
}

// askPerson asks the person and writes the answer into the outcome of the permission-request.
// It fails only if ctx has ended.
func (c consent) askPerson(ctx context.Context, o *protocol.Outcome, by protocol.Asker, ask func(context.Context, []byte) answer) error {
	came := answer{by: protocol.ByFault, words: "its arguments are too long to be shown to a person"}
	if len(c.Args) <= mostShown {
		limited, stop := context.WithTimeout(ctx, c.guard.options.AskTimeout)
		defer stop()
		came = ask(limited, elicitation(c.call.asked.method.what, &c.Call, by))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	o.By = &by.Name
	if came.yes {
		o.Action, o.Reason = protocol.Allow, by.Reason
		o.Answered = &protocol.Answered{By: protocol.ByPerson, Option: options[0].Kind}
		return nil
	}
	o.Action, o.Reason, o.Answered = protocol.Block, came.words, &protocol.Answered{By: came.by}
	if came.by == protocol.ByPerson {
		o.Answered.Option = options[1].Kind
	}
	if by.Reason != "" {
		o.Reason += " (" + by.Reason + ")"
	}
	return nil
}

// asking is a call of a newer client that waits for the person: its request was answered with
// the question, and the client makes it again with the answer.
type asking struct {
	asked   *protocol.Outcome
	answers chan answer
	steps   chan step
	taken   atomic.Bool // by the request with the answer, or by the end of the time for it
	stop    context.CancelFunc
}

// step is what comes next: a question, or what became of the asks.
type step struct {
	question []byte // nil: nothing is asked any more
	permission
}

// startAsking begins to follow the asks, apart from the request that they are about. It is
// the end of a question that has begun.
func (c consent) startAsking() *asking {
	ctx, stop := context.WithCancel(c.guard.life)
	a := &asking{asked: c.asked, answers: make(chan answer, 1), steps: make(chan step, 2), stop: stop}
	c.guard.background.Go(func() {
		defer c.guard.questions.end()
		defer stop()
		became := c.permission(ctx, func(ctx context.Context, params []byte) answer {
			a.steps <- step{question: params}
			select {
			case came := <-a.answers:
				return came
			case <-ctx.Done():
				if a.taken.Swap(true) { // it has just come
					return <-a.answers
				}
				problem := aborted(context.Cause(ctx))
				if errors.Is(ctx.Err(), context.DeadlineExceeded) {
					problem = protocol.CallError{Kind: protocol.CallDenied, Text: noAnswer.words}
				}
				c.lost(problem)
				return noAnswer
			}
		})
		a.steps <- step{permission: became}
	})
	return a
}

// giveUp ends the question: nobody will answer it. a may be nil.
func (a *asking) giveUp() {
	if a == nil {
		return
	}
	if !a.taken.Swap(true) {
		a.answers <- noAnswer
	}
	a.stop()
}

// follow waits for the next step and answers the client with it.
func (c consent) follow(a *asking) relay.Decision {
	var next step
	select {
	case next = <-a.steps:
	case <-c.ctx.Done():
		a.giveUp()
		return c.undecided(context.Cause(c.ctx))
	}
	if next.question == nil {
		return c.decided(next.permission)
	}
	key := c.guard.questions.prefix + protocol.NewID()
	quoted := jsonspan.Quote(key)
	result := append([]byte(`{"resultType":"input_required","inputRequests":{"question":{"method":"elicitation/create","params":`), next.question...)
	result = append(append(append(result, `}},"requestState":`...), quoted...), '}')
	c.guard.waits(c.call, quoted, a)
	if !c.progress.to(ending) || !c.done() {
		a.stop()
		return relay.Drop()
	}
	return relay.Answer(relay.ResultLine(c.request.ID, result))
}

// takeAnswer goes on with a call that the client makes again, with the person's answer.
func (c *call) takeAnswer(m *relay.Message, before *call) relay.Decision {
	a := before.asking
	came := readAnswer(jsonspan.Find(c.asked.params, "/inputResponses/question"))
	c.asked.params = jsonspan.Without(jsonspan.Without(c.asked.params, "inputResponses"), "requestState")
	c.asked.strict = false // the server is to see the call as if nobody had been asked
	if a.taken.Swap(true) {
		return relay.Later("", func() relay.Decision {
			return c.refuseAs(protocol.CallError{Kind: protocol.CallDenied, Text: noAnswer.words}, a.asked.By)
		})
	}
	a.answers <- came
	return relay.Later("", func() relay.Decision { return consent{c, m, a.asked}.follow(a) })
}
