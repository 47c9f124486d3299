package logcmd

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// refusal is what a hook in audit mode would have refused, with how often.
type refusal struct {
	Host   string             `json:"host"`
	Hook   string             `json:"hook"`
	Source protocol.Layer     `json:"source"`
	Would  protocol.Action    `json:"would"` // block, stop or ask; "" for a guard that could not be asked
	Event  protocol.EventName `json:"event"`
	Tool   string             `json:"tool,omitzero"`
	Asked  string             `json:"asked,omitzero"`
	Reason string             `json:"reason"`
	Count  int                `json:"count"`
	Last   time.Time          `json:"last"`
}

// refusals collects what hooks would have refused from the lines of records.
type refusals struct {
	list   []*refusal
	known  map[refusal]*refusal     // by all but count and time
	events map[string]*record.Event // by id: a hook in audit mode answers after its event
}

// add takes a line of a record.
func (r *refusals) add(line *record.Line) {
	switch line.Kind {
	case record.KindEvent:
		var e record.Event
		if line.Decode(&e) != nil {
			return
		}
		if r.events == nil {
			r.events = map[string]*record.Event{}
		}
		r.events[e.ID] = &e
		for i := range e.Runs {
			r.run(line.Time, &e, &e.Runs[i])
		}
	case record.KindLate:
		var l record.Late
		if line.Decode(&l) != nil {
			return
		}
		e := r.events[l.ID]
		if e == nil {
			e = &record.Event{Event: l.Event}
		}
		r.run(line.Time, e, &l.Run)
	}
}

// run adds the run of a hook if it would have refused.
func (r *refusals) run(at time.Time, e *record.Event, run *protocol.Run) {
	if run.Mode != protocol.Audit {
		return
	}
	reason := run.Reason
	switch {
	case run.Would == protocol.Block, run.Would == protocol.Stop, run.Would == protocol.Ask, run.Would == protocol.Deny:
	case run.Failure != "" && run.Class == protocol.CanBlock:
		reason = "it could not be asked (" + string(run.Failure) + "): " + run.Detail
	default:
		return
	}
	one := refusal{Host: e.Host, Hook: run.Hook, Source: run.Source, Would: run.Would, Event: e.Event, Tool: e.Tool, Asked: e.Asked, Reason: reason}
	known := r.known[one]
	if known == nil {
		if r.known == nil {
			r.known = map[refusal]*refusal{}
		}
		known = &refusal{}
		*known = one
		r.known[one] = known
		r.list = append(r.list, known)
	}
	known.Count++
	known.Last = at.UTC()
}

// sorted returns what was found, the most frequent first.
func (r *refusals) sorted() []*refusal {
	slices.SortStableFunc(r.list, func(a, b *refusal) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last))
	})
	return r.list
}

// logWould prints what hooks in audit mode would have refused.
func (cmd *Commands) logWould(dir string, names []string, filter filter) error {
	var found refusals
	for _, name := range names {
		for line, problem := range record.Read(dir, name) {
			if problem != nil {
				cmd.Console.Err.Print("%s %s\n", cmd.Console.Err.In(show.Bad, "!"), show.Line(problem.Error()))
			}
			if line != nil && filter.ofProject(line) && !line.Time.Before(filter.since) {
				found.add(line)
			}
		}
		found.events = nil
	}
	list := slices.DeleteFunc(found.sorted(), func(r *refusal) bool { return filter.hook != "" && r.Hook != filter.hook })
	if cmd.Console.JSON {
		return cmd.Console.PrintJSON(append([]*refusal{}, list...))
	}
	p, total := cmd.Console.Out, 0
	for _, r := range list {
		total += r.Count
		p.Print("%s\n", r.line(p))
	}
	if total == 0 {
		cmd.Console.Note("no hook in audit mode would have refused anything", "")
		return nil
	}
	p.Print("%s would have been refused\n", text.Count(total, "event"))
	return nil
}

// line is a refusal for the person: how often, what, by whom and why.
func (r *refusal) line(p *show.Printer) string {
	subject := string(r.Event)
	if r.Tool != "" {
		subject += " " + r.Tool
	}
	if r.Asked != "" {
		subject += " ‹" + r.Asked + "›"
	}
	if r.Host != "" {
		subject = r.Host + ": " + subject
	}
	would := string(r.Would)
	if would == "" {
		would = "fail"
	}
	line := fmt.Sprintf("%5d×  %s  %s would %s", r.Count, show.Line(show.Shorten(subject, 160)), p.In(show.Name, show.Line(r.Hook)), p.In(show.Bad, would))
	if r.Reason != "" {
		line += ": " + show.Line(show.Shorten(r.Reason, 120))
	}
	return line + p.In(show.Quiet, "  last "+r.Last.Local().Format("2006-01-02 15:04"))
}
