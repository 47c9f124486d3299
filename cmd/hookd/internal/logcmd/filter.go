package logcmd

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// filter says which lines of records are shown. It is used for one record after the
// other, and knows which set of hooks ruled the lines before.
type filter struct {
	here    bool // only of one project
	project string
	refused bool
	hook    string
	event   protocol.EventName
	tool    *toolname.Pattern
	since   time.Time // zero: from the beginning

	quoted []byte            // the project as JSON
	sets   map[string]string // the project of each set of hooks, by its hash; for old records
}

// selects reports whether the filter shows only some of the lines.
func (f *filter) selects() bool {
	return f.ofEvents() || f.refused || f.hook != "" || !f.since.IsZero()
}

// ofEvents reports whether the filter names an event or a tool, so that lines of other
// kinds do not fit.
func (f *filter) ofEvents() bool { return f.event != "" || f.tool != nil }

// tellsOf reports whether a record tells of the project at all.
func (f filter) tellsOf(dir, name string) bool {
	if !f.here {
		return true
	}
	f.sets = nil
	for line := range record.Search(dir, name, f.mayTell()) {
		if f.ofProject(line) {
			return true
		}
	}
	return false
}

// mayTell returns whether the text of a line may be one of the project: a set of hooks, a
// decision about trust, an event of it, or one of an earlier hookd, which names none.
func (f *filter) mayTell() func(text []byte) bool {
	kinds := record.OfKind(record.KindSet, record.KindTrust)
	return func(text []byte) bool {
		ours, known := f.namesProject(text)
		return ours || !known || kinds(text)
	}
}

// namesProject reports whether the text of an event's line names the project, and whether
// it names one at all. The name stands before the data of the event, and a text never looks
// like a member, since its quotes are escaped: no line has to be taken apart for it.
func (f *filter) namesProject(text []byte) (ours, known bool) {
	const member = `"project":`
	if f.quoted == nil {
		f.quoted, _ = protocol.Marshal(f.project) // a text has a JSON form
	}
	head, _, _ := bytes.Cut(text, []byte(`"data":`))
	_, value, known := bytes.Cut(head, []byte(member))
	return known && bytes.HasPrefix(value, f.quoted), known
}

// passes reports whether a line is shown.
func (f *filter) passes(line *record.Line) bool {
	if !f.ofProject(line) || line.Time.Before(f.since) || !f.mayFit(line.Raw) {
		return false
	}
	switch line.Kind {
	case record.KindEvent:
		var e record.Event
		return line.Decode(&e) == nil && f.isAbout(e.Event, e.Tool) && f.wants(e.Action, e.By, e.Runs)
	case record.KindLate:
		var l record.Late
		return line.Decode(&l) == nil && f.isAbout(l.Event, "") && f.wants(l.Run.Action, nil, []protocol.Run{l.Run})
	case record.KindTrust:
		var t record.Trust
		return !f.refused && !f.ofEvents() && (f.hook == "" || line.Decode(&t) == nil && t.Hook == f.hook)
	}
	return !f.refused && !f.ofEvents() && f.hook == ""
}

var refusing = [][]byte{[]byte(`"action":"block"`), []byte(`"action":"stop"`), []byte(`"action":"ask"`)}

// mayFit reports whether a line may pass, by its text alone: of a large record most lines
// do not, and taking each apart takes long.
func (f *filter) mayFit(text []byte) bool {
	if f.refused && !slices.ContainsFunc(refusing, func(action []byte) bool { return bytes.Contains(text, action) }) {
		return false
	}
	if f.hook != "" {
		quoted, err := protocol.Marshal(f.hook)
		return err != nil || bytes.Contains(text, quoted)
	}
	return f.event == "" || bytes.Contains(text, []byte(`"event":"`+string(f.event)+`"`))
}

// isAbout reports whether the filter shows events of this name and tool. What a hook did
// later names no tool: it is not shown where one is asked for.
func (f *filter) isAbout(event protocol.EventName, tool string) bool {
	return (f.event == "" || event == f.event) && (f.tool == nil || tool != "" && f.tool.Match(tool, ""))
}

func (f *filter) wants(action protocol.Action, by *string, runs []protocol.Run) bool {
	if f.refused && action != protocol.Block && action != protocol.Stop && action != protocol.Ask {
		return false
	}
	return f.hook == "" || by != nil && *by == f.hook ||
		slices.ContainsFunc(runs, func(run protocol.Run) bool { return run.Hook == f.hook })
}

// ofProject reports whether a line tells of the project. A line of a set that the record
// does not hold any more may do.
func (f *filter) ofProject(line *record.Line) bool {
	if !f.here {
		return true
	}
	switch line.Kind {
	case record.KindSet:
		var s record.Set
		if line.Decode(&s) != nil {
			return false
		}
		if f.sets == nil {
			f.sets = map[string]string{}
		}
		f.sets[s.Set] = s.Project
		return s.Project == f.project
	case record.KindTrust:
		var t record.Trust
		return line.Decode(&t) == nil && (t.Project == f.project || t.Project == "")
	}
	if ours, known := f.namesProject(line.Raw); known {
		return ours
	}
	project, known := f.sets[line.Set] // an event of an earlier hookd
	return !known || project == f.project
}

// findRecord returns the record of a session or a day, by its name or the beginning of it.
func findRecord(names []string, given string) (string, error) {
	for _, exact := range []string{given, state.FileName(given)} {
		if slices.Contains(names, exact) {
			return exact, nil
		}
	}
	var found []string
	for _, name := range names {
		if strings.HasPrefix(name, given) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if near := text.Nearest(given, names); near != "" {
			return "", cli.Usage("no-record", "there is no record of a session "+show.Line(given), "did you mean "+show.Line(near)+"?")
		}
		return "", cli.Usage("no-record", "there is no record of a session "+show.Line(given), "hookd log --all --since 30d shows all that there are")
	}
	return "", cli.Usage("ambiguous-session", fmt.Sprintf("%s begins the names of %s", show.Line(given), text.Count(len(found), "record")), "one of: "+show.Shorten(strings.Join(found, " "), 200))
}

// parseSince reads a time: how long ago, a day, or a moment.
func parseSince(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if number, days := strings.CutSuffix(text, "d"); days {
		if n, err := strconv.ParseFloat(number, 64); err == nil && n >= 0 {
			return time.Now().Add(-time.Duration(n * 24 * float64(time.Hour))), nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return time.Now().Add(-ago), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.DateTime} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	return time.Time{}, cli.Usage("bad-time", "--since: "+show.Line(text)+" is no time", "2h, 3d, 2026-11-27, or 2026-11-27T15:04:05Z")
}

// parse reads the names of an event and a tool, "" for any.
func (f *filter) parse(event, tool string) (err error) {
	if event != "" {
		if f.event, err = cli.EventName(event); err != nil {
			return err
		}
	}
	if tool == "" {
		return nil
	}
	pattern, err := toolname.ParsePattern(tool)
	var wrong *toolname.Error
	if errors.As(err, &wrong) {
		return cli.Usage("bad-tool", "--tool: "+wrong.Message, wrong.Remedy)
	}
	f.tool = &pattern
	return err
}
