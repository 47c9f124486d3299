package install

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// Agent is what is known about the configuration of one agent.
type Agent struct {
	Name, Title string
	Programs    []string       // names of its program, the usual one first
	Dialect     *dialect.Agent // its events
	Confirm     string         // what the person has to do in the agent, "" for nothing
	InProject   string         // what holds for the hooks of a project, "" for nothing

	layout   layout
	events   eventRules
	switches []Switch
}

// Scope says for whom hooks are installed.
type Scope string

const (
	User    Scope = "user"    // this person, in every project
	Project Scope = "project" // everybody who works in this project
	Managed Scope = "managed" // everybody on this machine, where the agent keeps its policy
)

// Scopes are all scopes.
var Scopes = []Scope{User, Project, Managed}

// layout is where and how an agent's hooks are written.
type layout struct {
	// files returns the files that may hold the hooks of a scope, none if the agent has
	// no place for it. The first one is written if none of them holds hooks.
	files func(p Places, s Scope) []file
	// also returns files that must be there for the others to count, with their text.
	also  func(p Places, s Scope) map[string]string
	style style
	entry func(e Event, command string) configtext.Fields
	unit  time.Duration // of the time-out that entry writes, 0 if there is none
	bare  bool          // a file may have the events at its root, without hooks around them
	root  []rootMember  // members that the file must have
	loose bool          // names of events are the same whatever their case and underscores
	own   bool          // the file is hookd's alone

	windows Shell // with which the agent runs hooks on Windows
}

// rootMember is a member that a file must have besides its hooks.
type rootMember struct {
	name  string
	value any
}

// file is a configuration file of an agent.
type file struct {
	path   string
	format configtext.Format
	shared bool // it is chosen only if it holds hooks already
	atRoot bool // the agent reads events at the root of this file, and none below hooks
}

// style is how entries are arranged in a file.
type style int

const (
	groups  style = iota // hooks.EVENT: [{matcher, hooks: [{command}]}]
	flat                 // hooks.EVENT: [{command}]
	listed               // hooks: [{trigger, action: {command}}]
	scripts              // a file for each event, which is the program
	plugin               // one file of source text
)

// eventRules say which of the agent's events are installed.
type eventRules struct {
	oldest  Version            // the first version with hooks that can be used
	since   map[string]Version // the first version that has an event; every version has the others
	skipped []string           // events of the dialect that this configuration does not have
	limits  map[string]time.Duration
	assumed Version // what an unknown version is taken for, where leaving events out would leave guards unasked
	blocks  Version // since when a hook that cannot be started blocks if its entry says so
}

// Event is one event that is installed.
type Event struct {
	Name  string
	Limit time.Duration // what the agent's configuration states
	Gate  bool          // the agent can refuse what the event announces
	Block bool          // the entry says that a failure blocks
}

// Events returns the events that a version of the agent knows, and the names of those
// that it does not. Of an unknown version the events are those that every version has, or
// those of the version that is assumed.
func (a *Agent) Events(v Version) (events []Event, missing []string) { return a.eventsBeside(v, nil) }

// eventsBeside is Events over entries of an earlier installation. Where the version is not
// known, what stands in the file stays: the version that it was written for is known to have
// these events, and to obey an entry that says that a failure blocks.
func (a *Agent) eventsBeside(v Version, entries []Entry) (events []Event, missing []string) {
	if a.Dialect == nil {
		return nil, nil
	}
	entryOf := func(string) *Entry { return nil }
	if !v.Known() {
		v = a.events.assumed
		entryOf = func(name string) *Entry {
			i := slices.IndexFunc(entries, func(e Entry) bool { return !e.unread && a.sameEvent(e.Event, name) })
			if i < 0 {
				return nil
			}
			return &entries[i]
		}
	}
	knows := func(name string) bool {
		since, dated := a.events.since[name]
		return !dated || v.Known() && v.Compare(since) >= 0 || entryOf(name) != nil
	}
	for _, row := range a.Dialect.Rows {
		switch {
		case slices.Contains(a.events.skipped, row.Name), row.Pieces, row.Same != "" && knows(row.Same):
			continue
		case !knows(row.Name):
			missing = append(missing, row.Name)
			continue
		}
		e := Event{Name: row.Name, Limit: row.Limit, Gate: row.Can.Block.Possible()}
		if limit, ok := a.events.limits[row.Name]; ok {
			e.Limit = limit
		}
		e.Block = e.Gate && (!a.events.blocks.Known() || v.Known() && v.Compare(a.events.blocks) >= 0 || a.saysBlock(entryOf(row.Name)))
		events = append(events, e)
	}
	return events, missing
}

// Has reports whether the agent has a place for the hooks of a scope.
func (a *Agent) Has(p Places, s Scope) bool { return len(a.layout.files(p, s)) > 0 }

// Paths returns the files that may hold the hooks of a scope, the usual one first.
func (a *Agent) Paths(p Places, s Scope) (paths []string) {
	for _, f := range a.layout.files(p, s) {
		paths = append(paths, f.path)
	}
	return paths
}

// Find returns the agent of a name, nil if there is none.
func Find(name string) *Agent {
	i := slices.IndexFunc(Agents, func(a *Agent) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return Agents[i]
}

// Names returns the names of all agents.
func Names() (names []string) {
	for _, a := range Agents {
		names = append(names, a.Name)
	}
	return names
}

// Places are the folders in which agents look for their configuration.
type Places struct {
	Home    string                   // of the person
	Project string                   // the project's root, "" outside of any
	System  string                   // before the absolute paths of the machine's files, "" for none
	OS      string                   // as runtime.GOOS
	Getenv  func(name string) string // nil: no variable is set
}

// home returns a path below the folder that a variable names, else below a folder of
// the person's home.
func (p Places) home(variable, folder string, below ...string) string {
	base := filepath.Join(p.Home, filepath.FromSlash(folder))
	if p.Getenv != nil && variable != "" {
		if named := p.Getenv(variable); filepath.IsAbs(named) {
			base = named
		}
	}
	return filepath.Join(append([]string{base}, below...)...)
}

// config returns a path below the folder for configuration (XDG).
func (p Places) config(below ...string) string { return p.home("XDG_CONFIG_HOME", ".config", below...) }

// project returns a path below the project's root.
func (p Places) project(below string) string {
	return filepath.Join(p.Project, filepath.FromSlash(below))
}

// system returns the machine's file for this system.
func (p Places) system(linux, darwin, windows string) string {
	switch p.OS {
	case "darwin":
		linux = darwin
	case "windows":
		return windows
	}
	if linux == "" {
		return ""
	}
	return filepath.Join(p.System, linux)
}

// Switch is a setting that keeps an agent from running hooks.
type Switch struct {
	Files  func(p Places) []file
	Path   configtext.Path
	Off    func(value *configtext.Node) bool
	Spares Scope  // hooks of this scope run all the same, "" for none
	Says   string // what it does, as part of a sentence
	Remedy string
}
