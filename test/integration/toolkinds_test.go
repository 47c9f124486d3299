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
	for _, word := range []string{"@shell", "@read", "@write", "@net", "@agent", "@mcp"} {
		own, others := toolsOfKind(word)
		if word == "@mcp" {
			own = append([]string{"`mcp__SERVER__TOOL`"}, own...)
			for _, s := range toolname.ServerNames {
				others = append(others, fmt.Sprintf("`%s` (%s)", s.Form, strings.ReplaceAll(s.Of, " ", ", ")))
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", word, strings.Join(own, " "), strings.Join(others, " "))
	}
	return b.String()
}

// toolsOfKind are hookd's own tools of a kind, those of its MCP proxy included, and those of
// other agents.
func toolsOfKind(word string) (own, others []string) {
	for _, tool := range toolname.Vocabulary {
		of := strings.Fields(tool.Of)
		switch name := "`" + tool.Name + "`"; {
		case tool.Kind != toolname.Kinds[word]:
		case slices.Contains(of, "hookd"), slices.Contains(of, "mcp"):
			own = append(own, name)
		default:
			others = append(others, name)
		}
	}
	return own, others
}
