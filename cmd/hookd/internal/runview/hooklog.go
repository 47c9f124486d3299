package runview

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// hookLog is what hooks did in a turn: a quiet line at its end, and all that the line opens
// to. What was refused has a line of its own as well, where it was refused.
type hookLog struct {
	asked int
	kinds []hookDeed // in the order in which they first came
	body  bytes.Buffer
}

// hookDeed is one kind of thing that hooks did.
type hookDeed struct {
	what  string
	times int
	by    []string
}

// take adds a decided event.
func (l *hookLog) take(p *show.Printer, y *agentloop.Update) {
	o := withoutOurs(&y.Outcome)
	l.asked += askedHooks(o)
	before := l.deeds()
	for by, what := range deedsOf(o) {
		l.add(by, what)
	}
	if l.deeds() == before {
		return
	}
	where := string(y.Event.Event)
	if d, read := data[protocol.ToolCallStartData](y); read && protocol.Lookup(y.Event.Event).Tool {
		where += " " + (&OpenCall{Call: d.Call}).Title()
	}
	to := &show.Printer{W: &l.body, Color: p.Color, Width: p.Width}
	to.Print("  %s %s\n", to.In(show.Quiet, y.Event.Time.Local().Format("15:04:05")), where)
	wholeDecision(to, "    ", o)
}

func (l *hookLog) add(by, what string) {
	i := slices.IndexFunc(l.kinds, func(d hookDeed) bool { return d.what == what })
	if i < 0 {
		i = len(l.kinds)
		l.kinds = append(l.kinds, hookDeed{what: what})
	}
	d := &l.kinds[i]
	d.times++
	if !slices.Contains(d.by, by) {
		d.by = append(d.by, by)
	}
}

func (l *hookLog) deeds() (n int) {
	for i := range l.kinds {
		n += l.kinds[i].times
	}
	return n
}

// line returns the quiet line, "" if hooks did nothing but look.
func (l *hookLog) line() string {
	if len(l.kinds) == 0 {
		return ""
	}
	parts := []string{fmt.Sprintf("hooks: %d asked", l.asked)}
	for i := range l.kinds {
		d := &l.kinds[i]
		parts = append(parts, fmt.Sprintf("%d %s (%s)", d.times, d.what, show.Line(strings.Join(d.by, ", "))))
	}
	return strings.Join(parts, ", ")
}

// end prints the quiet line, if there is one, and folds all that hooks did away.
func (l *hookLog) end(p *show.Printer, folded *details) {
	if line := l.line(); line != "" {
		p.Print("%s\n", p.In(show.Quiet, fmt.Sprintf("%s  #%d", line, folded.add(line, l.body.String()))))
	}
}

// wasAsked reports whether a run is that of a hook which somebody wrote, and not left out.
func wasAsked(run *protocol.Run) bool {
	ours := run.Source == protocol.Builtin || run.Hook == builtin.ApprovalHook && run.Hash == ""
	return !ours && run.Skipped == ""
}

// askedHooks returns how many hooks were asked that somebody wrote.
func askedHooks(o *protocol.Outcome) (n int) {
	for i := range o.Runs {
		if wasAsked(&o.Runs[i]) {
			n++
		}
	}
	return n
}

// deedsOf returns what hooks did to an event: by whom, and what in a few words.
func deedsOf(o *protocol.Outcome) func(yield func(by, what string) bool) {
	return func(yield func(by, what string) bool) {
		seen := map[[2]string]bool{}
		tell := func(by, what string) {
			if !seen[[2]string{by, what}] {
				seen[[2]string{by, what}] = true
				yield(by, what)
			}
		}
		for _, c := range o.Changes {
			member, _, _ := strings.Cut(report.Dotted(c.Path), ".")
			tell(c.By, "changed "+show.Line(member))
		}
		if len(o.Replaced) > 0 {
			tell(o.ReplacedBy, "answered in its place")
		}
		if what := verdictWord(o); what != "" {
			tell(*o.By, what)
		}
		for _, c := range o.Context {
			tell(c.Hook, "added context")
		}
		for _, n := range report.Notices(o) {
			tell(n.Hook, "told you something")
		}
		for i := range o.Runs {
			if o.Runs[i].Failure != "" {
				tell(o.Runs[i].Hook, "failed")
			}
		}
	}
}

// verdictWord returns what the hook that decided did, "" if none did.
func verdictWord(o *protocol.Outcome) string {
	if o.By == nil || o.Answered != nil && o.Answered.By != protocol.ByHook {
		return ""
	}
	return map[protocol.Action]string{
		protocol.Block: "blocked", protocol.Stop: "stopped the run", protocol.Callback: "called a recipe",
		protocol.Continue: "asked to go on", protocol.Ask: "left it to you",
	}[o.Action]
}

// wholeDecision prints all that hooks did to an event: the changes with their diffs, the
// verdict with its reason, the context that the model reads, and how long each hook took.
func wholeDecision(p *show.Printer, indent string, o *protocol.Outcome) {
	report.Changes(p, indent, o)
	verdict(p, indent, o)
	for _, c := range o.Context {
		p.Print("%s%s\n", indent, p.In(show.Name, "+ "+show.Line(c.Hook)+" tells the model:"))
		p.Indented(indent+"  │ ", show.Quiet, show.Visible(c.Text))
	}
	report.Warnings(p, indent, o.Runs, true)
	for _, n := range report.Notices(o) {
		printNotice(p, indent, n, noticeLines)
	}
	var took []string
	for i := range o.Runs {
		if run := &o.Runs[i]; wasAsked(run) {
			took = append(took, show.Line(run.Hook)+" "+show.Milliseconds(run.TookMs))
		}
	}
	if len(took) > 0 {
		p.Print("%s%s\n", indent, p.In(show.Quiet, "asked: "+strings.Join(took, ", ")))
	}
}
