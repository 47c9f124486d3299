package agentloop

import (
	"context"
	"fmt"

	"github.com/hookd-dev/hookd/protocol"
)

// options are the answers a person may give. "Always" needs a place to keep the
// answer and comes with it.
var options = []protocol.PermissionOption{
	{OptionID: "allow", Name: "Allow", Kind: "allow-once"},
	{OptionID: "reject", Name: "Reject", Kind: "reject-once"},
}

// askPerson puts the question of a hook's ask to a person and writes the answer
// into the verdict: it becomes allow or block. It fails only when the context
// ended.
func (r *Run) askPerson(ctx context.Context, v *verdict, askedBy string, call *protocol.Call) error {
	refuse := func(reason string) {
		v.Action, v.Reason = protocol.Block, reason
	}
	approver := r.loop.options.Approver
	if approver == nil {
		refuse(because("nobody is there to ask", v.Reason))
		return nil
	}
	question := Question{Event: v.name, Call: call, AskedBy: askedBy, Text: v.Reason, Options: options}
	r.notify(ctx, "permission", because(fmt.Sprintf("%s asks about %s", askedBy, v.name), v.Reason))

	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit := r.loop.options.ApprovalTimeout; limit > 0 {
		limited, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	answer, err := approver.Approve(limited, question)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		refuse(because("nobody answered in time", v.Reason))
	case err != nil:
		refuse(because("the person could not be asked", v.Reason))
	case answer.OptionID == "allow":
		v.Action = protocol.Allow
	case answer.Text != "":
		refuse("denied by the person: " + answer.Text)
	default:
		refuse(because("denied by the person", v.Reason))
	}
	return nil
}

// because joins what happened with a hook's reason, if it gave one.
func because(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + " (" + reason + ")"
}
