package imports

import (
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/schema/document"
)

// copilot is GitHub Copilot CLI. Root's folder of policies is not read; Claude Code's
// settings, which Copilot reads too, are imported from claude.
var copilot = Agent{
	Name: "copilot", Title: "GitHub Copilot CLI", once: true,
	Files: [2][]string{
		OfProject: {".github/hooks/*.json", ".github/copilot/settings.json", ".github/copilot/settings.local.json"},
		OfUser:    {".copilot/hooks/*.json", ".copilot/settings.json"},
	},
	read: readCopilot,
}

func readCopilot(r *reader, f *file) {
	f.off = f.flag(f.root, "disableAllHooks", false)
	if version := f.once(f.root, "version"); version != nil && (version.Kind != document.Number || version.Text != "1") {
		f.spoil(version, "version "+shown(version.Text)+" of the file is not known")
		return
	}
	if list := f.once(f.root, "disabledHooks"); list != nil && len(list.Items) > 0 {
		r.warn(f, list.Line, "disabledHooks names hooks by hashes that hookd does not know; here they run", "switch them off with: hookd disable NAME")
	}
	hooks := f.object(f.root, "hooks")
	if hooks == nil {
		return
	}
	r.events(f, hooks, func(event string, list *document.Node) {
		const speaks = "copilot" // under Claude Code's names, too, where Copilot's input has other members
		nested, flat := *list, *list
		isGroup := func(n *document.Node) bool { return n.Get("hooks") != nil }
		nested.Items = slices.DeleteFunc(slices.Clone(list.Items), func(n *document.Node) bool { return !isGroup(n) })
		flat.Items = slices.DeleteFunc(slices.Clone(list.Items), isGroup)
		r.groups(f, speaks, event, &nested, nil, copilotHandler)
		if !r.known(f, speaks, event, &flat) {
			return
		}
		for _, n := range flat.Items {
			e := r.entry(f, speaks, event, n)
			if n.Kind != document.Object {
				e.wrong(n, "a hook is "+n.Kind.String()+", not an object")
			} else {
				copilotHandler(e)
			}
			e.add()
		}
	})
}

func copilotHandler(e *entry) {
	e.members(e.node, "type", "bash", "powershell", "command", "exec", "args", "cwd", "env", "timeoutSec", "timeout", "matcher", "comment", "description",
		"windows", "linux", "osx", "url", "headers", "allowedEnvVars", "prompt")
	if !e.isCommand("command") {
		return
	}
	if e.node.Get("matcher") != nil {
		e.matcher(e.node)
	}
	line := e.text(e.node, "bash")
	if line == "" {
		line = e.text(e.node, "command")
	}
	switch program, args := e.text(e.node, "exec"), e.texts(e.node, "args"); {
	case line != "":
		e.hook.Shell = line
	case program != "":
		e.hook.Argv = append([]string{program}, args...)
	case e.text(e.node, "powershell") != "":
		e.leave("its command is for PowerShell, which hookd does not start", "add the same for bash")
		return
	}
	e.place(e.text(e.node, "cwd"), e.node.Get("env"))
	e.timeout(e.node, "timeout", time.Second)
	e.timeout(e.node, "timeoutSec", time.Second)
	e.description(e.text(e.node, "description"), e.text(e.node, "comment"))
}

// place has the command run in a folder and with variables.
func (e *entry) place(dir string, env *document.Node) {
	if dir == "." || dir == "./" {
		dir = ""
	}
	if dir == "" && (env == nil || len(env.Members) == 0) {
		return
	}
	if len(e.hook.Argv) > 0 {
		words := make([]string, len(e.hook.Argv))
		for i, word := range e.hook.Argv {
			words[i] = quoted(word)
		}
		e.hook.Argv, e.hook.Shell = nil, "exec "+strings.Join(words, " ")
	}
	if dir != "" {
		e.hook.Shell = "cd " + quoted(dir) + " || exit 1; " + e.hook.Shell
	}
	e.hook.Shell = e.withEnvironment(env, e.hook.Shell)
}
