package imports

import (
	"slices"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/units"
)

// Describe returns the hook as a description, such as an entry of hooks.use with its
// dialect is. inProject says that a hook of the user starts in the project.
func (h *Hook) Describe(inProject bool) schema.Described {
	d := schema.Described{From: schema.FromImport, Pos: h.Pos, Hook: h.Name}
	d.Name, d.Dialect = &h.Name, &h.Dialect
	switch {
	case h.Shell != "":
		d.Command = foreignhooks.ShellLine(h.Shell)
	case len(h.Argv) > 0:
		d.Command = h.Argv
	}
	if h.Event != "" {
		d.Events = schema.Events{h.Event}
	}
	if h.Matcher != "" {
		d.Matcher = &h.Matcher
	}
	if h.When != "" {
		d.Match = &schema.MatchEntry{When: &h.When}
	}
	if h.Timeout > 0 {
		limit := units.Duration(h.Timeout)
		d.Timeout = &limit
	}
	if h.OnFailure != "" {
		d.OnFailure = &h.OnFailure
	}
	if h.Observes {
		observe := string(protocol.CanObserve)
		d.Can, d.OnFailure = &observe, nil
	}
	if h.Off {
		enabled := false
		d.Enabled = &enabled
	}
	if h.Description != "" {
		d.Description = &h.Description
	}
	if inProject {
		dir := "project"
		d.Dir = &dir
	}
	if h.Faulty { // what it could have been counts
		d.Faults = []string{"can", "command"}
		d.Command, d.Can = nil, nil
	}
	return d
}

// Refuses are the events that a hook of the agent can refuse.
func (a *Agent) Refuses() (events []protocol.EventName) {
	p := a.protocol()
	if p == nil {
		return nil
	}
	for i := range p.Events {
		if e := &p.Events[i]; e.Refuses && e.Event != "" && !slices.Contains(events, e.Event) {
			events = append(events, e.Event)
		}
	}
	return events
}

// projectVariables are the variables in which an agent gives its hooks the project's
// folder.
var projectVariables = map[string][]string{
	"claude":    {"CLAUDE_PROJECT_DIR"},
	"codex":     nil,
	"copilot":   {"COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
	"cursor":    {"CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
	"gemini":    {"GEMINI_PROJECT_DIR", "GEMINI_CWD", "CLAUDE_PROJECT_DIR"},
	"openhands": {"OPENHANDS_PROJECT_DIR"},
}

// Value returns the value that a variable has for hooks of a dialect which start in a
// project's root: known is false for one that depends on who starts hookd.
func Value(dialect, name, root, home string) (value string, known bool) {
	switch {
	case name == "HOME":
		return home, home != ""
	case name == "PWD", name == "HOOK_PROJECT_DIR", slices.Contains(projectVariables[dialect], name):
		return root, root != ""
	}
	return "", false
}
