//go:build unix

package trustcmd

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader"
)

const ruleSettings = `{"hooks": {"use": [{"name": "no-rm", "events": ["tool-call-start"], "match": {"tool": "@shell"}, "reply": {"action": "block", "reason": "no"}}]}}`

// project is a project in which decisions are made without a terminal.
type project struct {
	t      *testing.T
	folder string
}

func newProject(t *testing.T) *project {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"CLAUDECODE", hookenv.VarDepth} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	if err := loader.MayDecide(); err != nil {
		t.Skipf("the tests run below an agent, where nothing can be allowed; CI, below none, tests it: %v", err)
	}
	t.Setenv("HOME", filepath.Join(top, "home"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(top, "state"))
	return &project{t, filepath.Join(top, "home", "shop")}
}

func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.folder, ".acai", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		p.t.Fatal(err)
	}
}

// run runs hookd trust or untrust, and returns what it printed and its error.
func (p *project) run(name string, args ...string) (string, error) {
	p.t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		p.t.Fatal(err)
	}
	defer null.Close()
	var out bytes.Buffer
	printer := &show.Printer{W: &out}
	cmd := &Commands{Console: &cli.Console{In: null, Out: printer, Err: printer}, Project: &places.Project{Folder: p.folder}}
	c := cmd.Trust()
	if name == "untrust" {
		c = cmd.Untrust()
	}
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	err = c.ExecuteContext(p.t.Context())
	return out.String(), err
}

// A key beside hooks that was meant to be hooks takes every rule away: that is said before
// the yes, and the rule had no file that could be gone.
func TestAMisspeltKeyOfTheFileIsNamedBeforeTheYes(t *testing.T) {
	for _, key := range []string{"hook", "Hooks", "hoosk", "guards"} {
		p := newProject(t)
		p.write("acai.json", ruleSettings)
		if said, err := p.run("trust", "--yes"); err != nil {
			t.Fatal(err, said)
		}
		p.write("acai.json", strings.Replace(ruleSettings, "hooks", key, 1))
		said, err := p.run("trust", "--yes")
		if err != nil {
			t.Fatal(err, said)
		}
		before, _, _ := strings.Cut(said, "✓")
		for _, want := range []string{`! has no effect: the key "` + key + `" is not read by hookd (did you mean "hooks"?)`,
			"no-rm  gone", "its entry is gone from acai.json; allowing accepts that it is removed"} {
			if !strings.Contains(before, want) {
				t.Errorf("%s: not said before the yes: %s\n%s", key, want, said)
			}
		}
		if strings.Contains(said, "its file is gone") {
			t.Errorf("a rule has no file:\n%s", said)
		}
	}
}

// A hook with a file of its own that is gone is still said to be one.
func TestAHookWhoseFileIsGoneIsSaidToBe(t *testing.T) {
	p := newProject(t)
	p.write("hooks/guard.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block timeout=5s\nexit 0\n")
	if said, err := p.run("trust", "--yes"); err != nil {
		t.Fatal(err, said)
	}
	if err := os.Remove(filepath.Join(p.folder, ".acai", "hooks", "guard.sh")); err != nil {
		t.Fatal(err)
	}
	if said, err := p.run("trust", "--yes"); err != nil || !strings.Contains(said, "its file is gone; allowing accepts that it is removed") {
		t.Errorf("%v\n%s", err, said)
	}
}

// Below an agent no decision is made, so that nobody is sent to --yes.
func TestBelowAnAgentNobodyIsSentToYes(t *testing.T) {
	for _, name := range []string{"trust", "untrust"} {
		for _, args := range [][]string{{}, {"--yes"}} {
			p := newProject(t)
			p.write("acai.json", ruleSettings)
			if _, err := p.run(name, args...); len(args) == 0 && (err == nil || !strings.Contains(err.Error(), "nobody is there to ask")) {
				t.Errorf("%s above all agents: %v", name, err)
			}
			p.write("acai.json", strings.Replace(ruleSettings, "no-rm", "other", 1))
			t.Setenv(hookenv.VarDepth, "1")
			_, err := p.run(name, args...)
			var fault *cli.Fault
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), loader.ErrBelow.Error()) || strings.Contains(fault.Error()+fault.Hint, "--yes") {
				t.Errorf("%s %q: %v", name, args, err)
			}
		}
	}
}

// What is wrong with a description is said where it is said that it is wrong.
func TestAFaultyDescriptionIsShownWithItsFault(t *testing.T) {
	p := newProject(t)
	p.write("hooks/h.sh", "#!/bin/sh\n# hook: events=tool-call-start can=blok timeot=5s\nexit 0\n")
	said, err := p.run("trust", "--yes")
	if err == nil || !strings.Contains(said, `✗ its description is faulty: there is no key "timeot" here (h.sh:2); 1 error more: hookd check`) || !strings.Contains(said, `→ did you mean "timeout"?`) {
		t.Errorf("%v\n%s", err, said)
	}
}

// A header line with a misspelt first word says nothing to hookd, which is said before the yes.
func TestAMisspeltHeaderIsNamedBeforeTheYes(t *testing.T) {
	for _, word := range []string{"hok:", "Hook:", "hook :", "hooks:"} {
		p := newProject(t)
		p.write("hooks/g.sh", "#!/bin/sh\n# "+word+" events=tool-call-start can=block\nexit 0\n")
		said, _ := p.run("trust", "--yes")
		before, _, _ := strings.Cut(said, "✓")
		if !strings.Contains(before, "! has no effect: the line ") || !strings.Contains(before, `(line 2): did you mean "hook:"?`) {
			t.Errorf("%q:\n%s", word, said)
		}
	}
	p := newProject(t)
	p.write("hooks/g.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block\n# Hooks: see events=x\nexit 0\n")
	if said, err := p.run("trust", "--yes"); err != nil || strings.Contains(said, "has no effect") {
		t.Errorf("%v\n%s", err, said)
	}
}
