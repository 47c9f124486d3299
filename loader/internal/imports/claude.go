package imports

import (
	"time"

	"github.com/hookd-dev/hookd/schema/document"
)

// claude is Claude Code. What its plug-ins and its managed settings name is not read:
// the first lie among other programs' files, the second rule on this machine anyway.
var claude = Agent{
	Name: "claude", Title: "Claude Code", once: true,
	Files: [2][]string{
		OfProject: {".claude/settings.json", ".claude/settings.local.json"},
		OfUser:    {".claude/settings.json"},
	},
	read: readClaude,
}

func readClaude(r *reader, f *file) {
	f.off = f.flag(f.root, "disableAllHooks", false)
	hooks := f.object(f.root, "hooks")
	if hooks == nil {
		return
	}
	r.events(f, hooks, func(event string, list *document.Node) {
		r.groups(f, "claude", event, list, nil, claudeHandler)
	})
}

var claudeKeys = []string{
	"type", "command", "args", "shell", "if", "timeout", "onFailure", "statusMessage", "once", "async", "asyncRewake",
	"url", "headers", "allowedEnvVars", "server", "tool", "input", "prompt", "model", "continueOnBlock", "description",
}

func claudeHandler(e *entry) {
	e.members(e.node, claudeKeys...)
	if !e.isCommand("") {
		return
	}
	command, args := e.text(e.node, "command"), e.texts(e.node, "args")
	if e.node.Get("args") != nil && command != "" {
		e.hook.Argv = append([]string{command}, args...) // no shell
	} else {
		e.hook.Shell = command
	}
	switch shell := e.text(e.node, "shell"); shell {
	case "", "bash":
	default:
		e.leave("its command is for the shell "+shown(shell)+", which hookd does not start", "write it for sh, or rely on it under Claude Code only")
		return
	}
	e.timeout(e.node, "timeout", time.Second)
	e.failure("onFailure")
	e.background("async")
	e.background("asyncRewake")
	if e.flag(e.node, "asyncRewake") {
		e.part(e.node.Get("asyncRewake"), "what it says when it ends wakes nobody here", "have it answer in time, without asyncRewake")
	}
	if e.flag(e.node, "once") {
		e.part(e.node.Get("once"), "once has no effect here: it is asked each time", "have the hook itself remember that it ran")
	}
	e.description(e.text(e.node, "description"), e.text(e.node, "statusMessage"))
	e.condition(e.node.Get("if"))
}
