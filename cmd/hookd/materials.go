package main

import (
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/loader"
)

// fullListing is what hookd list --json prints: the hooks, and what the layers
// hold for the agent loop besides.
type fullListing struct {
	daemon.Listing
	Materials []loader.Material `json:"materials"`
}

// showMaterials lists skills, recipes and MCP servers, if there are any.
func showMaterials(p *show.Printer, materials []loader.Material) {
	if len(materials) == 0 {
		return
	}
	p.Print("\n")
	table := show.Table{Header: []string{"FOR THE LOOP", "KIND", "LAYER", "STATUS", "WHY"}}
	for _, m := range materials {
		table.Add(show.Cell{Text: m.Name, Tone: show.Name}, show.Cell{Text: string(m.Kind)}, show.Cell{Text: string(m.Layer)},
			statusCell(m.Status), show.Cell{Text: m.Why, Tone: show.Quiet})
	}
	table.Write(p)
	showServers(p, materials)
}
