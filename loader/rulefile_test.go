//go:build unix

package loader

import (
	"os"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

const pushPack = `rules:
  - name: no-push
    events: [tool-call-start]
    match: { command: git push * }
    reply: { action: block, reason: a person pushes }
  - name: no-tags
    events: [tool-call-start]
    match: { command: git tag * }
    reply: { action: ask, reason: a tag }
`

func shellCall(w *world, command string) protocol.Outcome {
	return w.fireEvent(w.load().Set, protocol.ToolCallStart, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"`+command+`"},"parallel":1}`)
}

// Each rule of a file is a hook of its own, with its own trust record; what changes or
// vanishes after it was allowed refuses its events.
func TestRulesOfAFileAreTrustedOneByOne(t *testing.T) {
	w := newWorld(t)
	w.write(w.hookPath("git.rules.yaml"), pushPack, 0o644)
	s := w.load()
	if got := status(s, "no-push") + " " + status(s, "no-tags"); got != "untrusted!untrusted untrusted!untrusted" {
		t.Errorf("new: %s", got)
	}
	for _, h := range s.Hooks {
		if h.Pack != w.hookPath("git.rules.yaml") {
			t.Errorf("%s is of pack %q", h.Name, h.Pack)
		}
	}
	if o := shellCall(w, "ls"); o.Action != protocol.Block {
		t.Errorf("new guards let an event pass: %+v", o)
	}
	w.allow()
	for command, want := range map[string]protocol.Action{"ls": protocol.Observe, "git push": protocol.Block, "git tag v1": protocol.Ask} {
		if o := shellCall(w, command); o.Action != want || o.Failure != "" {
			t.Errorf("allowed, %s: %s %s", command, o.Action, o.Failure)
		}
	}
	for what, text := range map[string]string{
		"weaker":       strings.Replace(pushPack, "action: block", "action: ask", 1),
		"renamed":      strings.Replace(pushPack, "no-push", "no-pushes", 1),
		"broken":       strings.Replace(pushPack, "rules:", "rules: [", 1),
		"empty":        "rules: []\n",
		"half-written": pushPack[:60],
	} {
		w.write(w.hookPath("git.rules.yaml"), text, 0o644)
		if o := shellCall(w, "git push"); o.Action != protocol.Block {
			t.Errorf("%s: the event passes: %+v", what, o)
		}
	}
	w.remove(w.hookPath("git.rules.yaml"))
	if o := shellCall(w, "git push"); o.Action != protocol.Block {
		t.Errorf("gone: the event passes: %+v", o)
	}
}

// An entry of the settings may switch a rule of a file off, or have it only watch.
func TestSettingsAdjustARuleOfAFile(t *testing.T) {
	w := newWorld(t)
	w.write(w.home+"/.acai/hooks/git.rules.yaml", pushPack, 0o644)
	w.userSettings(`{"hooks":{"use":[{"name":"no-push","mode":"audit"},{"name":"no-tags","enabled":false}]}}`)
	if s := w.load(); len(s.Findings) > 0 || status(s, "no-tags") != "disabled" {
		t.Errorf("%s: %v", status(s, "no-tags"), s.Findings)
	}
	for _, command := range []string{"git push", "git tag x"} {
		if o := shellCall(w, command); o.Action != protocol.Observe {
			t.Errorf("%s: %+v", command, o)
		}
	}
}

// What is wrong with a file of rules is told with its place, and refuses meanwhile: it may
// have been a guard.
func TestMistakesInFilesOfRules(t *testing.T) {
	const line = "\n    reply: { action: block, reason: a person pushes }"
	for name, test := range map[string]struct {
		text string
		code schema.Code
		line int
	}{
		"no YAML":             {"rules: [", report.BadRules, 1},
		"empty":               {"", report.BadRules, 1},
		"a list":              {"- name: x\n", report.BadRules, 1},
		"no rules":            {"$schema: x\n", report.BadRules, 1},
		"rules is a text":     {"rules: none\n", report.BadRules, 1},
		"misspelt":            {strings.Replace(pushPack, "rules:", "rule:", 1), schema.CodeUnknownKey, 1},
		"another key":         {pushPack + "more: 1\n", schema.CodeUnknownKey, 10},
		"no name":             {strings.Replace(pushPack, "name: no-push\n    ", "", 1), schema.CodeNameless, 2},
		"no reply":            {strings.Replace(pushPack, line, "", 1), schema.CodeConflict, 2},
		"a program":           {strings.Replace(pushPack, "events:", "command: [/bin/true]\n    events:", 1), schema.CodeConflict, 6},
		"a name twice":        {strings.Replace(pushPack, "no-tags", "no-push", 1), schema.CodeDuplicateName, 6},
		"an unknown member":   {strings.Replace(pushPack, "match:", "mach:", 1), schema.CodeUnknownKey, 4},
		"a faulty reply":      {strings.Replace(pushPack, "action: block", "action: blok", 1), "bad-value", 5},
		"a faulty pattern":    {strings.Replace(pushPack, "git push *", "/(/", 1), "bad-value", 4},
		"an entry of no type": {"rules:\n  - no-push\n", "wrong-type", 2},
	} {
		w := newWorld(t)
		w.write(w.home+"/.acai/hooks/git.rules.yaml", test.text, 0o644)
		s := w.load()
		found := false
		for _, f := range s.Findings {
			found = found || f.Code == string(test.code) && f.Severity == schema.SeverityError && f.Line != nil && *f.Line == test.line && f.Remedy != ""
		}
		if !found {
			t.Errorf("%s: %v", name, s.Findings)
		}
		if o := shellCall(w, "git push"); o.Action != protocol.Block {
			t.Errorf("%s: the event passes: %+v", name, o)
		}
	}
}

// Neither of two rules of one name counts alone, in which files they may be; and a file
// with another ending is named, never passed over in silence.
func TestFilesOfRulesThatMeet(t *testing.T) {
	w := newWorld(t)
	w.write(w.home+"/.acai/hooks/a.rules.yaml", pushPack, 0o644)
	w.write(w.home+"/.acai/hooks/b.rules.json", `{"rules":[{"name":"no-push","events":["tool-call-start"],"match":{"command":"rm *"},"reply":{"action":"block","reason":"x"}}]}`, 0o644)
	if s := w.load(); !hasFinding(s.Findings, schema.CodeDuplicateName, "no-push") {
		t.Errorf("%v", s.Findings)
	}
	for _, command := range []string{"git push", "rm x"} {
		if o := shellCall(w, command); o.Action != protocol.Block {
			t.Errorf("%s: %+v", command, o)
		}
	}
	w = newWorld(t)
	w.write(w.home+"/.acai/hooks/a.rules.yml", pushPack, 0o644)
	w.write(w.home+"/.acai/hooks/b.rules.yaml~", pushPack, 0o644)
	if s := w.load(); len(s.Findings) != 1 || s.Findings[0].Code != string(report.Unread) {
		t.Errorf("%v", s.Findings)
	}
}

// A file of rules that others may write to refuses what its guards would, as settings do.
func TestAFileOfRulesThatOthersMayWrite(t *testing.T) {
	w := newWorld(t)
	w.write(w.home+"/.acai/hooks/git.rules.yaml", pushPack, 0o666)
	if got := status(w.load(), "no-push"); got != "broken!spawn" && got != "broken!gone" {
		t.Errorf("%s", got)
	}
	if o := shellCall(w, "git push"); o.Action != protocol.Block {
		t.Errorf("%+v", o)
	}
	if err := os.Remove(w.home + "/.acai/hooks/git.rules.yaml"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(w.home+"/.acai/hooks/git.rules.yaml", 0o755); err != nil {
		t.Fatal(err)
	}
	if o := shellCall(w, "git push"); o.Action != protocol.Block {
		t.Errorf("a folder in its place: %+v", o)
	}
}
