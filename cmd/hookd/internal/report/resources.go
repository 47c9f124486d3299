package report

import (
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader"
)

// Resources lists skills, recipes and MCP servers, if there are any.
func Resources(p *show.Printer, resources []loader.Resource) {
	if len(resources) == 0 {
		return
	}
	p.Print("\n")
	table := show.Table{Header: []string{"FOR THE LOOP", "KIND", "LAYER", "STATUS", "WHY"}}
	for _, m := range resources {
		table.Add(show.Cell{Text: m.Name, Tone: show.Name}, show.Cell{Text: string(m.Kind)}, show.Cell{Text: string(m.Layer)},
			statusCell(m.Status), show.Cell{Text: m.Why, Tone: show.Quiet})
	}
	table.Write(p)
	serverNotes(p, resources)
}

// serverNotes prints what the rows of the servers do not say.
func serverNotes(p *show.Printer, resources []loader.Resource) {
	for _, m := range resources {
		if len(m.Unwatched) > 0 {
			unwatchedCode(p, m.Name, m.Unwatched)
		}
		if m.KnowsProject {
			p.Print("%s\n", p.In(show.Quiet, show.Line(m.Name)+" is told where the project is"))
		}
	}
}
