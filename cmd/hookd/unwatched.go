package main

import (
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/loader"
)

// showUnwatched names the hooks that run more of the project than was allowed.
func showUnwatched(p *show.Printer, hooks []daemon.Listed) {
	for _, h := range hooks {
		if len(h.Unwatched) > 0 {
			tellUnwatched(p, h.Name, h.Unwatched)
		}
	}
}

func tellUnwatched(p *show.Printer, name string, what []string) {
	p.Print("%s %s: runs code of the project that hookd does not watch: %s\n", p.In(show.Warn, "!"), p.In(show.Name, show.Line(name)), show.Line(strings.Join(what, "; ")))
}

// showServers says of the servers what their rows do not hold.
func showServers(p *show.Printer, materials []loader.Material) {
	for _, m := range materials {
		if len(m.Unwatched) > 0 {
			tellUnwatched(p, m.Name, m.Unwatched)
		}
		if m.Given {
			p.Print("%s\n", p.In(show.Quiet, show.Line(m.Name)+" is told where the project lies"))
		}
	}
}
