package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// chosen are the keys that neither limit nor refuse anything: where their value cannot be
// read it is as if it had not been written. Each says why that is never looser.
var chosen = map[string]string{
	"hooks.enabled":              "the hooks run, guards among them",
	"hooks.discover":             "the files are taken, guards among them",
	"hooks.drain":                "how long observers may run on",
	"hooks.parallel":             "one after the other is the default, and the least",
	"hooks.observerQueue":        "how much memory waits",
	"hooks.env":                  "gives variables away: one that cannot be read is not given",
	"hooks.path":                 "adds folders: one that cannot be read is not added",
	"hooks.records.keep":         "how long records are kept",
	"hooks.records.maxSize":      "how much of the disk records take",
	"hooks.trust.always":         "trusts: what cannot be read is not trusted",
	"hooks.trust.folders":        "trusts: what cannot be read is not trusted",
	"hooks.trust.hashes":         "trusts: what cannot be read is not trusted",
	"agent.compaction.auto":      "when a conversation is compacted",
	"agent.compaction.threshold": "when a conversation is compacted",
	"agent.compaction.recipe":    "how a conversation is compacted",
	"agent.compaction.keepFirst": "how a conversation is compacted",
	"agent.compaction.keepLast":  "how a conversation is compacted",
	"agent.summarize.tokens":     "when a conversation is summarised",
	"agent.approval.whenAlone":   "has one value only",
	"agent.tools.env":            "gives variables away: one that cannot be read is not given",
	"agent.features":             "features that only add work: one that cannot be read stays off",
	"agent.mcpServers":           "starts servers: one that cannot be read is not started",
}

// unreadable are the ways in which a value of a key can be written so that nobody can read
// it. The first stands alone; the others are there for every type.
func unreadable(key *schema.Key) []string {
	texts := []string{`null`, `{"x": 1}`, `[[1]]`, `true`, `"no such word at all"`, `-7`, `1e300`, `"\u0007"`}
	if key.Type == schema.TypeBool {
		texts = slices.DeleteFunc(texts, func(t string) bool { return t == `true` })
	}
	return texts
}

// tightest and all further values that a readable file may have.
func readable(key *schema.Key) (values []any) {
	if key.Min != nil {
		values = append(values, key.Min, key.Max)
		if key.ZeroIsOff { // the tightest one is next to no limit at all
			switch key.Default.(type) {
			case int64:
				values = append(values, int64(1))
			case float64:
				values = append(values, 0.000001)
			case time.Duration:
				values = append(values, time.Nanosecond)
			}
		}
	}
	for _, word := range key.Words {
		values = append(values, word)
	}
	return values
}

// No value that limits or refuses becomes looser than what was written because nobody can
// read it: the tightest one stands, or what it binds does not go on. Every row of the table,
// every layer, every way of writing it wrongly.
func TestUnreadableIsNeverLooser(t *testing.T) {
	tried := 0
	for i := range schema.Keys {
		key := &schema.Keys[i]
		if (key.Unread == nil) != (chosen[key.Name] != "") {
			t.Errorf("%s: a value that cannot be read is replaced by %v, and the list of keys that only choose says %q", key.Name, key.Unread, chosen[key.Name])
		}
		for _, layer := range []protocol.Layer{protocol.Project, protocol.User, protocol.Managed} {
			if !key.Layers.Has(layer) {
				continue
			}
			path := strings.Split(key.Name, ".")
			last := path[len(path)-1]
			group := strings.Join(path[:len(path)-1], ".")
			texts := map[string]string{}
			for _, value := range unreadable(key) {
				texts[value] = nested(key.Name, value)
			}
			twice := nested(key.Name, `1`)
			texts["twice"] = strings.Replace(twice, `"`+last+`": 1`, fmt.Sprintf(`"%s": 1, "%s": 1`, last, last), 1)
			texts["dotted"] = fmt.Sprintf(`{"%s": 1}`, key.Name)
			if len(last) > 4 {
				texts["misspelt"] = nested(key.Name+"x", `1`)
			}
			if len(path) > 2 {
				texts["its group is a list"] = nested(group, `[]`)
			}
			for how, text := range texts {
				tried++
				got, findings, err := Decode("acai.json", []byte(text), layer)
				switch {
				case err != nil:
					continue // nothing of the file counts, and the gates are refused
				case len(findings) == 0 && how != "its group is a list":
					continue // it can be read
				}
				checkNeverLooser(t, key, layer, how+" "+text, got)
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d values", tried)
	}
}

func checkNeverLooser(t *testing.T, key *schema.Key, layer protocol.Layer, how string, got schema.LayerSettings) {
	t.Helper()
	if key.Unread == nil {
		return
	}
	if key.Unread == schema.Refuses {
		refuses := slices.ContainsFunc(got.Unread, func(u schema.Unread) bool { return u.Key == key.Name && u.Pos.File != "" && u.Pos.Line > 0 }) ||
			slices.ContainsFunc(got.Use, func(d schema.Described) bool { return len(d.Faults) > 0 })
		if !refuses {
			t.Errorf("%s of %s: %s: nothing refuses", key.Name, layer, how)
		}
		merged, _ := Merge(got)
		if len(got.Unread) > 0 && len(merged.Hooks.Unread)+len(merged.Agent.Unread) != len(got.Unread) {
			t.Errorf("%s of %s: %s: lost by the merge", key.Name, layer, how)
		}
		return
	}
	stands, there := got.Values[key.Name]
	if !there {
		t.Errorf("%s of %s: %s: nothing stands in its place", key.Name, layer, how)
		return
	}
	for _, value := range readable(key) {
		if key.Looser(stands.V, value) {
			t.Errorf("%s of %s: %s: %v stands, which is looser than %v", key.Name, layer, how, stands.V, value)
		}
	}
	if items, is := stands.V.([]string); is && !slices.Contains(unreadItems(key), "") && !containsAll(items, unreadItems(key)) {
		t.Errorf("%s of %s: %s: %q", key.Name, layer, how, items)
	}
	if key.Type != schema.TypeList && reflect.TypeOf(stands.V) != reflect.TypeOf(key.Unread) {
		t.Errorf("%s of %s: %s: %T", key.Name, layer, how, stands.V)
	}
}

func unreadItems(key *schema.Key) []string {
	items, _ := key.Unread.([]string)
	return items
}

func containsAll(items, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(items, w) })
}

// A key that can be read has nothing in its place, and one that is next to a misspelt one
// stands.
func TestReadableStands(t *testing.T) {
	got, findings, err := Decode("acai.json", []byte(`{"agent": {"limits": {"steps": 5, "step": 9, "xyzzy": 1}}}`), protocol.User)
	if err != nil || len(findings) != 2 || len(got.Unread) > 0 || got.Values["agent.limits.steps"].V != int64(5) {
		t.Errorf("%v, %q, %+v", err, lines(findings), got)
	}
	got, findings, err = Decode("acai.json", []byte("{\"agent\": {\"limits\": {\n\"step\": 9}}}"), protocol.User)
	if err != nil || len(findings) != 1 || len(got.Unread) != 1 || got.Unread[0].String() != "agent.limits.steps cannot be read (acai.json:2)" {
		t.Errorf("%v, %q, %+v", err, lines(findings), got.Unread)
	}
}
