package trustquestion

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/trustcmd"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader"
)

// group is what of a plan is of one kind.
type group struct {
	one string // what one is called
	may string // what such a thing may do
	is  func(*loader.PlanItem) bool
}

func ofKind(kind loader.Kind) func(*loader.PlanItem) bool {
	return func(item *loader.PlanItem) bool { return item.Kind == kind }
}

func isRule(item *loader.PlanItem) bool {
	return item.Kind == loader.KindHook && len(jsonspan.Get(item.Now.Entry, "reply")) > 0
}

// groups are the kinds, those that run first.
var groups = []group{
	{one: "hook", may: "programs that run with your rights at events of the agent", is: func(item *loader.PlanItem) bool { return item.Kind == loader.KindHook && !isRule(item) }},
	{one: "MCP server", may: "programs that run with your rights while the agent works", is: ofKind(loader.KindServer)},
	{one: "rule", may: "answers to events without a program", is: isRule},
	{one: "settings file", may: "changes how hookd works in this project", is: ofKind(loader.KindSettings)},
	{one: "instruction file", may: "text that the model reads in every conversation here", is: ofKind(loader.KindInstructions)},
	{one: "skill", may: "texts that the model reads when it needs them", is: ofKind(loader.KindSkill)},
	{one: "recipe", may: "prompts that you or the model can run by name", is: ofKind(loader.KindRecipe)},
}

// summary prints what is here and what the answers lead to. guards are those that refuse
// their events until somebody decides.
func summary(p *show.Printer, plan *loader.Plan, waiting []*loader.PlanItem, guards []string) {
	head := "This project is new to hookd. Nothing of it counts until you allow it:"
	if slices.ContainsFunc(plan.Items, decided) {
		head = "Something of this project is not as you allowed it, and does not count until you look:"
	}
	p.Print("%s %s\n  %s\n\n", p.In(show.Warn, "?"), p.In(show.Strong, head), p.In(show.Name, show.Line(show.Tilde(plan.Project))))
	for i := range groups {
		groups[i].print(p, waiting)
	}
	for i := range plan.Items {
		if item := &plan.Items[i]; item.Problem != nil {
			p.Print("  %s %s %s\n", p.In(show.Bad, "✗"), nameOf(item), p.In(show.Quiet, "cannot be allowed: "+show.Line(item.Problem.Why)))
		}
	}
	no := "the agent works without it; hookd asks again next time, hookd untrust ends that"
	if len(guards) > 0 {
		refuse := " refuse their events"
		if len(guards) == 1 {
			refuse = " refuses its events"
		}
		no = show.Line(show.AndList(guards)) + refuse + "; the rest is left out, and hookd asks again next time"
	}
	p.Print("\n  %s   all of it counts from now on, as it is now; what changes later is asked again\n", p.In(show.Good, "yes"))
	p.Print("  %s    %s\n", p.In(show.Bad, "no"), no)
	p.Print("  %s  every line of it; then you are asked again\n\n", p.In(show.Name, "show"))
}

// decided reports whether a person decided about an item before.
func decided(item loader.PlanItem) bool {
	return item.State != loader.StateNew
}

// print prints one line for each item of a group, under what such things may do.
func (g *group) print(p *show.Printer, waiting []*loader.PlanItem) {
	var names []string
	for _, item := range waiting {
		if g.is(item) {
			names = append(names, nameOf(item)+p.In(show.Quiet, remark(item)))
		}
	}
	if len(names) == 0 {
		return
	}
	p.Print("  %s  %s\n", pad(text.Count(len(names), g.one), 18), p.In(show.Quiet, g.may))
	p.Print("  %s  %s\n", strings.Repeat(" ", 18), strings.Join(names, ", "))
}

// remark is what a person should know of an item besides its name.
func remark(item *loader.PlanItem) string {
	var parts []string
	switch item.State {
	case loader.StateChanged, loader.StateGone:
		parts = append(parts, string(item.State))
	case loader.StateTrusted:
		parts = append(parts, "damaged copy")
	}
	parts = append(parts, trustcmd.Powers(item)...)
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// nameOf is the name of an item as a person knows it.
func nameOf(item *loader.PlanItem) string {
	name := item.Hook
	switch item.Kind {
	case loader.KindSettings:
		if item.Path != "" {
			name = filepath.Join(filepath.Base(filepath.Dir(item.Path)), filepath.Base(item.Path))
		}
	case loader.KindInstructions:
		name = strings.TrimPrefix(name, "instructions/")
	case loader.KindServer:
		name = strings.TrimPrefix(name, "mcpServers/")
	case loader.KindSkill:
		name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "skills/"), "/SKILL.md"), ".md")
	case loader.KindRecipe:
		name = strings.TrimSuffix(strings.TrimPrefix(name, "recipes/"), ".md")
	}
	return show.Line(name)
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-show.Width(text), 0))
}
