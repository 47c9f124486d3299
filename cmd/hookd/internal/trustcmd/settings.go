package trustcmd

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// showSettingsItem prints a project's settings: of new ones every key, of changed
// ones what changed, each with what the key does.
func showSettingsItem(p *show.Printer, item *loader.PlanItem) {
	name := "settings"
	if item.Path != "" {
		name += " (" + filepath.Base(item.Path) + ")"
	}
	if item.In != "" {
		p.Print("\n%s  %s\n", p.In(show.Name, show.Line(name)), p.In(show.Good, "allowed in the main checkout "+show.Line(item.In)))
		return
	}
	p.Print("\n%s  %s\n", p.In(show.Name, show.Line(name)), p.In(toneOf(item.State), string(item.State)))
	if item.Problem != nil {
		p.Print("  %s %s\n    %s\n", p.In(show.Bad, "✗"), show.Line(item.Problem.Why), p.In(show.Quiet, "→ "+show.Line(item.Problem.Remedy)))
		return
	}
	showAllowedBefore(p, item.AllowedBefore)
	was := item.Was.Entry
	switch item.State {
	case loader.StateTrusted:
		return
	case loader.StateGone:
		p.Print("  the file is gone; what was allowed stays in force until you allow that it is removed\n")
		return
	case loader.StateDenied, loader.StateNew:
		was = nil
	}
	before, after := settingsByKey(was), settingsByKey(item.Now.Entry)
	for _, key := range settingsKeys(before, after) {
		showSetting(p, key, before[key], after[key])
	}
	for _, fault := range item.Faults {
		p.Print("  %s %s\n", p.In(show.Warn, "! has no effect:"), show.Line(fault))
	}
}

// showAllowedBefore says that exactly this was allowed before it was changed.
func showAllowedBefore(p *show.Printer, at *time.Time) {
	if at != nil {
		p.Print("  %s\n", p.In(show.Quiet, "exactly this was allowed on "+at.Local().Format("2006-01-02 15:04")))
	}
}

// showSetting prints one key that is new, changed or removed.
func showSetting(p *show.Printer, key string, was, now protocol.RawMessage) {
	if bytes.Equal(was, now) {
		return
	}
	meaning := "a key that hookd does not know"
	if row := schema.KeyByName(key); row != nil {
		meaning = row.Meaning
	}
	p.Print("  %s  %s\n", p.In(show.Name, show.Line(key)), p.In(show.Quiet, show.Line(meaning)))
	for _, value := range []protocol.RawMessage{was, now} {
		if len(value) > longestOnLine {
			p.Diff("    ", show.Pretty(was), show.Pretty(now))
			return
		}
	}
	p.Diff("    ", string(was), string(now))
}

// longestOnLine is how long a value may be, in bytes, to be shown on one line.
const longestOnLine = 100

// settingsByKey splits canonical settings by the keys of the table. A value that belongs to
// no key is returned under its own path.
func settingsByKey(entry protocol.RawMessage) map[string]protocol.RawMessage {
	values := map[string]protocol.RawMessage{}
	if entry = slices.Clone(entry); len(entry) > 0 && (*jsontext.Value)(&entry).Canonicalize() == nil {
		splitByKey("", entry, values)
	}
	return values
}

func splitByKey(path string, value protocol.RawMessage, values map[string]protocol.RawMessage) {
	if path != "" && (schema.KeyByName(path) != nil || jsonspan.Kind(value) != '{') {
		values[path] = value
		return
	}
	var members map[string]protocol.RawMessage
	if err := json.Unmarshal(value, &members); err != nil {
		values[path] = value
		return
	}
	for name, member := range members {
		if path != "" {
			name = path + "." + name
		}
		splitByKey(name, member, values)
	}
}

// settingsKeys returns the keys of two states in the order of the table, unknown keys last.
func settingsKeys(before, after map[string]protocol.RawMessage) []string {
	var keys []string
	seen := map[string]bool{}
	add := func(key string) {
		_, was := before[key]
		_, is := after[key]
		if (was || is) && !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	for i := range schema.Keys {
		add(schema.Keys[i].Name)
	}
	for _, values := range []map[string]protocol.RawMessage{before, after} {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			add(key)
		}
	}
	return keys
}
