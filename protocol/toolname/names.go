package toolname

import (
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// ourAgent is whose tools hookd's own loop has.
const ourAgent = "hookd"

// knownTool is a row of the vocabulary as patterns look at it.
type knownTool struct {
	Tool
	agents []string
	does   []string            // hookd's tools that it is one or several of
	kinds  []protocol.ToolKind // one, but for a tool that is several of hookd's
	patch  bool                // a patch both writes and edits files
}

var knownTools = sync.OnceValue(func() map[string]*knownTool {
	tools := make(map[string]*knownTool, len(Vocabulary))
	for _, t := range Vocabulary {
		tools[t.Name] = &knownTool{Tool: t, agents: strings.Fields(t.Of), kinds: []protocol.ToolKind{t.Kind},
			patch: slices.ContainsFunc(t.Args, func(a Arg) bool { return a.Form == Patch })}
	}
	for _, t := range tools {
		t.does = t.means()
		for _, name := range t.does {
			if one := tools[name]; one != nil && !slices.Contains(t.kinds, one.Kind) {
				t.kinds = append(t.kinds, one.Kind)
			}
		}
	}
	return tools
})

// standsFor reports whether the name that a matcher gives means a tool of another
// agent that has a name of its own for it: Bash in a matcher is bash in hookd's loop.
// Names of one agent are different tools: there Edit is not MultiEdit. kind is the
// tool's own where the event tells it.
func standsFor(given, tool string, kind protocol.ToolKind) bool {
	if server, of, is := cutServer(given); is {
		return mayBeOfServer(tool, kind) && spelled(tool, server, of)
	}
	name := knownTools()[given]
	if name == nil || name.Kind == protocol.KindOther || !common(name.kinds, kindsOf(tool, kind)) {
		return false
	}
	ours := slices.Contains(name.agents, ourAgent)
	is := knownTools()[tool]
	if name.Kind == protocol.KindMCP { // reads of a server; all others of the kind are tools of servers
		return is != nil && common(name.does, is.does)
	}
	if is == nil {
		return !ours // a tool of somebody's own: ours have their names
	}
	isOurs := slices.Contains(is.agents, ourAgent)
	switch {
	case !ours && isOurs, common(name.does, is.does):
		return true
	case is.patch || name.patch, ours && len(is.does) == 0:
		return true // nobody knows what it is the same as
	case !ours && len(name.does) > 0 && len(is.does) > 0:
		return false // two tools of other agents, and not the same
	}
	return !common(name.agents, is.agents)
}

// namesOf are the names that a pattern with room for several sees: the tool's own
// and those of other agents for the same.
func namesOf(tool string, kind protocol.ToolKind) []string {
	names := []string{tool}
	for i := range Vocabulary {
		if other := Vocabulary[i].Name; other != tool && standsFor(other, tool, kind) {
			names = append(names, other)
		}
	}
	if mayBeOfServer(tool, kind) {
		names = append(names, serverNames(tool)...)
	}
	return names
}

// Foreign returns the agents that have a tool of this name, if they are others than
// hookd's own loop and that has no tool like it: a hook for the name never runs there.
func Foreign(name string) (agents []string) {
	known := knownTools()[name]
	if known == nil || slices.Contains(known.agents, ourAgent) || hasOurs(known.Kind) {
		return nil
	}
	return known.agents
}

// hasOurs reports whether hookd's own loop has a tool of that kind, or may have one
// of a server.
func hasOurs(kind protocol.ToolKind) bool {
	return kind == protocol.KindMCP || slices.ContainsFunc(Vocabulary, func(t Tool) bool {
		return t.Kind == kind && kind != protocol.KindOther && slices.Contains(strings.Fields(t.Of), ourAgent)
	})
}

// Kind returns the kind of a tool by its exact name. known is false for a tool that
// no row knows, which belongs to every kind, and for one that is of several.
func Kind(name string) (kind protocol.ToolKind, known bool) {
	if kinds := kindsOf(name, ""); len(kinds) == 1 {
		return kinds[0], true
	}
	return protocol.KindOther, false
}

func isMCPName(name string) bool {
	return len(name) > len("mcp_") && name[:len("mcp_")] == "mcp_"
}
