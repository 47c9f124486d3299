package agentloop

import (
	"context"
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// policy is who asks if no hook does.
const policy = "policy"

// permissions asks whether a tool call may run: hooks in the person's place first, then the
// person.
type permissions struct {
	session *session
	events  *events
	context *protocol.Content // takes the context of the hooks that answered
}

// grant follows hooks' asks about a tool call: hooks may grant or deny in the person's
// place, else the person is asked. The verdict is that of tool-call-start if the call was
// granted, else the refusal.
//
// Each hook that asks has its question: a grant by hooks, such as the memory of what a
// person answered with always, is one to that question only. What a person says is about
// the call.
func (p *permissions) grant(ctx context.Context, c *protocol.Call, asked *verdict) (v *verdict, byPerson bool, err error) {
	for _, by := range asked.Askers() {
		v, byPerson, err = p.question(ctx, c, asker{Asker: by})
		if err != nil || !v.passed() {
			return v, byPerson, err
		}
		if byPerson {
			break
		}
	}
	start := *asked
	start.Action = protocol.Allow
	return &start, byPerson, nil
}

// consent asks the loop's own question about a call that is ready to run. It returns nil if
// the loop has none.
func (p *permissions) consent(ctx context.Context, c *protocol.Call) (*verdict, error) {
	consent := &p.session.Consent
	if consent.Asks == nil {
		return nil, nil
	}
	if asks, _ := consent.Asks(c); !asks {
		return nil, nil
	}
	own := asker{Asker: protocol.Asker{Name: policy, Layer: protocol.User}, own: true}
	if consent.Remedy != nil {
		own.remedy = consent.Remedy(c)
	}
	v, _, err := p.question(ctx, c, own)
	return v, err
}

// allowedBefore notes at tool-call-start who had allowed a call beforehand, so that no
// question about it follows.
func (p *permissions) allowedBefore(c *protocol.Call) askResolver {
	asks := p.session.Consent.Asks
	if asks == nil {
		return nil
	}
	return func(_ context.Context, o *protocol.Outcome) error {
		if o.Refused() || o.Replaced != nil || o.Answered != nil {
			return nil
		}
		call := *c
		if args := jsonspan.Get(o.Event.Data, "args"); args != nil {
			call.Args = args
		}
		_, o.Answered = asks(&call)
		return nil
	}
}

// allowedByCalling notes at tool-call-start that the person allowed a call by making it. An
// ask of a hook stays open.
func allowedByCalling(_ context.Context, o *protocol.Outcome) error {
	if !o.Refused() && o.Action != protocol.Ask && o.Replaced == nil && o.Answered == nil {
		o.Answered = &protocol.Answered{By: protocol.ByPerson}
	}
	return nil
}

// options returns the answers to what a hook of the layer asks. "Always" needs somebody to
// keep the answer, and a managed hook's question is asked each time.
func (p *permissions) options(call *protocol.Call, layer protocol.Layer) []protocol.PermissionOption {
	if len(p.session.answerListeners) == 0 || layer == protocol.Managed {
		return onceOptions
	}
	what := "this command" // what the answer is kept for, as its keeper has it
	if call.Kind != protocol.KindShell {
		what = "every call of " + call.Name
	}
	return slices.Concat(onceOptions, []protocol.PermissionOption{
		{OptionID: "allow-always", Name: "Allow " + what + " in this session", Kind: "allow-always"},
		{OptionID: "reject-always", Name: "Reject " + what + " in this session", Kind: "reject-always"},
	})
}

// asker is a hook that asks about a tool call, or the loop's own rule.
type asker struct {
	protocol.Asker
	own    bool   // the loop itself asks; see [Consent]
	remedy string // if nobody is there
}

func (a *asker) String() string {
	if a.own {
		return policy
	}
	return "hook:" + a.Name
}

// ifNobody returns why a call is refused if nobody is there to be asked.
func (a *asker) ifNobody(c *protocol.Call) string {
	if !a.own || a.remedy == "" {
		return withReason("nobody is there to ask", a.Reason)
	}
	return fmt.Sprintf("nobody is there to ask about %s; %s", c.Name, a.remedy)
}

// question puts one asker's question to hooks, and to the person if they leave it open. Who
// answered is part of the decided event, and so of its record.
func (p *permissions) question(ctx context.Context, c *protocol.Call, by asker) (v *verdict, byPerson bool, err error) {
	fired := protocol.PermissionRequestData{Call: *c, AskedBy: by.String(), AskedByLayer: by.Layer, Text: by.Reason, Options: p.options(c, by.Layer)}
	question := Question{
		Event: protocol.PermissionRequest, Call: c, AskedBy: fired.AskedBy, Layer: by.Layer,
		Text: by.Reason, Options: fired.Options, ifNobody: by.ifNobody(c),
	}
	v, err = p.events.decideAndResolve(ctx, protocol.PermissionRequest, fired, func(ctx context.Context, o *protocol.Outcome) error {
		if !by.LeavesOpen(o) {
			answeredByHook(o)
			return nil
		}
		o.By, o.Reason, byPerson = &by.Name, by.Reason, true
		chosen, err := p.events.person.ask(ctx, o, question)
		if chosen != nil {
			for _, keep := range p.session.answerListeners {
				keep(p.session.id.ID, fired, *chosen)
			}
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	*p.context = append(*p.context, v.contextParts()...)
	p.events.show(ctx, v)
	return v, byPerson, nil
}

// answeredByHook says that a hook answered, unless it spoke for somebody else.
func answeredByHook(o *protocol.Outcome) {
	if o.Answered == nil && o.By != nil {
		o.Answered = &protocol.Answered{By: protocol.ByHook, Name: *o.By}
	}
}
