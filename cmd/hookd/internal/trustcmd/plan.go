package trustcmd

import (
	"slices"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader"
)

// CountKinds says how many hooks, skills, recipes, servers and files of instructions are meant.
func CountKinds(plan *loader.Plan, names []string) string {
	var parts []string
	for _, kind := range []loader.Kind{loader.KindSettings, loader.KindHook, loader.KindSkill, loader.KindRecipe, loader.KindServer, loader.KindInstructions} {
		n := 0
		for i := range plan.Items {
			if plan.Items[i].Kind == kind && slices.Contains(names, plan.Items[i].Hook) {
				n++
			}
		}
		what := string(kind)
		switch kind {
		case loader.KindServer:
			what = "MCP server"
		case loader.KindInstructions:
			what = "instruction file"
		}
		if kind == loader.KindSettings && n > 0 {
			parts = append(parts, "the settings")
			continue
		}
		if n > 0 {
			parts = append(parts, text.Count(n, what))
		}
	}
	return show.AndList(parts)
}

// HowDecided returns how a person said yes, for the record.
func HowDecided(yes bool) string {
	if yes {
		return "--yes"
	}
	return "terminal"
}

// OpenItems prints the items of a plan that wait for a decision, and returns the names of
// those that can be allowed.
func OpenItems(p *show.Printer, plan *loader.Plan) (open []string) {
	for i := range plan.Items {
		item := &plan.Items[i]
		if item.Problem == nil && (item.In != "" || item.State == loader.StateTrusted && !item.Damaged) {
			continue
		}
		showItem(p, item)
		if item.Problem == nil && !slices.Contains(open, item.Hook) {
			open = append(open, item.Hook)
		}
	}
	return open
}
