//go:build unix

package loader

import (
	"os"
	"testing"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/protocol"
)

func ruleWith(more string) string {
	return `{"hooks":{"use":[{"name":"no-push","events":["tool-call-start"],"match":{"command":"git push *"},"reply":{"action":"block","reason":"no"}` + more + `}]}}`
}

// Tests of an entry are read with it, are no part of what is allowed, and switch nothing
// off where they are wrong.
func TestTestsOfAnEntryAreNotPartOfWhatIsAllowed(t *testing.T) {
	w := newWorld(t)
	w.settings(ruleWith(""))
	w.allow()
	for _, tests := range []string{`[{"command":"git push","expect":"block"}]`, `[{"command":"git status","expect":"observe"}]`, `[]`, `7`, `[{"expekt":"blok"}]`, `null`} {
		w.settings(ruleWith(`,"tests":` + tests))
		s := w.load()
		if state := stateOfSettings(s); state != candidate.SettingsInForce || len(s.Findings) > 0 {
			t.Errorf("%s: settings %q, %v", tests, state, s.Findings)
		}
		if len(s.Hooks) != 1 || s.Hooks[0].Status != executor.Ready || s.Hooks[0].Tests == nil || s.Hooks[0].Tests.Path != "hooks.use[0].tests" {
			t.Errorf("%s: %+v", tests, s.Hooks)
		}
		if o := w.fireEvent(s.Set, protocol.ToolCallStart, `{"toolCallId":"c","name":"bash","kind":"shell","args":{"command":"git push"},"parallel":1}`); o.Action != protocol.Block {
			t.Errorf("%s: %s", tests, o.Action)
		}
	}
	// What is like tests, and is not those of an entry, is allowed as all else is.
	w.settings(ruleWith(`,"tests":[],"priority":3`))
	if state := stateOfSettings(w.load()); state != candidate.SettingsChanged {
		t.Errorf("another member changed: settings %q", state)
	}
}

// The tests beside a hook are no helper of it, whatever its files say by a glob: who writes
// a test need not allow the hook again. A file that is named in full is one, and so is all
// that a hook could read that runs in place.
func TestTestsBesideAHookAreNoHelpers(t *testing.T) {
	for name, c := range map[string]struct {
		rules, file string
		changes     bool
	}{
		"a test of the hook":      {"files=*.yaml,_data*", "g.sh.test.yaml", false},
		"a test in JSON":          {"files=*", "g.sh.test.json", false},
		"named in full":           {"files=g.sh.test.yaml", "g.sh.test.yaml", true},
		"of no hook":              {"files=*.yaml", "x.test.yaml", true},
		"in a folder":             {"files=**", "cases/g.sh.test.yaml", true},
		"a hook that is in place": {"files=*.yaml inPlace=true", "g.sh.test.yaml", true},
		"another helper":          {"files=_data*", "_data", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.hook("g.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block "+c.rules+"\nexit 0\n")
			if err := os.MkdirAll(w.hookPath("cases"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"_data", "b.yaml", "cases/x", c.file} {
				w.write(w.hookPath(file), "1", 0o644)
			}
			w.allow()
			if s := w.load(); s.Hooks[0].Status != executor.Ready {
				t.Fatalf("%s: %s", s.Hooks[0].Status, s.Hooks[0].Why)
			}
			w.write(w.hookPath(c.file), "2", 0o644)
			if s := w.load(); (s.Hooks[0].Status == executor.Changed) != c.changes {
				t.Errorf("%s: %s", s.Hooks[0].Status, s.Hooks[0].Why)
			}
		})
	}
}
