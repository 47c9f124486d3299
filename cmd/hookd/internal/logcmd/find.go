package logcmd

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/internal/text"
)

const (
	shortID  = 6 // characters of an ID's end that the timeline shows
	leastEnd = 4 // that say which one is meant
	mostIDs  = 8 // that an error lists
)

// idEnd is the end of an event's ID, by which a person names it. The beginning of an ID is
// the time, which many have in common.
func idEnd(id string) string {
	line := []rune(show.Line(id))
	return string(line[max(0, len(line)-shortID):])
}

// logEvent prints one event whole.
func (cmd *Commands) logEvent(id string, f logFlags) error {
	if f.follow || f.head || f.would || f.filter.selects() {
		return cli.Usage("usage", "hookd log ID shows one event: no filter goes with it", "hookd log "+show.Line(id))
	}
	state, err := places.StateDir()
	if err != nil {
		return err
	}
	dir := filepath.Join(state, "records")
	names, err := record.Names(dir)
	if err != nil {
		return cli.Failed("records", err, "")
	}
	if f.session != "" {
		name, err := findRecord(names, f.session)
		if err != nil {
			return err
		}
		names = []string{name}
	}
	lines, err := findEvent(dir, names, id)
	if err != nil {
		return err
	}
	if cmd.Console.JSON {
		for _, line := range lines {
			cmd.Console.Out.Raw(string(line.Raw) + "\n")
		}
		return nil
	}
	page := page{p: cmd.Console.Out}
	page.show(lines)
	return nil
}

// findEvent returns the lines about the event that a person named: the one of its decision,
// if it was recorded, and those of what came later.
func findEvent(dir string, names []string, given string) ([]*record.Line, error) {
	if given = strings.TrimSpace(given); given == "" {
		return nil, cli.Usage("no-event", "the ID of the event is empty", "hookd log shows the IDs")
	}
	found, order := map[string][]*record.Line{}, []string(nil)
	wanted := textOf(given)
	for _, name := range slices.Backward(names) {
		for line := range record.Search(dir, name, wanted) {
			id := idOf(line)
			if !named(id, given) {
				continue
			}
			if found[id] == nil {
				order = append(order, id)
			}
			found[id] = append(found[id], line)
		}
		if len(found[given]) > 0 {
			break // the whole ID: all about it is in one record
		}
	}
	if whole := slices.IndexFunc(order, func(id string) bool { return strings.EqualFold(id, given) }); whole >= 0 {
		order = order[whole : whole+1]
	}
	switch len(order) {
	case 1:
		return found[order[0]], nil
	case 0:
		return nil, noEvent(dir, names, given)
	}
	shown := strings.Join(order[:min(len(order), mostIDs)], " ")
	return nil, cli.Usage("ambiguous-event", fmt.Sprintf("%s names %s", show.Line(given), text.Count(len(order), "event")), "one of: "+show.Line(shown))
}

// textOf returns whether the text of a line may be about an event of that name.
func textOf(given string) func(text []byte) bool {
	upper, lower := []byte(strings.ToUpper(given)), []byte(strings.ToLower(given))
	kinds := record.OfKind(record.KindEvent, record.KindLate)
	return func(text []byte) bool {
		return kinds(text) && (bytes.Contains(text, upper) || bytes.Contains(text, lower) || bytes.Contains(text, []byte(given)))
	}
}

// named reports whether a person who typed given means the event: its ID, the beginning of
// it, or its end.
func named(id, given string) bool {
	id, given = strings.ToUpper(id), strings.ToUpper(given)
	return strings.HasPrefix(id, given) || len(given) >= leastEnd && strings.HasSuffix(id, given)
}

// idOf returns the ID of the event that a line is about, "" if it is about none.
func idOf(line *record.Line) string {
	switch line.Kind {
	case record.KindEvent:
		var e record.Event
		if line.Decode(&e) == nil {
			return e.ID
		}
	case record.KindLate:
		var l record.Late
		if line.Decode(&l) == nil {
			return l.ID
		}
	}
	return ""
}

// mostNear is how many of the newest events an unknown ID is compared with.
const mostNear = 500

// noEvent says that there is no such event, and which is nearest.
func noEvent(dir string, names []string, given string) error {
	if len(names) == 0 {
		return cli.Usage("no-records", "nothing was decided yet", "hookd fire EVENT decides something")
	}
	if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, given) }) {
		return cli.Usage("no-event", "there is no event "+show.Line(given)+", but a session", "hookd log --session "+show.Line(given))
	}
	hint := "hookd log shows the IDs of the newest events, hookd log --all those of all projects"
	if near := nearestID(dir, names, given); near != "" {
		hint = "did you mean " + show.Line(near) + "?"
	}
	return cli.Usage("no-event", "there is no event "+show.Line(given), hint)
}

// nearestID returns the ID, or the end of one, that was probably meant, "" if none is near.
func nearestID(dir string, names []string, given string) string {
	given = strings.ToUpper(given)
	var known []string
	for _, name := range slices.Backward(names) {
		for line := range record.Backwards(dir, name) {
			if line == nil || line.Kind != record.KindEvent {
				continue
			}
			id := idOf(line)
			if len(given) <= 2*shortID {
				id = id[max(0, len(id)-len(given)):]
			}
			if known = append(known, id); len(known) == mostNear {
				return text.Nearest(given, known)
			}
		}
	}
	return text.Nearest(given, known)
}
