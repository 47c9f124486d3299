package trustcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// Limits of what is shown of a file of rules as it is. A longer one is told in two lines for
// each rule: nobody reads pages of patterns.
const (
	wholePack  = 2000 // bytes of all descriptions of a file
	wholeMatch = 80   // bytes of one key of match
)

// pack is the new rules of one file that can only refuse or ask.
type pack struct {
	file  string
	rules []*loader.PlanItem
}

// longPacks returns the files of rules among the items that are told in short, by the names of
// their rules. A rule that does anything else than to refuse or ask is not among them.
func longPacks(items []*loader.PlanItem) map[string]*pack {
	files, size := map[string]*pack{}, map[string]int{}
	for _, item := range items {
		file, _, found := cutLast(item.Now.From, ":")
		if !found || !onlyRefuses(item) {
			continue
		}
		if files[file] == nil {
			files[file] = &pack{file: file}
		}
		files[file].rules = append(files[file].rules, item)
		size[file] += len(entryLine(item.Now.Entry))
	}
	byRule := map[string]*pack{}
	for file, of := range files {
		for _, item := range of.rules {
			if size[file] > wholePack {
				byRule[item.Hook] = of
			}
		}
	}
	return byRule
}

// cutLast is [strings.Cut] at the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}

// plainMembers are those of a rule that say nothing but when it refuses, or whom it asks, and why.
var plainMembers = []string{"can", "description", "events", "onFailure", "name"}

// onlyRefuses reports whether an item is a new rule that can only refuse or ask, and is so in
// the plainest way.
func onlyRefuses(item *loader.PlanItem) bool {
	entry := item.Now.Entry
	action := jsonspan.Text(jsonspan.Find(entry, "/reply/action"))
	if item.State != loader.StateNew || item.Kind != loader.KindHook || item.Problem != nil || item.In != "" || len(item.Faults)+len(item.Files) > 0 || item.AllowedBefore != nil ||
		action != string(protocol.Block) && action != string(protocol.Ask) || jsonspan.Text(jsonspan.Get(entry, "onFailure")) != string(protocol.Block) {
		return false
	}
	parts, ok := members("", entry)
	return ok && !slices.ContainsFunc(parts, func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		return !slices.Contains(plainMembers, name) && !strings.HasPrefix(name, "match.") && name != "reply.action" && name != "reply.reason"
	})
}

// showPack prints what the rules of a file do, and returns how many bytes of them it did not show.
func showPack(p *show.Printer, of *pack) (left int64) {
	p.Print("\n%s  %s%s\n", p.In(show.Name, show.Line(of.file)), p.In(toneOf(loader.StateNew), text.Count(len(of.rules), "new rule")),
		p.In(show.Quiet, ", can refuse events"))
	for _, item := range of.rules {
		entry := item.Now.Entry
		match, hidden := matchLine(entry)
		left += hidden
		events := strings.Join(words(jsonspan.Get(entry, "events")), ", ")
		p.Print("  %s  %s at %s%s\n", p.In(show.Name, show.Line(item.Hook)), jsonspan.Text(jsonspan.Find(entry, "/reply/action")), show.Line(events), p.In(show.Quiet, match))
		why := jsonspan.Text(jsonspan.Get(entry, "description"))
		if reason := jsonspan.Text(jsonspan.Find(entry, "/reply/reason")); why == "" {
			why = reason
		} else {
			why += ": " + reason
		}
		p.Print("    %s\n", show.Line(why))
	}
	if left > 0 {
		p.Print("  %s\n", p.In(show.Warn, "the longer patterns are not shown: hookd trust --all shows them, and they stand in the file"))
	}
	return left
}

// matchLine says what a rule matches, and how many bytes of that it leaves out.
func matchLine(entry protocol.RawMessage) (line string, left int64) {
	all, _ := jsonspan.Object(jsonspan.Get(entry, "match"))
	for _, m := range all {
		value := plainValue(m.Value)
		if len(value) <= wholeMatch {
			line += ", match." + show.Line(m.Name) + "=" + show.Line(value)
			continue
		}
		left += int64(len(value))
		line += fmt.Sprintf(", match.%s: %s", show.Line(m.Name), text.Count(max(1, len(jsonspan.Elements(m.Value))), "pattern"))
	}
	return line, left
}

// words are the texts of a list, or the one text.
func words(value protocol.RawMessage) []string {
	if jsonspan.Kind(value) == '"' {
		return []string{jsonspan.Text(value)}
	}
	var list []string
	for _, element := range jsonspan.Elements(value) {
		list = append(list, jsonspan.Text(element))
	}
	return list
}
