package imports

import (
	"slices"

	"github.com/hookd-dev/hookd/schema/document"
)

// Most agents write hooks as Claude Code does: an event has groups, a group has a matcher
// and handlers, a handler has a type.

// groups reads the groups of an event. known are the members that a group of this agent
// may have.
func (r *reader) groups(f *file, speaks, event string, list *document.Node, known []string, handler func(e *entry)) {
	if !r.known(f, speaks, event, list) {
		return
	}
	for _, n := range list.Items {
		if n.Kind != document.Object {
			r.fault(f, n.Line, event+": a group of hooks is "+n.Kind.String()+", not an object", remedyFile)
			r.faultyAt(f, speaks, event, n)
			continue
		}
		r.group(f, speaks, event, n, known, handler)
	}
}

func (r *reader) group(f *file, speaks, event string, n *document.Node, known []string, handler func(e *entry)) {
	of := r.entry(f, speaks, event, n)
	of.members(n, append([]string{"matcher", "hooks"}, known...)...)
	of.matcher(n)
	handlers := n.Get("hooks")
	switch {
	case of.hook.Faulty:
		r.hooks = append(r.hooks, of.hook)
		return
	case handlers == nil || handlers.Kind == document.Null:
		return
	case handlers.Kind != document.List:
		of.wrong(handlers, "hooks is "+handlers.Kind.String()+", not a list")
		r.hooks = append(r.hooks, of.hook)
		return
	}
	for _, h := range handlers.Items {
		e := r.entry(f, speaks, event, h)
		e.hook.Matcher = of.hook.Matcher
		if h.Kind != document.Object {
			e.wrong(h, "a hook is "+h.Kind.String()+", not an object")
		} else {
			handler(e)
		}
		e.add()
	}
}

// isCommand reads the type of a handler, and leaves out those that no program is. missing
// is the type of one that states none, "" where it must.
func (e *entry) isCommand(missing string) bool {
	kind := e.text(e.node, "type")
	if kind == "" {
		kind = missing
	}
	switch {
	case e.hook.Faulty:
		return false
	case kind == "command":
		return true
	case kind == "":
		e.wrong(e.node, "the entry has no type")
		return false
	case slices.Contains([]string{"http", "prompt", "agent", "mcp_tool", "function"}, kind):
		e.leave("a hook of the type "+kind+" is not run here: only programs are", "write a program in its place, or rely on it under "+e.agent.Title+" only")
		return false
	}
	e.leave("hookd knows no hooks of the type "+shown(kind), "write a program in its place, or rely on it under "+e.agent.Title+" only")
	return false
}

// background has an entry that its agent does not wait for observe.
func (e *entry) background(key string) {
	if e.flag(e.node, key) {
		e.hook.Observes = true
	}
}

// failure reads what a failure does.
func (e *entry) failure(key string) {
	switch word := e.text(e.node, key); word {
	case "":
	case "block", "continue":
		e.hook.OnFailure = word
	case "allow":
		e.hook.OnFailure = "continue"
	default:
		e.wrong(e.node.Get(key), key+" is "+shown(word)+", not block or continue")
	}
}
