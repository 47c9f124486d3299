package toolset

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// Set is the tools of one agent. [Set.Refresh], [Set.Change] and [Set.Restore] must not be
// called while other methods run.
type Set struct {
	registry *tool.Registry
	sources  []tool.Source

	listed       []protocol.Tool // wanted; tools that are gone are among them
	fixed        bool            // hooks changed it
	shown        map[string]bool // names that hooks were shown when they changed it
	restrictedTo map[string]bool // names of those that a recipe or a sub-agent may use; nil: all
	denied       string          // name of a tool that the agent may not use; "" for none

	owner    map[string]int  // of a source's tools: which source
	present  map[string]bool // of a source's tools: can be called
	reported map[string]bool // complaints that were returned
}

// New returns a set of tools, to which those of the sources come. It fails on tools that
// share a name or have a broken schema.
func New(tools []tool.Tool, sources []tool.Source) (*Set, error) {
	registry, err := tool.NewRegistry(tools...)
	if err != nil {
		return nil, err
	}
	return &Set{
		registry: registry, sources: sources, listed: registry.List(),
		owner: map[string]int{}, present: map[string]bool{}, reported: map[string]bool{}, shown: map[string]bool{},
	}, nil
}

// Deny takes the named tool away, whatever hooks offer.
func (s *Set) Deny(name string) { s.denied = name }

// Denied reports whether [Set.Deny] took the tool away.
func (s *Set) Denied(name string) bool { return name != "" && s.denied == name }

// Lookup returns a tool that is registered, offered or not.
func (s *Set) Lookup(name string) (tool.Tool, tool.Description, bool) { return s.registry.Lookup(name) }

// Check checks args against the tool's schema.
func (s *Set) Check(name string, args protocol.RawMessage) error { return s.registry.Check(name, args) }

// Restore takes over the list that hooks left in a session that is resumed.
func (s *Set) Restore(tools []protocol.Tool) {
	for _, t := range s.listed {
		s.shown[t.Name] = true
	}
	s.listed, s.fixed = tools, true
}

// Offered returns the tools that a model may call now.
func (s *Set) Offered() []protocol.Tool {
	if len(s.owner) == 0 && s.restrictedTo == nil && s.denied == "" {
		return s.listed
	}
	return slices.DeleteFunc(slices.Clone(s.listed), func(t protocol.Tool) bool { return s.Gone(t.Name) || !s.Allows(t.Name) })
}

// Names returns the names of the tools that a model may call now.
func (s *Set) Names() []string {
	offered := s.Offered()
	names := make([]string, len(offered))
	for i, t := range offered {
		names[i] = t.Name
	}
	return names
}

// Allows reports whether a tool may be used at all, whatever hooks offer.
func (s *Set) Allows(name string) bool {
	return (s.restrictedTo == nil || s.restrictedTo[name]) && !s.Denied(name)
}

// IsRestricted reports whether the set was restricted to some names.
func (s *Set) IsRestricted() bool { return s.restrictedTo != nil }

// Restricted returns the set with the named tools only. A tool that s does not allow is
// not in it.
func (s *Set) Restricted(names []string) *Set {
	r := *s
	r.shown, r.owner, r.present = maps.Clone(s.shown), maps.Clone(s.owner), maps.Clone(s.present)
	r.restrictedTo = map[string]bool{}
	for _, name := range names {
		if s.Allows(name) {
			r.restrictedTo[name] = true
		}
	}
	return &r
}

// Snapshot returns what can be used now, for an agent that works for this one: no further
// tool joins it.
func (s *Set) Snapshot() *Set {
	return &Set{registry: s.registry, listed: s.Offered(), restrictedTo: s.restrictedTo, shown: map[string]bool{}, denied: s.denied}
}

// Gone reports whether a tool was there once and is not there any more.
func (s *Set) Gone(name string) bool {
	_, joined := s.owner[name]
	return joined && !s.present[name]
}

// Change takes over the list that hooks made of the tools that they were shown.
func (s *Set) Change(shown, tools []protocol.Tool) {
	for _, t := range shown {
		s.shown[t.Name] = true
	}
	s.listed, s.fixed = tools, true
}

// Refresh takes in what has changed at the sources. It returns what is wrong with their
// tools, each complaint once in the session.
func (s *Set) Refresh(atAgentStart bool) (complaints []string) {
	clear(s.present)
	for i, source := range s.sources {
		for _, t := range source.Tools() {
			complaint := s.add(i, t, atAgentStart)
			if complaint != "" && !s.reported[complaint] {
				s.reported[complaint] = true
				complaints = append(complaints, complaint)
			}
		}
	}
	return complaints
}

// add adds one tool of a source. Of two tools with one name the first stays.
func (s *Set) add(source int, t tool.Tool, atAgentStart bool) (complaint string) {
	d := t.Describe()
	owner, joined := s.owner[d.Name]
	if _, _, known := s.registry.Lookup(d.Name); known && (!joined || owner != source) || s.present[d.Name] {
		return fmt.Sprintf("there is a tool named %s already; the one of %s is not offered", d.Name, origin(d))
	}
	if err := s.registry.Put(t); err != nil {
		return fmt.Sprintf("a tool of %s is not offered: %v", origin(d), err)
	}
	s.owner[d.Name], s.present[d.Name] = source, true
	at := slices.IndexFunc(s.listed, func(listed protocol.Tool) bool { return listed.Name == d.Name })
	switch {
	case at >= 0 && !s.fixed:
		s.listed[at] = d.Tool() // its server may describe it otherwise by now
	case at < 0 && (!s.fixed || atAgentStart && !s.shown[d.Name]):
		s.listed = append(slices.Clip(s.listed), d.Tool())
	}
	return ""
}

func origin(d tool.Description) string {
	if d.Server == "" {
		return "a source of tools"
	}
	return "the server " + d.Server
}
