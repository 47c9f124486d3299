package agentloop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// once and always are the answers a person may give.
var (
	once = []protocol.PermissionOption{
		{OptionID: "allow", Name: "Allow", Kind: "allow-once"},
		{OptionID: "reject", Name: "Reject", Kind: "reject-once"},
	}
	always = []protocol.PermissionOption{
		{OptionID: "allow-always", Name: "Allow in this session", Kind: "allow-always"},
		{OptionID: "reject-always", Name: "Reject in this session", Kind: "reject-always"},
	}
)

// answerKeeper is what is told of a person's answers; see [provider.Provider].
type answerKeeper = func(session string, request protocol.PermissionRequestData, option protocol.PermissionOption)

// offered are the answers to what a hook of the layer asks. "Always" needs
// somebody to keep the answer, and a managed hook's question is put each time.
func (o *Options) offered(layer protocol.Layer) []protocol.PermissionOption {
	if len(o.answered) == 0 || layer == protocol.Managed {
		return once
	}
	return slices.Concat(once, always)
}

// askPerson puts a hook's question to a person and writes the answer into the
// verdict: it becomes allow or block. It returns the option that was chosen, nil
// if none was, and fails only when the context ended.
func (r *Run) askPerson(ctx context.Context, v *verdict, question Question) (chosen *protocol.PermissionOption, err error) {
	refuse := func(reason string) {
		v.Action, v.Reason = protocol.Block, reason
	}
	approver := r.loop.options.Approver
	if approver == nil {
		refuse(cmp.Or(question.alone, because("nobody is there to ask", v.Reason)))
		return nil, nil
	}
	r.notify(ctx, "permission", because(fmt.Sprintf("%s asks about %s", question.AskedBy, v.name), v.Reason))

	done, err := r.loop.options.floor.ask(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit := r.loop.options.ApprovalTimeout; limit > 0 {
		limited, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	answer, err := approver.Approve(limited, question)
	if err == nil {
		if i := slices.IndexFunc(question.Options, func(o protocol.PermissionOption) bool { return o.OptionID == answer.OptionID }); i >= 0 {
			chosen = &question.Options[i]
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case limited.Err() != nil:
		refuse(because("nobody answered in time", v.Reason))
		return nil, nil
	case err != nil:
		refuse(because("the person could not be asked", v.Reason))
	case chosen != nil && strings.HasPrefix(chosen.Kind, "allow-"):
		v.Action = protocol.Allow
	case answer.Text != "":
		refuse("denied by the person: " + answer.Text)
	default:
		refuse(because("denied by the person", v.Reason))
	}
	return chosen, nil
}

// because joins what happened with a hook's reason, if it gave one.
func because(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + " (" + reason + ")"
}
