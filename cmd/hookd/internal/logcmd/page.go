package logcmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// page prints one event whole: what was asked, what was decided, each hook's part in it,
// what was changed, and where it is recorded.
type page struct {
	p *show.Printer
}

// show prints the lines of an event, the first of which tells of it.
func (v *page) show(lines []*record.Line) {
	var late []*record.Line
	for _, line := range lines {
		switch line.Kind {
		case record.KindEvent:
			var e record.Event
			if line.Decode(&e) == nil {
				v.event(line, &e)
			}
		case record.KindLate:
			late = append(late, line)
		}
	}
	for _, line := range late {
		var l record.Late
		if line.Decode(&l) == nil {
			v.late(line, &l, len(late) == len(lines))
		}
	}
	first := lines[0]
	place := first.File
	if first.Number > 0 {
		place += ":" + strconv.Itoa(first.Number)
	}
	v.row("recorded in", show.Line(place))
}

// row prints a name and what is there, unless that is empty.
func (v *page) row(name, what string) {
	if what != "" {
		v.p.Print("  %s%s%s\n", v.p.In(show.Quiet, name), strings.Repeat(" ", max(1, 13-len(name))), what)
	}
}

func (v *page) event(line *record.Line, e *record.Event) {
	p := v.p
	title := show.Line(string(e.Event))
	if e.Tool != "" {
		title += " " + show.Line(e.Tool)
	}
	p.Print("%s  %s\n", p.In(show.Strong, title), p.In(show.Quiet, show.Line(e.ID)))
	v.row("asked", show.Line(e.Asked))
	v.row("decided", decisionText(p, withoutAsked(e)))
	if e.Answered != nil && e.Reason != "" {
		v.row("why asked", show.Line(e.Reason))
	}
	v.row("time", fmt.Sprintf("%s, after %s", line.Time.Local().Format("2006-01-02 15:04:05.000"), show.Milliseconds(e.WaitedMs)))
	v.row("project", show.Line(e.Project))
	v.row("session", show.Line(line.Session))
	v.row("agent", agentText(e))
	v.row("call", show.Line(e.ToolCallID))
	if e.Aborted != "" {
		v.row("given up", show.Line(e.Aborted)+"; nothing took effect")
	}
	v.value("data", &e.Data)
	v.changes(e)
	v.losses(e)
	v.hooks(e.Runs)
}

// withoutAsked is the event for a decision that does not repeat what was asked.
func withoutAsked(e *record.Event) *record.Event {
	short := *e
	short.Asked = ""
	return &short
}

func agentText(e *record.Event) string {
	text := show.Line(e.Agent)
	if e.Depth > 0 {
		text += fmt.Sprintf(", %d below the first", e.Depth)
	}
	if e.Host != "" {
		text += " under " + show.Line(e.Host)
	}
	return text
}

// value prints a value of the event, or what the record keeps of it.
func (v *page) value(name string, d *record.Digest) {
	if d.Value == nil {
		v.row(name, digestText(d))
		return
	}
	v.row(name, fmt.Sprintf("%d bytes", d.Bytes))
	v.p.Indented("    ", show.Plain, show.Visible(show.Pretty(d.Value)))
}

// digestText says what the record keeps of a value that it does not hold.
func digestText(d *record.Digest) string {
	if d == nil {
		return "not there"
	}
	text := fmt.Sprintf("%d bytes", d.Bytes)
	if hash, _ := strings.CutPrefix(d.Hash, "sha256:"); hash != "" {
		text += ", sha256 " + show.Line(show.Shorten(hash, 13))
	}
	return text + " (hooks.records.values full keeps values)"
}

// changes prints the fields that hooks changed, as a diff where the record holds the values.
func (v *page) changes(e *record.Event) {
	for _, c := range e.Changed {
		v.row("changed", show.Line(report.Dotted(c.Path))+" by "+v.p.In(show.Name, show.Line(c.By)))
		if (c.Before == nil || c.Before.Value != nil) && (c.After == nil || c.After.Value != nil) {
			v.p.Diff("    ", valueText(c.Before), valueText(c.After))
			continue
		}
		v.row("", "from "+digestText(c.Before))
		v.row("", "to "+digestText(c.After))
	}
	if e.Conflict {
		v.row("conflict", "more than one hook changed the same field; the last one counts")
	}
}

func valueText(d *record.Digest) string {
	if d == nil {
		return ""
	}
	return show.Pretty(d.Value)
}

// losses prints what did not go as it should, besides hooks.
func (v *page) losses(e *record.Event) {
	warn := func(what string) { v.row("!", v.p.In(show.Warn, what)) }
	if len(e.Left) > 0 {
		warn("left running and ended: " + show.Line(process.Left(e.Left).String()))
	}
	for _, lost := range e.Lost {
		warn(show.Line(lost))
	}
	if n := len(e.StateLost); n > 0 {
		warn(text.Count(n, "value") + " that hooks keep was written by two at once: the last one counts")
	}
	if e.Cut > 0 {
		warn(fmt.Sprintf("the record holds the event shortened: whole it has %d bytes", e.Cut))
	}
}

// hooks prints each hook's part, in running order.
func (v *page) hooks(runs []protocol.Run) {
	if len(runs) == 0 {
		v.row("hooks", "none was for this event")
		return
	}
	v.row("hooks", text.Count(len(runs), "hook")+", in running order")
	for i := range runs {
		v.run(strconv.Itoa(i+1), &runs[i])
	}
}

// run prints what one hook answered and wrote.
func (v *page) run(number string, run *protocol.Run) {
	p := v.p
	answer, tone := report.RunAnswer(run)
	took := ""
	if run.Skipped == "" {
		took = "  " + p.In(show.Quiet, show.Milliseconds(run.TookMs))
	}
	p.Print("    %s %s %s  %s%s\n", p.In(show.Quiet, number), p.In(show.Name, show.Line(run.Hook)),
		p.In(show.Quiet, "("+show.Line(string(run.Source))+", "+show.Line(string(run.Class))+")"), p.In(tone, answer), took)
	const below = "      "
	for line := range strings.Lines(why(run)) {
		p.Print("%s%s\n", below, show.Line(strings.TrimRight(line, "\r\n")))
	}
	if run.Remedy != "" {
		p.Print("%s%s\n", below, p.In(show.Quiet, "→ "+show.Line(run.Remedy)))
	}
	for _, fact := range runFacts(run) {
		p.Print("%s%s\n", below, show.Line(fact))
	}
	for _, w := range run.Warnings {
		p.Print("%s%s %s\n", below, p.In(show.Warn, "!"), show.Line(w))
	}
	if stderr := strings.TrimSpace(run.Stderr); stderr != "" {
		p.Indented(below+"stderr: ", show.Quiet, show.Visible(stderr))
	}
}

// why is the reason of a run, or what it changed.
func why(run *protocol.Run) string {
	if run.Failure == "" && run.Skipped == "" && run.Reason == "" && len(run.Changed) > 0 {
		return "changed " + strings.Join(dotted(run.Changed), ", ")
	}
	return report.RunWhy(run, nil)
}

// runFacts are what is to be said of a run besides its answer.
func runFacts(run *protocol.Run) (facts []string) {
	switch {
	case run.Signal != "":
		facts = append(facts, "ended by "+string(run.Signal))
	case run.Exit != nil && *run.Exit != 0 && !strings.Contains(why(run), "exit code"):
		facts = append(facts, "exit code "+strconv.Itoa(*run.Exit))
	}
	if run.Failure != "" && run.Rule != "" {
		facts = append(facts, "its rule for a failure: "+string(run.Rule))
	}
	if len(run.Changed) > 0 && run.Reason != "" {
		facts = append(facts, "changed "+strings.Join(dotted(run.Changed), ", "))
	}
	if run.ContextBytes > 0 {
		facts = append(facts, fmt.Sprintf("added %d bytes of context", run.ContextBytes))
	}
	if run.Dialect != "" {
		facts = append(facts, "speaks the protocol of "+run.Dialect)
	}
	if run.Sensitive {
		facts = append(facts, "is sensitive: what it wrote is not recorded")
	}
	return facts
}

func dotted(paths []string) []string {
	paths = slices.Clone(paths)
	for i := range paths {
		paths[i] = report.Dotted(paths[i])
	}
	return paths
}

// late prints what a hook did after the event had gone on. Where the record holds nothing
// else of the event, it names the event, too.
func (v *page) late(line *record.Line, l *record.Late, alone bool) {
	if alone {
		v.p.Print("%s  %s\n", v.p.In(show.Strong, show.Line(string(l.Event))), v.p.In(show.Quiet, show.Line(l.ID)))
	}
	v.row("later", line.Time.Local().Format("15:04:05.000"))
	v.run("·", &l.Run)
	if l.Note != "" {
		v.p.Print("      %s\n", show.Line(l.Note))
	}
	if l.Dropped > 0 {
		v.p.Print("      %s\n", v.p.In(show.Warn, text.Count(int(l.Dropped), "event")+" before this one did not reach it"))
	}
}
