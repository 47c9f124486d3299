package agentloop

import (
	"context"
	"maps"
	"slices"

	"github.com/hookd-dev/hookd/protocol"
)

// lineage is what a loop has of the loops that it works for. The zero value is
// that of a session's top agent.
type lineage struct {
	depth    int    // below the top agent
	recipe   string // that the loop executes, or works for; "" if none
	notAsked map[protocol.EventName][]protocol.HookRef
}

// restrict takes all tools away but those named.
func (l *Loop) restrict(names []string) {
	l.tools = l.tools.restricted(names)
	if len(l.tools.offered()) == 0 {
		l.options.Params.ToolChoice = nil // it would ask for a tool that is not there
	}
}

// silence has a hook not asked about an event by its name.
func (l *Loop) silence(event protocol.EventName, hook protocol.HookRef) {
	l.notAsked = maps.Clone(l.notAsked)
	if l.notAsked == nil {
		l.notAsked = map[protocol.EventName][]protocol.HookRef{}
	}
	l.notAsked[event] = append(slices.Clip(l.notAsked[event]), hook)
}

// child returns a loop that works for this one: an agent of its own on the same
// gate, in the same session and with the same numbers of events. Its
// conversation is empty, and never kept.
func (l *Loop) child() *Loop {
	parent := l.options.Agent.ID
	c := &Loop{
		options: l.options, tools: l.tools.snapshot(), session: l.session, system: l.system,
		turn: l.turn, started: true, numbers: l.numbers, lineage: l.lineage,
	}
	c.options.Session = nil
	c.options.Agent.ID, c.options.Agent.Parent = protocol.NewID(), &parent
	c.options.Agent.Depth++
	c.depth++
	c.tools.last = c.isLast()
	return c
}

// isLast reports whether the agent is too deep to start another.
func (l *Loop) isLast() bool { return l.depth >= l.options.Limits.depth() }

// child returns the run of a loop that works for this run: what happens in it is
// yielded here, and what it uses counts here.
func (r *Run) child(ctx context.Context, l *Loop) *Run {
	c := &Run{loop: l, ctx: ctx, events: r.events, parent: r}
	c.usage.parent = &r.usage
	return c
}

// root is the prompt's own run, that this one works for.
func (r *Run) root() *Run {
	for r.parent != nil {
		r = r.parent
	}
	return r
}

// rounds is a run with the further runs that hooks at agent-end ask for.
func (r *Run) rounds(prompt Prompt) {
	for next := &prompt; next != nil; {
		next = r.once(*next)
	}
}

// lineageOf writes into an event whose work it is.
func (l *Loop) lineageOf(e *protocol.Event) {
	if l.recipe != "" {
		recipe := l.recipe
		e.Recipe = &recipe
	}
	e.NotAsked = l.notAsked[e.Event]
}
