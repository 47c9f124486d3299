package report

import (
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// Each command that shows what hooks did calls Warnings for what went wrong. A warning is
// part of a run, so that no command can forget it.

// hookLabel returns a hook's name with its layer: equal names in different layers are
// different hooks. What belongs to hookd itself has none.
func hookLabel(p *show.Printer, name string, source protocol.Layer) string {
	label := p.In(show.Name, show.Line(name))
	if source != "" && source != protocol.Builtin {
		label += p.In(show.Quiet, " ("+string(source)+")")
	}
	return label
}

// WhoSays returns whose notice it is: with the layer if hookd says it of the hook, without
// if the hook says it.
func WhoSays(p *show.Printer, n *protocol.HookText) string {
	if n.Failure != "" || n.Warning {
		return hookLabel(p, n.Hook, n.Source)
	}
	return p.In(show.Name, show.Line(n.Hook))
}

// Warnings prints the hooks that could not be asked, and a line for each warning.
func Warnings(p *show.Printer, indent string, runs []protocol.Run, remedies bool) {
	for i := range runs {
		run := &runs[i]
		if run.Failure != "" {
			p.Print("%s%s %s\n", indent, p.In(show.Warn, "!"), failureLine(p, run))
			if remedies {
				remedyLines(p, indent+"  ", run)
			}
		}
		for _, w := range run.Warnings {
			p.Print("%s%s %s: %s\n", indent, p.In(show.Warn, "!"), hookLabel(p, run.Hook, run.Source), show.Line(w))
		}
	}
}

// remedyLines says what to do about a failure, with the end of what the hook wrote.
func remedyLines(p *show.Printer, indent string, run *protocol.Run) {
	if run.Remedy != "" {
		p.Print("%s%s\n", indent, p.In(show.Quiet, show.Line(run.Remedy)))
	}
	if tail := show.LastLines(run.Stderr, 3); tail != "" {
		p.Indented(indent+"stderr: ", show.Quiet, show.Visible(tail))
	}
}

// Notices returns what hooks say to the person. A notice that stands for a failure is not
// among them, since Warnings says more.
func Notices(o *protocol.Outcome) []protocol.HookText {
	var list []protocol.HookText
	for _, n := range o.Notices {
		if n.Failure == "" {
			list = append(list, n)
		}
	}
	return list
}
