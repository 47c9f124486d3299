package chat

import (
	"bytes"
	"testing"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// Who allows something in a conversation is told at once what of it waits for the next one.
func TestWhatWaitsForTheNextConversationIsSaid(t *testing.T) {
	item := func(name string, kind loader.Kind, entry string) loader.PlanItem {
		i := loader.PlanItem{Hook: name, Kind: kind}
		i.Now.Entry = protocol.RawMessage(entry)
		return i
	}
	plan := &loader.Plan{Items: []loader.PlanItem{
		item("guard.sh", loader.KindHook, `{}`), item("skills/s.md", loader.KindSkill, `{}`), item("recipes/r.md", loader.KindRecipe, `{}`),
		item("mcpServers/git", loader.KindServer, `{}`), item("agent", loader.KindSettings, `{"agent":{"model":"x"}}`),
		item("instructions/AGENTS.md", loader.KindInstructions, `{}`),
	}}
	const next = ": from the next conversation on, /new begins it\n"
	for _, c := range []struct {
		allowed                []string
		inProject, takesSkills bool
		want                   string
	}{
		{[]string{"guard.sh", "instructions/AGENTS.md"}, true, false, ""},
		{[]string{"skills/s.md"}, true, true, ""},
		{[]string{"skills/s.md"}, true, false, "1 skill" + next},
		{[]string{"guard.sh", "skills/s.md", "recipes/r.md", "mcpServers/git"}, true, true, "1 recipe and 1 MCP server" + next},
		{[]string{"skills/s.md", "recipes/r.md", "mcpServers/git", "agent"}, true, false, "the settings, 1 skill, 1 recipe and 1 MCP server" + next},
		{[]string{"guard.sh"}, false, false, "this conversation began outside of a project: /new begins one with it\n"},
	} {
		var out bytes.Buffer
		if sayLater(show.New(&out), plan, c.allowed, c.inProject, c.takesSkills); out.String() != c.want {
			t.Errorf("%v: %q, want %q", c.allowed, out.String(), c.want)
		}
	}
}
