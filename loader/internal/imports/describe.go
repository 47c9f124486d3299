package imports

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/text"
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

// Value returns the value that a variable has for hooks of a dialect which start in a
// project's root: known is false for one that depends on who starts hookd. Two commands
// count as variables: those by which people name the project's folder where their agent
// has no variable for it.
func Value(dialect, name, root, home string) (value string, known bool) {
	switch {
	case name == "$(pwd)":
		return root, root != ""
	case name == "$(git rev-parse --show-toplevel)":
		return root, root != "" && hasGit(root)
	case name == "HOME":
		return home, home != ""
	case name == "PWD", name == "HOOK_PROJECT_DIR":
		return root, root != ""
	}
	p := foreignhooks.Find(dialect)
	if p == nil || !slices.Contains(p.ProjectVariables, name) {
		return "", false
	}
	return root, root != ""
}

// hasGit reports whether a folder is the top of a checkout.
func hasGit(root string) bool {
	_, err := os.Stat(filepath.Join(root, ".git"))
	return err == nil
}

// mostNamed is how many hooks one finding names.
const mostNamed = 5

// OpenOnce says once of each agent's settings, and not of each hook in them, that the agent
// goes on when its hooks crash, and how the person has the ones that matter refuse.
func OpenOnce(findings []schema.Finding) []schema.Finding {
	type source struct{ agent, folder string }
	named := map[source][]string{}
	at := map[source]int{} // of the finding that stands for all of them
	kept := findings[:0]
	for _, f := range findings {
		of := source{}
		if f.Code == string(schema.CodeFailsOpen) && f.Hook != nil {
			of = source{Owner(*f.Hook), filepath.Dir(f.File)}
		}
		if of.agent == "" {
			kept = append(kept, f)
			continue
		}
		if named[of] == nil {
			at[of] = len(kept)
			kept = append(kept, f)
		}
		named[of] = append(named[of], *f.Hook)
	}
	for of, names := range named {
		f := &kept[at[of]]
		*f = open(*f, of.agent, names)
	}
	return kept
}

// open is the finding of one hook, said of all that are named.
func open(f schema.Finding, agent string, names []string) schema.Finding {
	f.Remedy = `in hooks.use, add {"name": "` + names[0] + `", "onFailure": "block"} for each that you rely on`
	p := foreignhooks.Find(agent)
	if len(names) == 1 || p == nil {
		return f
	}
	list := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		list += " and " + text.Count(more, "more hook")
	}
	f.Message = p.FailsOpen + ", and so it is here for " + text.Count(len(names), "imported hook") + " that could refuse: " + list
	f.Hook, f.Line = nil, nil
	return f
}
