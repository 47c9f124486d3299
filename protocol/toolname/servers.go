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

// ofServer returns which server's tool an agent's name means. sure is false where it is
// such a tool and the name does not say which server's.
func ofServer(agent, name string) (server, tool string, is, sure bool) {
	if server, tool, is := cutServer(name); is {
		return server, tool, true, true
	}
	if knownTools()[name] != nil {
		return "", "", false, false
	}
	for _, form := range ServerNames {
		if !slices.Contains(strings.Fields(form.Of), agent) {
			continue
		}
		switch meanings := form.cut(name); {
		case len(meanings) == 1 && meanings[0][0] != "":
			return meanings[0][0], meanings[0][1], true, true
		case len(meanings) > 0:
			return "", "", true, false
		}
	}
	return "", "", false, false
}

// mayBeOfServer reports whether a tool whose name is not our name of a server's tool may
// be one.
func mayBeOfServer(tool string, kind protocol.ToolKind) bool {
	return kind == protocol.KindMCP && !strings.HasPrefix(tool, "mcp__") && len(tool) <= longestName
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
