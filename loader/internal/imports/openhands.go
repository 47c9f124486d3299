package imports

import (
	"strings"
	"time"

	"github.com/hookd-dev/hookd/schema/document"
)

// openhands is OpenHands. It takes the user's file only where the project has none; a
// project that hides the user's hooks does not do so here.
var openhands = Agent{
	Name: "openhands", Title: "OpenHands",
	Files: [2][]string{
		OfProject: {".openhands/hooks.json"},
		OfUser:    {".openhands/hooks.json"},
	},
	read: readOpenhands,
}

func readOpenhands(r *reader, f *file) {
	hooks := f.root
	if f.root.Get("hooks") != nil {
		if hooks = f.object(f.root, "hooks"); hooks == nil {
			return
		}
	}
	spelt := map[string]string{}
	r.events(f, hooks, func(event string, list *document.Node) {
		name := pascal(event)
		if other, twice := spelt[name]; twice {
			f.spoil(list, "the event is there twice, as "+shown(other)+" and as "+shown(event))
			return
		}
		spelt[name] = event
		r.groups(f, "openhands", name, list, nil, openhandsHandler)
	})
}

// pascal turns pre_tool_use into PreToolUse.
func pascal(name string) string {
	var b strings.Builder
	for _, part := range strings.Split(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

func openhandsHandler(e *entry) {
	e.members(e.node, "type", "name", "command", "timeout", "async", "prompt", "system_prompt", "tools", "max_iterations")
	if !e.isCommand("command") {
		return
	}
	e.hook.Shell = e.text(e.node, "command")
	e.timeout(e.node, "timeout", time.Second)
	e.background("async")
	e.hook.Called = e.text(e.node, "name")
}
