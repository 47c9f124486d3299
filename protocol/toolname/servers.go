package toolname

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// cutServer returns what our name of an MCP server's tool says.
func cutServer(name string) (server, tool string, is bool) {
	rest, is := strings.CutPrefix(name, "mcp__")
	if !is {
		return "", "", false
	}
	server, tool, is = strings.Cut(rest, "__")
	return server, tool, is && server != "" && tool != ""
}

// serverName is our name of an MCP server's tool.
func serverName(server, tool string) string { return "mcp__" + server + "__" + tool }

// spell writes the name of a server's tool in one of the forms of [ServerNames].
func (s ServerName) spell(server, tool string) string {
	return strings.NewReplacer("SERVER", server, "TOOL", tool).Replace(s.Form)
}

// cut returns the servers and tools that a name can mean: a separator may also stand
// inside of either. The server is "" where the form does not say it.
func (s ServerName) cut(name string) (meanings [][2]string) {
	before, after, says := strings.Cut(s.Form, "SERVER")
	if !says {
		before, _, _ = strings.Cut(s.Form, "TOOL")
		if tool, is := strings.CutPrefix(name, before); is && tool != "" {
			return [][2]string{{"", tool}}
		}
		return nil
	}
	separator := strings.TrimSuffix(after, "TOOL")
	rest, is := strings.CutPrefix(name, before)
	if !is {
		return nil
	}
	for at := 0; ; {
		i := strings.Index(rest[at:], separator)
		if i < 0 {
			return meanings
		}
		i += at
		if server, tool := rest[:i], rest[i+len(separator):]; server != "" && tool != "" {
			meanings = append(meanings, [2]string{server, tool})
		}
		at = i + len(separator)
	}
}

// served is what an agent's name of a tool says about servers.
type served struct {
	tool         bool   // it is the tool of a server, or looks like one
	sure         bool   // it says of which server
	server, name string // where it does
	proven       bool   // no other tool is called so
}

// beginning is the part of a form before the server and the tool. A name that has it is
// the name of a server's tool.
func (s ServerName) beginning() string {
	before, _, _ := strings.Cut(s.Form, "SERVER")
	before, _, _ = strings.Cut(before, "TOOL")
	return before
}

// bare reports whether the form is nothing but the name of the tool.
func (s ServerName) bare() bool { return s.Form == "TOOL" }

func (s ServerName) isOf(agent string) bool {
	return slices.Contains(strings.Fields(s.Of), agent)
}

// ofServer returns which server's tool an agent's name means.
func ofServer(agent, name string) served {
	if server, tool, is := cutServer(name); is {
		return served{true, true, server, tool, true}
	}
	if knownTools()[name] != nil {
		return served{}
	}
	for _, form := range ServerNames {
		if !form.isOf(agent) || form.bare() {
			continue
		}
		proven := form.beginning() != ""
		switch meanings := form.cut(name); {
		case len(meanings) == 1 && meanings[0][0] != "":
			return served{true, true, meanings[0][0], meanings[0][1], proven}
		case len(meanings) > 0:
			return served{tool: true, proven: proven}
		}
	}
	return served{}
}

// namesBare reports whether an agent calls the tools of servers by nothing but their names.
func namesBare(agent string) bool {
	return slices.ContainsFunc(ServerNames, func(s ServerName) bool { return s.bare() && s.isOf(agent) })
}

// hasTable reports whether the table of tools has those of an agent.
func hasTable(agent string) bool {
	return slices.ContainsFunc(Vocabulary, func(t Tool) bool { return t.isOf(agent) })
}

// mayBeOfServer reports whether a tool whose name is not our name of a server's tool may
// be one.
func mayBeOfServer(tool string, kind protocol.ToolKind) bool {
	return kind == protocol.KindMCP && !strings.HasPrefix(tool, "mcp__") && len(tool) <= longestName && !readsServer(tool)
}

// readsServer reports whether a tool is one of the table's for what a server has besides
// tools: it is an agent's own, and not a tool of a server.
func readsServer(tool string) bool {
	known := knownTools()[tool]
	return known != nil && known.Kind == protocol.KindMCP
}

// spelled reports whether a name is how some agent writes the tool of a server.
func spelled(name, server, tool string) bool {
	return slices.ContainsFunc(ServerNames, func(s ServerName) bool { return s.spell(server, tool) == name })
}

// mostMeanings bounds how many names one is compared as.
const mostMeanings = 100

// serverNames are our names of all that an agent's name of a server's tool can mean.
func serverNames(name string) (names []string) {
	for _, form := range ServerNames {
		for _, m := range form.cut(name) {
			if ours := serverName(m[0], m[1]); m[0] != "" && len(names) < mostMeanings && !slices.Contains(names, ours) {
				names = append(names, ours)
			}
		}
	}
	return names
}
