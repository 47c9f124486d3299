package logcmd

import (
	"fmt"
	"iter"
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
)

// filter says which lines of records are shown. It is used for one record after the
// other, and knows which set of hooks ruled the lines before.
type filter struct {
	here    bool // only of one project
	project string
	refused bool
	hook    string
	since   time.Time // zero: from the beginning

	sets map[string]string // the project of each set of hooks, by its hash
}

// selects reports whether the filter shows only some of the lines.
func (f *filter) selects() bool { return f.refused || f.hook != "" || !f.since.IsZero() }

// tellsOf reports whether a record tells of the project at all.
func (f filter) tellsOf(lines iter.Seq2[*record.Line, *record.Problem]) bool {
	if !f.here {
		return true
	}
	f.sets = nil
	for line := range lines {
		if line != nil && f.ofProject(line) {
			return true
		}
	}
	return false
}

// passes reports whether a line is shown.
func (f *filter) passes(line *record.Line) bool {
	if !f.ofProject(line) || line.Time.Before(f.since) {
		return false
	}
	switch line.Kind {
	case record.KindEvent:
		var e record.Event
		return line.Decode(&e) == nil && f.wants(e.Action, e.By, e.Runs)
	case record.KindLate:
		var l record.Late
		return line.Decode(&l) == nil && f.wants(l.Run.Action, nil, []protocol.Run{l.Run})
	case record.KindTrust:
		var t record.Trust
		return !f.refused && (f.hook == "" || line.Decode(&t) == nil && t.Hook == f.hook)
	}
	return !f.refused && f.hook == ""
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
	project, known := f.sets[line.Set]
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
