package dialect

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// TODO(merge): the vocabulary table.
func theirNames(agent, ours string) []string {
	if server, tool, is := strings.Cut(strings.TrimPrefix(ours, "mcp__"), "__"); is && strings.HasPrefix(ours, "mcp__") {
		switch agent {
		case "gemini":
			return []string{"mcp_" + server + "_" + tool, ours}
		case "cursor":
			return []string{"MCP:" + tool, ours}
		case "copilot":
			return []string{server + "-" + tool, ours}
		}
		return []string{ours}
	}
	var names []string
	for i := range toolForms {
		if of := &toolForms[i]; of.ours == ours && slices.Contains(strings.Fields(of.agents), agent) {
			names = append(names, of.name)
		}
	}
	if names == nil {
		return []string{ours}
	}
	return names
}

func toTheirs(agent, theirs string, args protocol.RawMessage) (protocol.RawMessage, error) {
	for i := range toolForms {
		if of := &toolForms[i]; of.name == theirs && slices.Contains(strings.Fields(of.agents), agent) {
			return renamed(args, slices.DeleteFunc(slices.Clone(of.args), func(n [2]string) bool {
				return n[0] == "contents" && agent != "cursor" || n[0] == "file_path" && agent == "copilot" && !isClaudeName(theirs)
			}), 1, 0)
		}
	}
	return args, nil
}

func toOurs(agent, theirs string, args protocol.RawMessage) (protocol.RawMessage, error) {
	for i := range toolForms {
		if of := &toolForms[i]; of.name == theirs && slices.Contains(strings.Fields(of.agents), agent) {
			return renamed(args, of.args, 0, 1)
		}
	}
	return args, nil
}
