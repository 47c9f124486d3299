package install

import (
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// Entry is one of our entries in an agent's configuration.
type Entry struct {
	Event   string // under which it stands
	Command Command
	Limit   time.Duration // what the entry itself states as its time-out, 0 if nothing
	Line    int           // 1-based

	unread bool // it stands where the agent looks for no hooks

	path  configtext.Path // of the element that it is
	value *configtext.Node
}

// entriesIn returns our entries in a file of an agent.
func (a *Agent) entriesIn(root *configtext.Node) (entries []Entry) {
	a.walk(root, nil, func(path configtext.Path, value *configtext.Node) {
		command, ok := ParseCommand(value.Text)
		element := elementOf(path)
		if !ok || element == nil || slices.ContainsFunc(entries, func(e Entry) bool { return slices.Equal(e.path, element) }) {
			return
		}
		e := Entry{Command: command, Line: value.Line, path: element, value: root.Find(element), Event: command.Event}
		switch {
		case a.layout.style == listed:
			e.Event = textOf(e.value.Get("trigger"))
		case element[0].Name == "hooks":
			e.Event = element[1].Name
		default:
			e.Event = element[0].Name
		}
		e.Limit = a.limitOf(e.value)
		entries = append(entries, e)
	})
	return entries
}

func textOf(n *configtext.Node) string {
	if n == nil || n.Kind != configtext.String {
		return ""
	}
	return n.Text
}

// limitOf returns the time-out that an entry states.
func (a *Agent) limitOf(value *configtext.Node) time.Duration {
	for _, name := range []string{"timeout", "timeoutSec"} {
		if n := value.Get(name); n != nil && n.Kind == configtext.Number {
			if number, err := time.ParseDuration(n.Text + "s"); err == nil {
				return time.Duration(float64(number) / float64(time.Second) * float64(a.layout.unit))
			}
		}
	}
	return 0
}

// walk calls see with every text in the part of a file that holds hooks.
func (a *Agent) walk(root *configtext.Node, path configtext.Path, see func(configtext.Path, *configtext.Node)) {
	if root == nil {
		return
	}
	if root.Kind == configtext.String && len(path) > 1 {
		see(path, root)
	}
	for i, item := range root.Items {
		a.walk(item, path.At(i), see)
	}
	for _, m := range root.Members {
		if len(path) == 0 && m.Name != "hooks" && !(a.layout.bare && a.knows(m.Name)) {
			continue
		}
		a.walk(m.Value, path.Member(m.Name), see)
	}
}

// knows reports whether a name is an event of the agent.
func (a *Agent) knows(name string) bool {
	return a.Dialect != nil && slices.ContainsFunc(a.Dialect.Rows, func(r dialect.Row) bool { return a.sameEvent(r.Name, name) })
}

// sameEvent reports whether two names are those of one event in this agent's files.
func (a *Agent) sameEvent(x, y string) bool {
	if !a.layout.loose {
		return x == y
	}
	fold := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	return fold(x) == fold(y)
}

// elementOf returns the part of a path that leads to the innermost element of a list,
// nil if there is none.
func elementOf(path configtext.Path) configtext.Path {
	for i := len(path); i > 0; i-- {
		if path[i-1].Name == "" {
			return path[:i]
		}
	}
	return nil
}

// listPath returns where the list of an event's entries stands in a file.
func (a *Agent) listPath(f file, root *configtext.Node, event string) configtext.Path {
	hooks := configtext.Names("hooks")
	if a.layout.style == listed {
		return hooks
	}
	holder := root.Get("hooks")
	if a.isBare(f, root) {
		hooks, holder = nil, root
	}
	if holder != nil {
		for _, m := range holder.Members {
			if a.sameEvent(m.Name, event) {
				return hooks.Member(m.Name)
			}
		}
	}
	return hooks.Member(event)
}

// isBare reports whether a file has the events at its root.
func (a *Agent) isBare(f file, root *configtext.Node) bool {
	return f.atRoot || a.layout.bare && root.Get("hooks") == nil && a.holdsEvents(root)
}

// holdsEvents reports whether a member of an object has the name of an event.
func (a *Agent) holdsEvents(object *configtext.Node) bool {
	return object != nil && slices.ContainsFunc(object.Members, func(m configtext.Member) bool { return a.knows(m.Name) })
}

// saysBlock reports whether an entry says that a failure blocks.
func (a *Agent) saysBlock(entry *Entry) bool {
	if entry == nil || entry.value == nil {
		return false
	}
	silent := a.layout.entry(Event{Name: entry.Event}, "")
	for _, field := range a.layout.entry(Event{Name: entry.Event, Block: true}, "") {
		said := slices.ContainsFunc(silent, func(other configtext.Field) bool { return other.Name == field.Name })
		if !said && configtext.Same(entry.value.Get(field.Name), configtext.Tree(field.Value)) {
			return true
		}
	}
	return false
}

// element returns what is appended to the list of an event.
func (a *Agent) element(e Event, command string) configtext.Fields {
	entry := a.layout.entry(e, command)
	if a.layout.style == groups {
		return configtext.Fields{{Name: "hooks", Value: []any{entry}}}
	}
	return entry
}

// The entries of the agents.

func units(limit, unit time.Duration) int { return int((limit + unit - 1) / unit) }

// plainEntry is an entry with a time-out in some unit.
func plainEntry(timeout string, unit time.Duration) func(Event, string) configtext.Fields {
	return func(e Event, command string) configtext.Fields {
		return configtext.Fields{{Name: "type", Value: "command"}, {Name: "command", Value: command}, {Name: timeout, Value: units(e.Limit, unit)}}
	}
}

// groupedEntry stands in a group of its event. closed is what the agent calls a hook without
// which a call must not run, and its value.
func groupedEntry(closed string, value any) func(Event, string) configtext.Fields {
	return closedEntry(plainEntry("timeout", time.Second), closed, value)
}

// shortEntry has no type.
func shortEntry(closed string, value any) func(Event, string) configtext.Fields {
	return closedEntry(func(e Event, command string) configtext.Fields {
		return configtext.Fields{{Name: "command", Value: command}, {Name: "timeout", Value: units(e.Limit, time.Second)}}
	}, closed, value)
}

func closedEntry(entry func(Event, string) configtext.Fields, closed string, value any) func(Event, string) configtext.Fields {
	return func(e Event, command string) configtext.Fields {
		fields := entry(e, command)
		if e.Block {
			fields = append(fields, configtext.Field{Name: closed, Value: value})
		}
		return fields
	}
}

// namedEntry has the name that the agent's own list of hooks shows.
func namedEntry(e Event, command string) configtext.Fields {
	return append(configtext.Fields{{Name: "name", Value: "hookd"}}, plainEntry("timeout", time.Millisecond)(e, command)...)
}

func copilotEntry(e Event, command string) configtext.Fields {
	shell := "bash"
	if strings.HasPrefix(command, "& ") {
		shell = "powershell"
	}
	return configtext.Fields{{Name: "type", Value: "command"}, {Name: shell, Value: command}, {Name: "timeoutSec", Value: units(e.Limit, time.Second)}}
}

func crushEntry(e Event, command string) configtext.Fields {
	return configtext.Fields{{Name: "name", Value: "hookd"}, {Name: "command", Value: command}, {Name: "timeout", Value: units(e.Limit, time.Second)}}
}

func kiroEntry(e Event, command string) configtext.Fields {
	entry := configtext.Fields{{Name: "name", Value: "hookd " + e.Name}, {Name: "trigger", Value: e.Name}}
	if strings.HasSuffix(e.Name, "ToolUse") {
		entry = append(entry, configtext.Field{Name: "matcher", Value: "*"})
	}
	return append(entry, configtext.Field{Name: "action", Value: configtext.Fields{{Name: "type", Value: "command"}, {Name: "command", Value: command}}},
		configtext.Field{Name: "timeout", Value: units(e.Limit, time.Second)}, configtext.Field{Name: "enabled", Value: true})
}

func windsurfEntry(_ Event, command string) configtext.Fields {
	return configtext.Fields{{Name: "command", Value: command}}
}
