package imports

import (
	"slices"
	"time"

	"github.com/hookd-dev/hookd/schema/document"
)

// gemini is Gemini CLI. What its extensions and its system settings name is not read.
var gemini = Agent{
	Name: "gemini", Title: "Gemini CLI", once: true,
	Files: [2][]string{
		OfProject: {".gemini/settings.json"},
		OfUser:    {".gemini/settings.json"},
	},
	read: readGemini,
}

// geminiSwitches are members of hooks that are no events, in older settings.
var geminiSwitches = []string{"enabled", "disabled", "notifications"}

func readGemini(r *reader, f *file) {
	hooks := f.object(f.root, "hooks")
	if hooks == nil {
		return
	}
	config := f.object(f.root, "hooksConfig")
	if config == nil {
		config = &document.Node{Kind: document.Object}
	}
	events := &document.Node{Kind: document.Object, Line: hooks.Line}
	for _, m := range hooks.Members {
		switch {
		case !slices.Contains(geminiSwitches, m.Key):
			events.Members = append(events.Members, m)
		case config.Get(m.Key) == nil:
			config.Members = append(config.Members, m)
		}
	}
	f.off = !f.flag(config, "enabled", true)
	disabled := f.words(config, "disabled")
	r.events(f, events, func(event string, list *document.Node) {
		r.groups(f, "gemini", event, list, []string{"sequential"}, func(e *entry) { geminiHandler(e, disabled) })
	})
}

// words reads a list of strings; something else spoils the file.
func (f *file) words(n *document.Node, key string) (list []string) {
	value := f.once(n, key)
	if value == nil {
		return nil
	}
	if value.Kind != document.List {
		f.spoil(value, key+" is "+value.Kind.String()+", not a list")
		return nil
	}
	for _, item := range value.Items {
		if item.Kind != document.String {
			f.spoil(item, key+" holds "+item.Kind.String()+", not a string")
			return nil
		}
		list = append(list, item.Text)
	}
	return list
}

func geminiHandler(e *entry, disabled []string) {
	e.members(e.node, "type", "command", "name", "description", "timeout", "env")
	if !e.isCommand("") {
		return
	}
	name, command := e.text(e.node, "name"), e.text(e.node, "command")
	e.hook.Off = slices.Contains(disabled, command) || name != "" && slices.Contains(disabled, name)
	e.hook.Shell = e.withEnvironment(e.node.Get("env"), command)
	e.timeout(e.node, "timeout", time.Millisecond)
	e.hook.Called = name
	e.description(e.text(e.node, "description"))
}
