package imports

import (
	"strings"
	"time"

	"github.com/hookd-dev/hookd/schema/document"
)

// codex is OpenAI's Codex CLI: a file of its own, and a table in its settings. Which hooks
// the person reviewed in Codex is Codex's affair: here hookd's own trust counts.
var codex = Agent{
	Name: "codex", Title: "Codex CLI",
	Files: [2][]string{
		OfProject: {".codex/hooks.json", ".codex/config.toml"},
		OfUser:    {".codex/hooks.json", ".codex/config.toml"},
	},
	read: readCodex,
}

func readCodex(r *reader, f *file) {
	switch {
	case !strings.HasSuffix(f.path, ".toml"):
		for _, m := range f.root.Members {
			if m.Key != "hooks" && m.Key != "description" {
				r.warn(f, m.Line, "Codex CLI does not take a file with the member "+shown(m.Key), "remove it")
			}
		}
	default:
		if features := f.object(f.root, "features"); features != nil {
			f.off = !f.flag(features, "hooks", true)
		}
	}
	hooks := f.object(f.root, "hooks")
	if hooks == nil {
		return
	}
	named := &document.Node{Kind: document.Object, Line: hooks.Line}
	for _, m := range hooks.Members {
		if m.Key == "state" && strings.HasSuffix(f.path, ".toml") {
			r.codexState(f, m.Value)
			continue
		}
		named.Members = append(named.Members, m)
	}
	r.events(f, named, func(event string, list *document.Node) {
		r.groups(f, "codex", event, list, nil, codexHandler)
	})
}

// codexState names hooks that are switched off in Codex: by keys that only Codex makes.
func (r *reader) codexState(f *file, state *document.Node) {
	for _, m := range state.Members {
		if on := m.Value.Get("enabled"); on != nil && on.Kind == document.Bool && on.Text == "false" {
			r.warn(f, m.Line, "hooks.state switches off a hook by a key that hookd does not know; here the hook runs", "switch it off with: hookd disable NAME")
		}
	}
}

func codexHandler(e *entry) {
	e.members(e.node, "type", "command", "commandWindows", "command_windows", "timeout", "timeoutSec", "async", "statusMessage", "additionalContextLimit", "server", "tool", "input", "prompt", "model")
	if !e.isCommand("") {
		return
	}
	e.hook.Shell = e.text(e.node, "command")
	e.timeout(e.node, "timeoutSec", time.Second)
	e.timeout(e.node, "timeout", time.Second)
	e.background("async")
	if limit := e.node.Get("additionalContextLimit"); limit != nil {
		e.part(limit, "additionalContextLimit has no effect here", "hooks.limits.context bounds it")
	}
	e.description(e.text(e.node, "statusMessage"))
}
