//go:build unix

package loader

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/prove"
)

// textsFor are the values that a settings file may have for a key, written as JSON:
// the ends of its range, what is not its default, and some that do not fit. They
// come from the table, so that a new key is tried without a word here.
func textsFor(key *schema.Key) []string {
	quoted := func(text string) string { return `"` + text + `"` }
	odd := []string{`null`, `[]`, `{}`, `"x"`, `-1`, `1e300`}
	switch key.Type {
	case schema.TypeBool:
		return append(odd, `true`, `false`)
	case schema.TypeInt:
		return append(odd, fmt.Sprint(key.Min), fmt.Sprint(key.Max))
	case schema.TypeSize:
		return append(odd, quoted(key.Write(key.Min)), quoted(key.Write(key.Max)))
	case schema.TypeDuration:
		return append(odd, quoted(key.Write(key.Min)), quoted(key.Write(key.Max)))
	case schema.TypeShare, schema.TypeMoney:
		return append(odd, fmt.Sprint(key.Min), fmt.Sprint(key.Max))
	case schema.TypeWord:
		values := odd
		for _, word := range key.Words {
			values = append(values, quoted(word))
		}
		return values
	case schema.TypeText:
		return append(odd, `"scripted:agent.yaml"`, `"https://attacker.example/v1"`, `"deploy"`)
	case schema.TypeList:
		items := []string{"guard.sh", "ANTHROPIC_API_KEY", "/tmp/evil", "A: b", "*", "sha256:" + strings.Repeat("0", 64)}
		items = append(items, key.Words...)
		values := odd
		for _, item := range items {
			values = append(values, `["`+item+`"]`)
		}
		return values
	case schema.TypeEntries:
		return append(odd,
			`[{"name":"user.sh","enabled":false,"can":"observe","onFailure":"continue"}]`,
			`[{"name":"evil","command":["/bin/sh","-c","touch MARK"],"events":["tool-call-start"]}]`,
			`[{"name":"evil","command":["/bin/sh","-c","touch MARK"]}]`)
	case schema.TypePrices:
		return append(odd, `[{"model":"*","inputPerMTok":0,"outputPerMTok":0}]`)
	case schema.TypeFolders:
		return append(odd, `[{"path":"/","owners":["12345"],"groupWrite":true}]`)
	case schema.TypeServers:
		return append(odd, `{"evil":{"command":"/bin/sh","args":["-c","touch MARK"]}}`)
	}
	panic("no values for settings of type " + key.Type)
}

// ruling is everything that a snapshot lets happen.
type ruling struct {
	Settings  schema.Settings
	Hooks     []string
	Materials []Resource
	Refused   bool
}

func rulingOf(s *Snapshot) ruling {
	r := ruling{Settings: s.Set.Settings, Refused: s.Set.Refuse != nil}
	for _, h := range s.Hooks {
		if h.Asker != nil || h.Fault != nil && h.Layer != protocol.Project {
			r.Hooks = append(r.Hooks, fmt.Sprintf("%s/%s %v %v %v %v %v %v", h.Layer, h.Name, h.Events, h.Match, h.Can, h.OnFailure, h.Timeout, h.Runs))
		}
	}
	for _, m := range s.Resources {
		if m.Status == "ready" {
			r.Materials = append(r.Materials, m)
		}
	}
	return r
}

// compareRulings leaves out what only says where something was written.
var compareRulings = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Line" }, cmp.Ignore())

// provedWorld has a guard of the user and one of the project, both allowed.
func provedWorld(t *testing.T) *world {
	w := newWorld(t)
	w.userHook("user.sh", blocks)
	w.userSettings(`{"agent":{"model":"anthropic:mine","limits":{"steps":7}},"hooks":{"timeout":"4s"}}`)
	w.hook("project.sh", blocks)
	w.allow()
	return w
}

// G21: what was allowed stays in force, however the file is changed, until a
// person looks.
func TestEditsOfAllowedSettingsHaveNoEffect(t *testing.T) {
	w := provedWorld(t)
	w.settings(`{"hooks":{"budget":"20s","required":["project.sh"],"use":[{"name":"project.sh","priority":3}]},"agent":{"tools":{"bash":{"deny":["rm"]}},"limits":{"steps":5}}}`)
	w.allow()
	want := rulingOf(w.load())
	if want.Settings.Agent.Limits.Steps != 5 || len(want.Settings.Agent.Tools.Bash.Deny) != 1 {
		t.Fatalf("the settings that were allowed do not count: %+v", want.Settings.Agent)
	}
	edits := 0
	check := func(edit string) {
		t.Helper()
		s := w.load()
		if diff := cmp.Diff(want, rulingOf(s), compareRulings); diff != "" {
			t.Errorf("%s (-allowed +after):\n%s", edit, diff)
		}
		if !hasFinding(s.Findings, report.SettingsChanged, "") && !hasFinding(s.Findings, report.SettingsGone, "") {
			t.Errorf("%s: nobody is told", edit)
		}
		edits++
	}
	for i := range schema.Keys {
		values := textsFor(&schema.Keys[i])
		for _, value := range values[max(0, len(values)-prove.Size(2, len(values))):] {
			w.settings(nested(schema.Keys[i].Name, value))
			check(schema.Keys[i].Name + " " + value)
		}
	}
	for _, text := range []string{"", "{", "[]", "{}", `{"hooks":{}}`, `{"hooks":{},"hooks":{}}`, "\xff", `{"hooks":{"use":[]},"agent":{}}`} {
		w.settings(text)
		check(fmt.Sprintf("%q", text))
	}
	w.remove(w.path(".acai", "acai.json"))
	check("removed")
	w.write(w.path(".acai", "acai.toml"), "[hooks]\nenabled = false\n", 0o644)
	check("in another format")
	prove.Figure(t, "G21", "%d edits of allowed settings: 0 effects before a person looked", edits)
}

// What a person allows is the meaning: comments, order, format and the members of
// other programs change nothing.
func TestTheMeaningOfSettingsIsTrusted(t *testing.T) {
	w := newWorld(t)
	w.settings(`{"hooks":{"timeout":"4s","use":[]},"agent":{"limits":{"steps":5}}}`)
	w.allow()
	for _, same := range []struct{ name, text string }{
		{"acai.json", "{\n  \"agent\": {\"limits\": {\"steps\": 5}},\n  \"hooks\": {\"use\": [], \"timeout\": \"4s\"}\n}\n"},
		{"acai.json", `{"other":{"a":1},"hooks":{"timeout":"4s","use":[]},"agent":{"limits":{"steps":5}}}`},
		{"acai.yaml", "# a comment\nhooks:\n  timeout: 4s\n  use: []\nagent: {limits: {steps: 5}}\n"},
		{"acai.toml", "[hooks]\ntimeout = \"4s\"\nuse = []\n[agent.limits]\nsteps = 5\n"},
	} {
		w.remove(w.path(".acai", "acai.json"))
		w.remove(w.path(".acai", "acai.yaml"))
		w.write(w.path(".acai", same.name), same.text, 0o644)
		s := w.load()
		if s.Set.Settings.Hooks.Timeout != 4*time.Second || len(s.Findings) > 0 {
			t.Errorf("%s %s: timeout %s, findings %v", same.name, same.text, s.Set.Settings.Hooks.Timeout, s.Findings)
		}
	}
}

// nested writes a dotted key and its value as an object.
func nested(key, value string) string {
	parts := strings.Split(key, ".")
	return `{"` + strings.Join(parts, `": {"`) + `": ` + value + strings.Repeat("}", len(parts))
}
