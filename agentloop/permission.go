package agentloop

import (
	"context"
	"slices"

	"github.com/hookd-dev/hookd/protocol"
)

// permission follows hooks' asks about a tool call: hooks may grant or deny in
// the person's place, else the person is asked. The verdict is that of
// tool-call-start if the call was granted, else the refusal.
//
// Each hook that asks has its question: a grant by hooks, such as the memory of
// what a person answered with always, is one to that question only. What a person
// says is about the call.
func (r *Run) permission(ctx context.Context, c *toolCall, asked *verdict) (v *verdict, byPerson bool, err error) {
	for _, by := range asked.askers() {
		v, byPerson, err = r.question(ctx, c, by)
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

// asker is a hook that asks about a tool call, or the loop's own rule.
type asker struct {
	name, reason string
	layer        protocol.Layer
	own          bool   // the loop itself asks; see [Consent]
	remedy       string // where nobody is there
}

func (a *asker) String() string {
	if a.own {
		return policy
	}
	return "hook:" + a.name
}

// origin is what a hook must reach to grant the question. What the loop itself asks,
// or a feature of it, is not a project's to grant.
func (a *asker) origin() protocol.Origin {
	if a.layer == protocol.Builtin || a.layer == "" {
		return protocol.Origin{Layer: protocol.User}
	}
	return protocol.OriginOf(a.layer, a.name)
}

// askers are the hooks that ask, the one that is named first, then as they run.
// Hooks of one name in different layers are different hooks.
func (v *verdict) askers() []asker {
	first := asker{name: v.by(), reason: v.Reason, layer: v.layerOf(v.by())}
	var list []asker
	for _, run := range v.Runs {
		if run.Action != protocol.Ask {
			continue
		}
		next := asker{name: run.Hook, reason: run.Reason, layer: run.Source}
		if next.name == first.name && next.reason == first.reason {
			first.layer = next.layer
		}
		if !slices.ContainsFunc(list, next.same) {
			list = append(list, next)
		}
	}
	return append([]asker{first}, slices.DeleteFunc(list, first.same)...)
}

func (a asker) same(b asker) bool { return a.name == b.name && a.layer == b.layer }

// question puts one asker's question to hooks, and to the person if they leave it
// open. Who answered is part of the decided event, and so of its record.
func (r *Run) question(ctx context.Context, c *toolCall, by asker) (v *verdict, byPerson bool, err error) {
	fired := protocol.PermissionRequestData{Call: c.Call, AskedBy: by.String(), AskedByLayer: by.layer, Text: by.reason, Options: r.loop.options.offered(&c.Call, by.layer)}
	question := Question{
		Event: protocol.PermissionRequest, Call: &c.Call, AskedBy: fired.AskedBy, Layer: by.layer,
		Text: by.reason, Options: fired.Options, alone: by.alone(&c.Call),
	}
	v, err = r.settled(ctx, protocol.PermissionRequest, fired, func(ctx context.Context, o *protocol.Outcome) error {
		if !by.leftOpen(o) {
			answeredByHook(o)
			return nil
		}
		o.By, o.Reason, byPerson = &by.name, by.reason, true
		chosen, err := r.askPerson(ctx, o, question)
		if chosen != nil {
			for _, keep := range r.loop.options.answered {
				keep(r.loop.session.ID, fired, *chosen)
			}
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	c.context = append(c.context, v.contextParts()...)
	r.tell(ctx, v)
	return v, byPerson, nil
}

// leftOpen reports whether hooks leave a question to the person. Nothing but a grant
// is one: hooks that only watched leave it open, and so does a grant by a lower layer
// than the one that asked.
func (a *asker) leftOpen(o *protocol.Outcome) bool {
	granted := o.Action == protocol.Allow && o.DecidedBy().Compare(a.origin()) >= 0
	return o.Action != protocol.Block && o.Action != protocol.Stop && !granted
}

// answeredByHook says that a hook answered, unless it spoke for somebody else.
func answeredByHook(o *protocol.Outcome) {
	if o.Answered == nil && o.By != nil {
		o.Answered = &protocol.Answered{By: protocol.ByHook, Name: *o.By}
	}
}
