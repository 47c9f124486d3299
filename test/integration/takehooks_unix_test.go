//go:build unix

package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/examples"
)

// testRun is what hookd test --json prints.
type testRun struct {
	Passed bool
	Tests  int
	Hooks  []struct {
		Hook, File, NotRun string
		Tests              []struct {
			Name, Verdict, Error, Stderr string
			Passed                       bool
			Mismatches                   []struct{ What, Want, Got string }
		}
	}
	Findings []struct{ File, Message string }
}

// hookdTests runs hookd test and shows what did not pass.
func (b *box) hookdTests(t *testing.T, names ...string) (run testRun) {
	t.Helper()
	stdout, stderr, code := b.runs(t, nil, append([]string{"test", "--json"}, names...)...)
	if err := json.Unmarshal([]byte(stdout), &run); err != nil {
		t.Fatalf("exit %d: %v\n%s%s", code, err, stdout, stderr)
	}
	for _, hook := range run.Hooks {
		if hook.NotRun != "" {
			t.Errorf("%s: %s", hook.File, hook.NotRun)
		}
		for _, one := range hook.Tests {
			if !one.Passed {
				t.Errorf("%s: %s: %s%+v\n%s", hook.Hook, one.Name, one.Error, one.Mismatches, one.Stderr)
			}
		}
	}
	for _, f := range run.Findings {
		t.Errorf("%s: %s", f.File, f.Message)
	}
	return run
}

// Every hook to take, taken into an empty project and allowed, passes the tests that come
// with it; a guard's tests show it refuse and let pass.
func TestHooksToTake(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	needPython(t, b)
	hooks := examples.Hooks()
	if len(hooks) < 15 {
		t.Errorf("%d hooks to take", len(hooks))
	}
	take := []string{"new", "--from", ""}
	for i := range hooks {
		h := &hooks[i]
		take[2] += h.Name + ","
		if !slices.Contains(examples.Groups, h.Group) || len(h.Why) > 90 || len(h.Events) == 0 || len(h.Tests) == 0 {
			t.Errorf("%s: group %q, why of %d bytes, events %v, %d bytes of tests", h.Name, h.Group, len(h.Why), h.Events, len(h.Tests))
		}
		if interpreter, _, _ := strings.Cut(string(h.Text), "\n"); strings.Contains(interpreter, "python3") && !slices.Contains(h.Needs, "python3") {
			t.Errorf("%s does not say that it needs python3", h.Name)
		}
	}
	take[2] = strings.TrimSuffix(take[2], ",")
	if stdout, stderr, code := b.runs(t, nil, take...); code != 0 || strings.Count(stdout, "\nwrote ")+1 != 2*len(hooks) {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	if stdout, stderr, code := b.runs(t, nil, "trust", "--yes"); code != 0 {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	run := b.hookdTests(t)
	verdicts := map[string]map[string]bool{}
	for _, hook := range run.Hooks {
		name := filepath.Base(hook.File)
		verdicts[name] = map[string]bool{}
		for _, one := range hook.Tests {
			verdicts[name][one.Verdict] = true
		}
	}
	for i := range hooks {
		h := &hooks[i]
		got := verdicts[h.TestFile]
		if len(got) == 0 {
			t.Errorf("%s was not tested", h.Name)
		}
		if guard := strings.Contains(string(h.Text), "can=block") || strings.Contains(string(h.Text), "action: block"); guard && !(got["block"] && (got["observe"] || got["not-asked"])) {
			t.Errorf("%s: its tests show %v", h.Name, got)
		}
	}
}

// needPython puts the program behind a version manager's python3 in front: its shim needs
// the home folder that a box has not.
func needPython(t *testing.T, b *box) {
	t.Helper()
	program, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skipf("python3 does not run: %v", err)
	}
	b.path = filepath.Dir(strings.TrimSpace(string(program)))
}

// What is there already stays, whatever else was asked for, and a wrong name is answered
// with the right one.
func TestTakingHooksReplacesNothing(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	hooks := filepath.Join(b.project, ".acai", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(hooks, "dangerous-commands.test.yaml")
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	listed := func() string {
		entries, _ := os.ReadDir(hooks)
		names := ""
		for _, entry := range entries {
			names += entry.Name() + " "
		}
		return names
	}
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--from", "protected-paths", "dangerous-commands"}, 3, "is there already, and nothing was written"},
		{[]string{"--from", "protected-path"}, 3, "did you mean protected-paths?"},
		{[]string{"--from", "deploys"}, 3, "ask-before-deploy"},
		{[]string{"--from", "protected-paths", "--dry-run"}, 0, "would write "},
		{[]string{"--from", "protected-paths", "--lang", "sh"}, 3, "--lang is for a hook from a template"},
		{[]string{"--user", "guard.sh"}, 3, "--user goes with --from"},
		{[]string{"--from", "protected-paths", "--user", "--project", "."}, 3, "--project names another"},
	} {
		stdout, stderr, code := b.runs(t, nil, append([]string{"new"}, test.args...)...)
		if code != test.code || !strings.Contains(stdout+stderr, test.says) {
			t.Errorf("%v: exit %d: %s%s", test.args, code, stdout, stderr)
		}
		if got := listed(); got != "dangerous-commands.test.yaml " {
			t.Errorf("%v: the folder holds %s", test.args, got)
		}
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	stdout, stderr, code := b.runs(t, nil, "new", "--from", "protected-paths.rules.yaml", "--user")
	if _, err := os.Stat(filepath.Join(b.home, ".acai", "hooks", "protected-paths.rules.yaml")); code != 0 || err != nil {
		t.Errorf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
}
