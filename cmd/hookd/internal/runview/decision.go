package runview

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// decision prints what hooks did to an event, if anything: who, what and why. Folded, what
// refused nothing is one quiet line.
func (v *TextPrinter) decision(y *agentloop.Update) {
	p, o := v.p, &y.Outcome
	indent := v.indent() + "    "
	v.changes(indent, y)
	verdict(p, indent, o)
	lines := noticeLines
	if v.options.Folded {
		lines = foldedNotice
	} else {
		for _, c := range o.Context {
			p.Print("%s%s %s\n", indent, p.In(show.Name, "+ "+show.Line(c.Hook)+" tells the model:"), show.OnOneLine(c.Text, 120))
		}
	}
	report.Warnings(p, indent, o.Runs, false)
	for _, n := range report.Notices(o) {
		printNotice(p, indent, n, lines)
	}
}

// verdict prints what the hook that decided said, if one did.
func verdict(p *show.Printer, indent string, o *protocol.Outcome) {
	if o.By == nil {
		return
	}
	by := p.In(show.Name, show.Line(*o.By))
	switch o.Action {
	case protocol.Block:
		if o.Answered != nil && o.Answered.By != protocol.ByHook {
			p.Print("%s%s refused%s\n", indent, p.In(show.Bad, "✗"), why(o))
			break
		}
		p.Print("%s%s blocked by %s%s\n", indent, p.In(show.Bad, "✗"), by, why(o))
	case protocol.Stop:
		p.Print("%s%s stopped by %s%s\n", indent, p.In(show.Bad, "■"), by, why(o))
	case protocol.Callback:
		p.Print("%s%s %s asks for recipe %s\n", indent, p.In(show.Warn, "→"), by, report.CalledRecipe(o))
	case protocol.Continue:
		p.Print("%s%s %s asks to go on%s\n", indent, p.In(show.Warn, "→"), by, why(o))
	case protocol.Ask:
		p.Print("%s%s %s leaves it to a person%s\n", indent, p.In(show.Warn, "→"), by, why(o))
	}
}

// why returns the reason of a verdict, "" if the hook gave none.
func why(o *protocol.Outcome) string {
	if strings.TrimSpace(o.Reason) == "" {
		return ""
	}
	return ": " + show.Line(o.Reason)
}

// How much of a notice is printed, and how much where the rest can be opened.
const (
	noticeLines  = 60
	foldedNotice = 4
)

// printNotice prints what a hook says to the person. The lines that follow the first have
// a bar, so that none of them looks like a line of hookd.
func printNotice(p *show.Printer, indent string, n protocol.HookText, most int) {
	text := strings.TrimPrefix(n.Text, n.Hook+": ") // many begin with their own name
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	p.Print("%s%s %s\n", indent, p.In(show.Name, "· "+show.Line(n.Hook)+":"), show.Line(lines[0]))
	for i, line := range lines[1:] {
		if i == most-1 && len(lines)-1-i > 1 { // the line that says so takes as much room as one
			p.Print("%s  │ … %d more lines\n", indent, len(lines)-1-i)
			break
		}
		p.Print("%s  │ %s\n", indent, show.Line(line))
	}
}

// changes prints what hooks changed: with the diff, or folded, with what the model is told, as
// who and what.
func (v *TextPrinter) changes(indent string, y *agentloop.Update) {
	o := withoutOurs(&y.Outcome)
	if !v.options.Folded {
		report.Changes(v.p, indent, o)
		return
	}
	v.hooks.take(v.p, y)
	if len(o.Changes) == 0 && len(o.Replaced) == 0 && len(o.Context) == 0 {
		return
	}
	where := ""
	if !protocol.Lookup(y.Event.Event).Tool { // a call's diff is part of what its own number shows
		var body bytes.Buffer
		v.aside(&body, func() { wholeDecision(v.p, "  ", o) })
		where = fmt.Sprintf("  #%d", v.calls.details.add(string(y.Event.Event), body.String()))
	}
	v.p.Print("%s%s\n", indent, v.p.In(show.Quiet, strings.Join(quietParts(o), ", ")+where))
}

// quietParts says in a few words what hooks changed, and what they tell the model.
func quietParts(o *protocol.Outcome) (parts []string) {
	add := func(part string) {
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	for _, c := range o.Changes {
		add(show.Line(c.By) + " changed " + show.Line(report.Dotted(c.Path)))
	}
	if len(o.Replaced) > 0 {
		add(show.Line(o.ReplacedBy) + " answered in its place")
	}
	for _, c := range o.Context {
		add(show.Line(c.Hook) + " tells the model: " + show.OnOneLine(c.Text, 60))
	}
	return parts
}

// withoutOurs is an outcome without the changes of the loop's own features: that
// a sub-agent has no task list, say, is no decision of anybody's hooks, and that
// a feature carries out the tool it brought along is none either.
func withoutOurs(o *protocol.Outcome) *protocol.Outcome {
	ours := map[string]bool{}
	for i := range o.Runs {
		if run := &o.Runs[i]; run.Source == protocol.Builtin && len(run.Changed) > 0 {
			ours[run.Hook] = true
		}
	}
	if len(ours) == 0 {
		return o
	}
	without := *o
	without.Changes = slices.DeleteFunc(slices.Clone(o.Changes), func(c protocol.Change) bool { return ours[c.By] })
	if ours[o.ReplacedBy] {
		without.Replaced, without.ReplacedBy = nil, ""
	}
	return &without
}
