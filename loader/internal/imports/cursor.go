package imports

import (
	"time"

	"github.com/hookd-dev/hookd/schema/document"
)

// cursor is Cursor. The hooks of a team and of an enterprise are not read, and neither
// are Claude Code's, which Cursor runs too: import those from claude.
var cursor = Agent{
	Name: "cursor", Title: "Cursor",
	Files: [2][]string{
		OfProject: {".cursor/hooks.json"},
		OfUser:    {".cursor/hooks.json"},
	},
	read: readCursor,
}

func readCursor(r *reader, f *file) {
	if version := f.once(f.root, "version"); version == nil {
		r.warn(f, f.root.Line, "the file has no version, and Cursor does not take it; hookd does", `write "version": 1`)
	} else if version.Kind != document.Number || version.Text != "1" {
		f.spoil(version, "version "+shown(version.Text)+" of the file is not known")
		return
	}
	hooks := f.object(f.root, "hooks")
	if hooks == nil {
		return
	}
	r.events(f, hooks, func(event string, list *document.Node) {
		if !r.known(f, "cursor", event, list) {
			return
		}
		for _, n := range list.Items {
			e := r.entry(f, "cursor", event, n)
			if n.Kind != document.Object {
				e.wrong(n, "a hook is "+n.Kind.String()+", not an object")
			} else {
				cursorHandler(e)
			}
			e.add()
		}
	})
}

func cursorHandler(e *entry) {
	e.members(e.node, "type", "command", "timeout", "matcher", "loop_limit", "failClosed", "prompt", "model")
	if !e.isCommand("command") {
		return
	}
	e.hook.Shell = e.text(e.node, "command")
	e.matcher(e.node)
	e.timeout(e.node, "timeout", time.Second)
	if e.flag(e.node, "failClosed") {
		e.hook.OnFailure = "block"
	}
	if limit := e.node.Get("loop_limit"); limit != nil && limit.Kind != document.Null {
		e.part(limit, "loop_limit has no effect here", "hooks.maxForced bounds how often hooks force a run on")
	}
}
