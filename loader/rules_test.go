//go:build unix

package loader

import (
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

func ruleSettings(entry string) string { return `{"hooks":{"use":[` + "\n" + entry + "\n]}}" }

const pushRule = `{"name":"no-push","events":["tool-call-start"],"match":{"command":"git push *"},"reply":{"action":"block","reason":"a person pushes"}}`

// A rule of a project is decided about as a program is: nothing of it counts before it
// was allowed, and what changes or vanishes afterwards is a failure at its gates.
func TestRulesOfAProjectAreTrustedAsProgramsAre(t *testing.T) {
	w := newWorld(t)
	status := func() string { return status(w.load(), "no-push") }
	fire := func(command string) protocol.Outcome {
		return w.fireEvent(w.load().Set, protocol.ToolCallStart, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"`+command+`"},"parallel":1}`)
	}
	w.settings(ruleSettings(pushRule))
	if got := status(); got != "untrusted!untrusted" {
		t.Errorf("new: %s", got)
	}
	if o := fire("ls"); o.Action != protocol.Block { // its match decides nothing either
		t.Errorf("a new guard lets an event pass: %+v", o)
	}
	w.allow()
	if got := status(); got != "ready" {
		t.Errorf("allowed: %s", got)
	}
	for command, want := range map[string]protocol.Action{"ls": protocol.Observe, "git push": protocol.Block} {
		if o := fire(command); o.Action != want || o.Failure != "" {
			t.Errorf("allowed, %s: %s %s", command, o.Action, o.Failure)
		}
	}
	for what, entry := range map[string]string{
		"weaker":   strings.Replace(pushRule, `"block"`, `"ask"`, 1),
		"narrower": strings.Replace(pushRule, "git push *", "git push origin", 1),
		"silent":   strings.Replace(pushRule, `"action":"block","reason"`, `"notice"`, 1),
		"off":      strings.Replace(pushRule, `"name"`, `"enabled":false,"name"`, 1),
		"broken":   strings.Replace(pushRule, `"block"`, `"blok"`, 1),
	} {
		w.settings(ruleSettings(entry))
		if o := fire("git push"); o.Action != protocol.Block {
			t.Errorf("%s: the event passes: %+v", what, o)
		}
	}
	w.remove(w.path(".acai", "acai.json"))
	if o := fire("git push"); o.Action != protocol.Block {
		t.Errorf("gone: the event passes: %+v", o)
	}
	w.settings(ruleSettings(strings.Replace(pushRule, `"block"`, `"ask"`, 1)))
	w.allow()
	if o := fire("git push"); o.Action != protocol.Ask {
		t.Errorf("allowed again: %+v", o)
	}
}

// A rule that refuses nothing is absent until it is allowed, and holds nothing up.
func TestUnallowedContextIsAbsent(t *testing.T) {
	w := newWorld(t)
	w.settings(ruleSettings(`{"name":"hint","events":["tool-call-start"],"reply":{"context":"use make"}}`))
	if o := w.fire(w.load().Set); o.Action == protocol.Block && o.Failure == protocol.FailUntrusted && o.By != nil && *o.By == "hint" {
		t.Errorf("%+v", o)
	}
	w.allow()
	if o := w.fire(w.load().Set); len(o.Context) != 1 || o.Action != protocol.Observe {
		t.Errorf("%+v", o)
	}
}

// What is wrong with a rule is told with its place, and a guard refuses its gates
// meanwhile.
func TestMistakesInRules(t *testing.T) {
	for want, entry := range map[string]string{
		`wrong "action": bad-value`:       strings.Replace(pushRule, `"block"`, `"blok"`, 1),
		"unknown member: unknown-key":     strings.Replace(pushRule, `"reason"`, `"raeson"`, 1),
		"unknown match key: unknown-key":  strings.Replace(pushRule, `"command"`, `"comand"`, 1),
		"part: bad-value":                 strings.Replace(pushRule, "a person", "${data.argz}", 1),
		"command too: conflicting-fields": strings.Replace(pushRule, `"events"`, `"command":["/bin/true"],"events"`, 1),
		"run: conflicting-fields":         strings.Replace(pushRule, `"events"`, `"run":"standby","events"`, 1),
		"can: conflicting-fields":         strings.Replace(pushRule, `"events"`, `"can":"observe","events"`, 1),
		"event: matcher-without-meaning":  strings.Replace(pushRule, `["tool-call-start"]`, `["tool-call-start","prompt-submit"]`, 1),
		"not there: bad-value":            `{"name":"no-push","events":["session-end"],"reply":{"action":"block","reason":"x"}}`,
		"allow: bad-value":                `{"name":"no-push","events":["tool-call-start"],"reply":{"action":"allow"}}`,
		"says nothing: bad-value":         `{"name":"no-push","events":["tool-call-start"],"reply":{}}`,
		"pattern: bad-value":              strings.Replace(pushRule, "git push *", "/(/", 1),
		"path: bad-value":                 strings.Replace(pushRule, `"command":"git push *"`, `"path":"[a"`, 1),
		"no object: wrong-type":           `{"name":"no-push","events":["tool-call-start"],"reply":"block"}`,
	} {
		w := newWorld(t)
		w.userSettings(ruleSettings(entry))
		s := w.load()
		code := want[strings.LastIndex(want, " ")+1:]
		found := false
		for _, f := range s.Findings {
			found = found || f.Code == code && f.Severity == schema.SeverityError && f.Line != nil && *f.Line == 2 && f.Remedy != ""
		}
		if !found {
			t.Errorf("%s: %v", want, s.Findings)
		}
		h := find(s, "no-push")
		if h == nil || h.Asker != nil && h.Fault == nil {
			t.Errorf("%s: it runs", want)
			continue
		}
		if strings.Contains(entry, "tool-call-start") && !strings.Contains(entry, `"allow"`) && !strings.Contains(entry, `"reply":{}`) {
			o := w.fireEvent(s.Set, protocol.ToolCallStart, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"git push"},"parallel":1}`)
			if o.Action != protocol.Block {
				t.Errorf("%s: the event passes: %+v", want, o)
			}
		}
	}
}

// A hook file and a rule of one name may both be guards: neither hides the other.
func TestARuleDoesNotHideAHookFile(t *testing.T) {
	w := newWorld(t)
	w.userHook("no-push", blocks)
	w.userSettings(ruleSettings(pushRule))
	s := w.load()
	if !hasFinding(s.Findings, schema.CodeConflict, "no-push") || status(s, "no-push") != "rejected!settings" {
		t.Errorf("%s: %v", status(s, "no-push"), s.Findings)
	}
	if o := w.fire(s.Set); o.Action != protocol.Block {
		t.Errorf("%+v", o)
	}
}
