package agentloop

import (
	"context"
	"fmt"

	"github.com/hookd-dev/hookd/protocol"
)

// Consent is the loop's own question: a call that no hook asks about may still need
// a person's yes. It goes the way of a hook's question, with permission-request, and
// is asked by "policy". A hook of the user or of the machine may answer it, one of a
// project may only refuse. The zero value asks about nothing.
type Consent struct {
	// Asks says whether a person is asked about a call before it runs; if not, because
	// somebody allowed it beforehand, by whom. It is given the call as it will run. nil:
	// never.
	Asks func(call *protocol.Call) (asks bool, allowed *protocol.Answered)

	// Remedy says how a call of that kind is allowed where nobody is there to ask. The
	// model and the person read it.
	Remedy func(call *protocol.Call) string
}

// policy is who asks where no hook does.
const policy = "policy"

// consented puts the loop's own question about a call that is ready to run, unless a
// person has said yes to it already.
func (r *Run) consented(ctx context.Context, b *batch, c *toolCall) bool {
	consent := &r.loop.options.Consent
	if consent.Asks == nil {
		return true
	}
	if asks, _ := consent.Asks(&c.Call); !asks {
		return true
	}
	own := asker{name: policy, layer: protocol.User, own: true}
	if consent.Remedy != nil {
		own.remedy = consent.Remedy(&c.Call)
	}
	v, _, err := r.question(ctx, c, own)
	switch {
	case err != nil:
		r.callLost(ctx, b, c, err)
		return false
	case !v.passed():
		r.callRefused(ctx, b, c, protocol.CallDenied, v)
		return false
	}
	return r.callReady(ctx, b, c) // another call may have ended the run meanwhile
}

// beforehand notes at tool-call-start who allowed a call that would else be asked about.
func (r *Run) beforehand(c *toolCall) settler {
	asks := r.loop.options.Consent.Asks
	if asks == nil || c.tool == nil {
		return nil
	}
	return func(_ context.Context, o *protocol.Outcome) error {
		if o.Refused() || o.Replaced != nil || o.Answered != nil {
			return nil
		}
		call := c.Call
		if args := member(o.Event.Data, "args"); args != nil {
			call.Args = args
		}
		_, o.Answered = asks(&call)
		return nil
	}
}

// alone is why a call is refused that nobody could be asked about.
func (a *asker) alone(c *protocol.Call) string {
	if !a.own || a.remedy == "" {
		return because("nobody is there to ask", a.reason)
	}
	return fmt.Sprintf("nobody is there to ask about %s; %s", c.Name, a.remedy)
}
