package schema

import "slices"

// ToolArgs are the members that every call of a tool of hookd's own loop has in its
// args. A condition on another one is undecided there.
var ToolArgs = map[string][]string{
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

// WithoutArg are the tools of hookd's own loop that a match admits and whose calls
// need not have a member in their args.
func WithoutArg(m *Match, member string) (tools []string) {
	var patterns []ToolPattern
	for _, text := range m.Tool {
		if p, err := ParseToolPattern(text); err == nil {
			patterns = append(patterns, p)
		}
	}
	for _, t := range Vocabulary {
		args, ours := ToolArgs[t.Name]
		admitted := len(m.Tool) == 0 || slices.ContainsFunc(patterns, func(p ToolPattern) bool { return p.Match(t.Name, t.Kind) })
		if ours && admitted && !slices.Contains(args, member) {
			tools = append(tools, t.Name)
		}
	}
	return tools
}
