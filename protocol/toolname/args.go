package toolname

import (
	"slices"

	"github.com/hookd-dev/hookd/protocol"
)

// RequiredArgs lists the members that every call of a tool of hookd's own loop has in
// its args. A condition on another one is undecided there.
var RequiredArgs = map[string][]string{
	"bash":           {"command"},
	"read_file":      {"path"},
	"write_file":     {"path", "content"},
	"edit_file":      {"path", "oldText", "newText"},
	"list_dir":       {},
	"grep":           {"pattern"},
	"spawn_subagent": {"prompt"},
	"load_skill":     {"name"},
	"todo_write":     {"items"},
	"metadata_write": {"key"},
	"metadata_read":  {},
	"metadata_list":  {},
}

// WithoutArg returns the tools of hookd's own loop that a match admits and whose calls
// need not have a member in their args.
func WithoutArg(m *protocol.Match, member string) (tools []string) {
	var patterns []Pattern
	for _, text := range m.Tool {
		if p, err := ParsePattern(text); err == nil {
			patterns = append(patterns, p)
		}
	}
	for _, t := range Vocabulary {
		args, ours := RequiredArgs[t.Name]
		admitted := len(m.Tool) == 0 || slices.ContainsFunc(patterns, func(p Pattern) bool { return p.Match(t.Name, t.Kind) })
		if ours && admitted && !slices.Contains(args, member) {
			tools = append(tools, t.Name)
		}
	}
	return tools
}
