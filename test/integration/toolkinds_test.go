package integration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/protocol/toolname"
)

func init() { generated["tool-kinds"] = toolKinds }

// toolKinds is the table of what each kind covers: hookd's own tools, and those of others.
func toolKinds() string {
	var b strings.Builder
	b.WriteString("| kind | hookd's tools | tools of other agents |\n|---|---|---|\n")
	for _, word := range []string{"@shell", "@read", "@write", "@net", "@agent"} {
		var own, others []string
		for _, tool := range toolname.Vocabulary {
			if tool.Kind != toolname.Kinds[word] {
				continue
			}
			name := "`" + tool.Name + "`"
			if slices.Contains(strings.Fields(tool.Of), "hookd") {
				own = append(own, name)
			} else {
				others = append(others, name)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", word, strings.Join(own, " "), strings.Join(others, " "))
	}
	var forms []string
	for _, s := range toolname.ServerNames {
		forms = append(forms, fmt.Sprintf("`%s` (%s)", s.Form, strings.ReplaceAll(s.Of, " ", ", ")))
	}
	fmt.Fprintf(&b, "| `@mcp` | `mcp__SERVER__TOOL` | tools of MCP servers: %s |\n", strings.Join(forms, ", "))
	return b.String()
}
