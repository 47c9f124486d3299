package logcmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// timeline prints a record for people. What a sub-agent or a recipe did is indented below
// what its caller did.
type timeline struct {
	p      *show.Printer
	day    string // of the line before
	root   int    // depth of the first event's agent
	rooted bool
}

// line prints one line of a record.
func (v *timeline) line(line *record.Line) {
	p := v.p
	day := line.Time.Local().Format(time.DateOnly)
	if v.day != "" && v.day != day {
		p.Print("%s\n", p.In(show.Strong, day))
	}
	v.day = day
	at := p.In(show.Quiet, line.Time.Local().Format("15:04:05.000"))
	if line.Lost > 0 {
		p.Print("%s         %s\n", at, p.In(show.Warn, lostText(line)))
	}
	switch line.Kind {
	case record.KindEvent:
		var e record.Event
		if line.Decode(&e) == nil {
			v.event(at, &e)
		}
	case record.KindLate:
		var l record.Late
		if line.Decode(&l) == nil {
			v.late(at, &l)
		}
	case record.KindSet:
		var s record.Set
		if line.Decode(&s) == nil {
			p.Print("%s         %s\n", at, p.In(show.Quiet, setText(&s)))
		}
	case record.KindMark:
		var m record.Mark
		if line.Decode(&m) == nil {
			p.Print("%s         %s\n", at, p.In(show.Quiet, "hookd verify waited for this call of "+show.Line(m.Host)+": it came"))
		}
	case record.KindTrust:
		var d record.Trust
		if line.Decode(&d) == nil {
			p.Print("%s         %s\n", at, trustText(p, &d))
		}
	default:
		p.Print("%s         %s\n", at, show.Line(string(line.Kind)))
	}
}

// lostText says how many lines before this one could not be recorded.
func lostText(line *record.Line) string {
	text := fmt.Sprintf("before this line %s could not be recorded", text.Count(int(line.Lost), "line"))
	if len(line.LostIDs) > 0 {
		text += ", of the events " + show.Shorten(strings.Join(line.LostIDs, " "), 300)
	}
	return text
}

// beside is as wide as the time and the ID of an event.
const beside = "                     "

// deepest is how many steps of two characters an event is indented at most: a record may
// claim any depth.
const deepest = 10

func (v *timeline) indent(e *record.Event) string {
	if !v.rooted {
		v.root, v.rooted = e.Depth, true
	}
	return strings.Repeat("  ", min(max(e.Depth-v.root, 0), deepest))
}

// event prints a decided event on a line, and what its hooks did below.
func (v *timeline) event(at string, e *record.Event) {
	p, indent := v.p, v.indent(e)
	subject := indent + show.Line(string(e.Event))
	if e.Tool != "" {
		subject += " " + show.Line(e.Tool)
	}
	p.Print("%s  %s%s %s\n", at+" "+p.In(show.Name, idEnd(e.ID)), subject, strings.Repeat(" ", max(1, 29-show.Width(subject))), decisionText(p, e))
	below := beside + indent
	for _, c := range e.Changed {
		p.Print("%s%s changed %s\n", below, p.In(show.Name, show.Line(c.By)), show.Line(report.Dotted(c.Path)))
	}
	if len(e.Left) > 0 {
		p.Print("%s%s left running and ended: %s\n", below, p.In(show.Warn, "!"), show.Line(process.Left(e.Left).String()))
	}
	for _, lost := range e.Lost {
		p.Print("%s%s %s\n", below, p.In(show.Warn, "!"), show.Line(lost))
	}
	report.Warnings(p, below, e.Runs, false)
}

// decisionText says what was decided, by whom and why, and who added context: it decides
// nothing, but the model reads it.
func decisionText(p *show.Printer, e *record.Event) string {
	text := actionText(p, e.Action)
	if e.By != nil {
		text += " by " + p.In(show.Name, show.Line(*e.By))
	}
	switch {
	case e.Answered != nil && e.Event == protocol.ToolCallStart: // beforehand
		text += ", " + answeredText(p, e)
	case e.Answered != nil:
		text = answeredText(p, e)
	case e.Reason != "":
		text += ": " + show.Line(show.Shorten(e.Reason, 120))
	}
	var from []string
	for i := range e.Runs {
		name := p.In(show.Name, show.Line(e.Runs[i].Hook))
		if e.Runs[i].ContextBytes > 0 && !slices.Contains(from, name) {
			from = append(from, name)
		}
	}
	if len(from) > 0 {
		text += ", context from " + strings.Join(from, ", ")
	}
	if e.Asked != "" {
		text += p.In(show.Quiet, "  ‹"+show.Line(e.Asked)+"›")
	}
	return text
}

// answeredText says who answered a question and what, with the person's words.
func answeredText(p *show.Printer, e *record.Event) string {
	verdict := p.In(show.Good, "allowed")
	if e.Action == protocol.Block || e.Action == protocol.Stop {
		verdict = p.In(show.Bad, "refused")
	}
	a := e.Answered
	by := map[protocol.Answerer]string{
		protocol.ByPerson:  " by the person",
		protocol.ByAlways:  " by what the person answered with always",
		protocol.BySetting: " by the setting " + show.Line(a.Name),
		protocol.ByFlag:    " by " + show.Line(a.Name),
		protocol.ByHook:    " by " + p.In(show.Name, show.Line(a.Name)),
		protocol.ByTimeout: ": nobody answered in time",
		protocol.ByNobody:  ": nobody was there to ask",
		protocol.ByFault:   ": the person could not be asked",
	}[a.By]
	if strings.HasSuffix(a.Option, "-always") {
		by += " for this session"
	}
	switch {
	case a.By == protocol.ByPerson && a.Option == "" && a.Text == "" && e.Action == protocol.Block:
		by += ", who chose none of the options"
	case a.Text != "":
		by += ": " + show.Line(show.Shorten(a.Text, 120))
	case a.By == protocol.ByHook && e.Reason != "":
		by += ": " + show.Line(show.Shorten(e.Reason, 120))
	}
	if e.Event == protocol.PermissionRequest && e.By != nil && *e.By != a.Name && a.By != protocol.BySetting && a.By != protocol.ByAlways {
		by += p.In(show.Quiet, " (asked by "+show.Line(*e.By)+")")
	}
	return verdict + by
}

// late prints the run of a hook that ended after its event had gone on.
func (v *timeline) late(at string, l *record.Late) {
	p, run := v.p, &l.Run
	answer, tone := report.RunAnswer(run)
	if run.Failure == "" && l.Note == "" && l.Dropped == 0 && run.Skipped == "" {
		tone = show.Quiet
	}
	text := fmt.Sprintf("%s %s  %s %s %s %s", at, p.In(show.Name, idEnd(l.ID)), p.In(show.Quiet, show.Line(string(l.Event))+", later:"),
		p.In(show.Name, show.Line(run.Hook)), p.In(tone, answer), p.In(show.Quiet, show.Milliseconds(run.TookMs)))
	for _, note := range []string{run.Detail, l.Note} {
		if note != "" {
			text += ", " + show.Line(note)
		}
	}
	p.Print("%s\n", text)
	report.Warnings(p, beside, []protocol.Run{{Hook: run.Hook, Source: run.Source, Warnings: run.Warnings}}, false)
}

func actionText(p *show.Printer, action protocol.Action) string {
	tone := show.Warn
	switch action {
	case protocol.Block, protocol.Stop:
		tone = show.Bad
	case protocol.Observe:
		tone = show.Good
	}
	return p.In(tone, string(action))
}

// trustText says on one line what a person decided.
func trustText(p *show.Printer, d *record.Trust) string {
	text := "a person decided: " + p.In(show.Name, show.Line(d.Hook)) + " " + show.Line(d.State)
	if d.How != "" {
		text += " (" + show.Line(d.How) + ")"
	}
	if d.Project != "" {
		text += p.In(show.Quiet, " in "+show.Line(d.Project))
	}
	return text
}

func setText(s *record.Set) string {
	var ready, others []string
	for _, h := range s.Hooks {
		if h.Status == string(executor.Ready) {
			ready = append(ready, show.Line(h.Name))
		} else {
			others = append(others, show.Line(h.Name)+" "+show.Line(h.Status))
		}
	}
	slices.Sort(ready)
	text := text.Count(len(ready), "hook") + " in force"
	if s.Project != "" {
		text += " in " + show.Line(s.Project)
	}
	if len(ready) > 0 {
		text += ": " + show.Shorten(strings.Join(ready, " "), 100)
	}
	if len(others) > 0 {
		text += "; " + show.Shorten(strings.Join(others, ", "), 100)
	}
	return text
}
