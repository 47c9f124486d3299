package agentloop

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// toolList is the tools of a session, as models and hooks see them. Tools of a
// [tool.Source] come and go: they are looked at before agent-start and before
// each step, those that have come are offered behind the others, those that are
// gone are not offered.
//
// Once a hook has changed the list at agent-start, a tool joins at the next
// agent-start only, where hooks see it before the model does; one that the list
// was changed without stays out, in this session and in one that resumes it.
type toolList struct {
	registry *tool.Registry
	sources  []tool.Source

	listed []protocol.Tool // wanted: those that are gone among them
	fixed  bool            // hooks changed it
	only   map[string]bool // names of those that a recipe or a sub-agent may use; nil: all
	judged map[string]bool // names that hooks were shown when they changed it
	last   bool            // this agent may start no sub-agent

	owner   map[string]int  // of a source's tools: which source
	present map[string]bool // of a source's tools: can be called
	told    map[string]bool // complaints made
}

func newToolList(options *Options) (*toolList, error) {
	registry, err := tool.NewRegistry(options.Tools...)
	if err != nil {
		return nil, err
	}
	return &toolList{
		registry: registry, sources: options.Sources, listed: registry.List(),
		owner: map[string]int{}, present: map[string]bool{}, told: map[string]bool{}, judged: map[string]bool{},
	}, nil
}

// restore takes over the list that hooks left in a session that is resumed.
func (l *toolList) restore(tools []protocol.Tool) {
	for _, t := range l.listed {
		l.judged[t.Name] = true
	}
	l.listed, l.fixed = tools, true
}

// offered are the tools that a model may call now.
func (l *toolList) offered() []protocol.Tool {
	if len(l.owner) == 0 && l.only == nil && !l.last {
		return l.listed
	}
	return slices.DeleteFunc(slices.Clone(l.listed), func(t protocol.Tool) bool { return l.gone(t.Name) || !l.allows(t.Name) })
}

// allows reports whether a tool may be used at all, whatever hooks offer.
func (l *toolList) allows(name string) bool {
	return (l.only == nil || l.only[name]) && !(l.last && name == builtin.SpawnSubagent)
}

// restricted is the list with the named tools only. What could not be used before
// cannot be used then either.
func (l *toolList) restricted(names []string) *toolList {
	r := *l
	r.judged, r.owner, r.present = maps.Clone(l.judged), maps.Clone(l.owner), maps.Clone(l.present)
	r.only = map[string]bool{}
	for _, name := range names {
		if l.allows(name) {
			r.only[name] = true
		}
	}
	return &r
}

// snapshot is what can be used now, for an agent that does not live long: nothing
// joins it.
func (l *toolList) snapshot() *toolList {
	return &toolList{registry: l.registry, listed: l.offered(), only: l.only, judged: map[string]bool{}, last: l.last}
}

// gone reports whether a tool was there once and is not there any more.
func (l *toolList) gone(name string) bool {
	_, joined := l.owner[name]
	return joined && !l.present[name]
}

// change puts the list that hooks made of what they were shown in place of ours.
func (l *toolList) change(shown, tools []protocol.Tool) {
	for _, t := range shown {
		l.judged[t.Name] = true
	}
	l.listed, l.fixed = tools, true
}

// look takes in what has changed at the sources, and returns what is wrong with
// their tools, each complaint once in the session.
func (l *toolList) look(atAgentStart bool) (complaints []string) {
	clear(l.present)
	for i, source := range l.sources {
		for _, t := range source.Tools() {
			complaint := l.take(i, t, atAgentStart)
			if complaint != "" && !l.told[complaint] {
				l.told[complaint] = true
				complaints = append(complaints, complaint)
			}
		}
	}
	return complaints
}

// take takes one tool of a source in. Of two with one name the first stays.
func (l *toolList) take(source int, t tool.Tool, atAgentStart bool) (complaint string) {
	d := t.Describe()
	owner, joined := l.owner[d.Name]
	if _, _, known := l.registry.Lookup(d.Name); known && (!joined || owner != source) || l.present[d.Name] {
		return fmt.Sprintf("there is a tool named %s already; the one of %s is not offered", d.Name, origin(d))
	}
	if err := l.registry.Put(t); err != nil {
		return fmt.Sprintf("a tool of %s is not offered: %v", origin(d), err)
	}
	l.owner[d.Name], l.present[d.Name] = source, true
	place := slices.IndexFunc(l.listed, func(listed protocol.Tool) bool { return listed.Name == d.Name })
	switch {
	case place >= 0 && !l.fixed:
		l.listed[place] = d.Tool() // its server may describe it otherwise by now
	case place < 0 && (!l.fixed || atAgentStart && !l.judged[d.Name]):
		l.listed = append(slices.Clip(l.listed), d.Tool())
	}
	return ""
}

func origin(d tool.Description) string {
	if d.Server == "" {
		return "a source of tools"
	}
	return "the server " + d.Server
}

// lookForTools takes in the tools that have come or gone.
func (r *Run) lookForTools(ctx context.Context, atAgentStart bool) {
	for _, complaint := range r.loop.tools.look(atAgentStart) {
		r.notify(ctx, "error", complaint)
	}
}
