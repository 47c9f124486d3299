package agentloop

import (
	"context"

	"github.com/hookd-dev/hookd/protocol"
)

// permission follows a hook's ask about a tool call: hooks may grant or deny in
// the person's place, else the person is asked. The verdict is that of
// tool-call-start if the call was granted, else the refusal.
func (r *Run) permission(ctx context.Context, c *toolCall, asked *verdict) (*verdict, error) {
	askedBy := "hook:" + asked.by()
	fired := protocol.PermissionRequestData{Call: c.Call, AskedBy: askedBy, Text: asked.Reason, Options: r.loop.options.offered(asked.DecidedLayer())}
	v, err := r.decide(ctx, protocol.PermissionRequest, fired)
	if err != nil {
		return nil, err
	}
	c.context = append(c.context, v.contextParts()...)
	// Nothing but a grant is one: hooks that only watched leave it to the person,
	// and so does a grant by a lower layer than the one that asked.
	granted := v.Action == protocol.Allow && v.DecidedLayer().Rank() >= asked.DecidedLayer().Rank()
	if v.Action != protocol.Block && v.Action != protocol.Stop && !granted {
		v.By, v.Reason = asked.By, asked.Reason
		question := Question{Event: v.name, Call: &c.Call, AskedBy: askedBy, Text: v.Reason, Options: fired.Options}
		chosen, err := r.askPerson(ctx, v, question)
		if err != nil {
			return nil, err
		}
		if chosen != nil {
			for _, keep := range r.loop.options.answered {
				keep(r.loop.session.ID, fired, *chosen)
			}
		}
	}
	r.tell(ctx, v)
	if !v.passed() {
		return v, nil
	}
	start := *asked
	start.Action = protocol.Allow
	return &start, nil
}
