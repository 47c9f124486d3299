//go:build unix && !lean

package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/prove"
)

var allTemplates = flag.Bool("all-templates", false, "run the template of every event and class, and not one of each form")

// TestMain is hookd get and hookd reply, too, which hooks in a shell start. They start once
// more with GORACE, which hooks do not have: without it the race detector has each wait a second
// before it ends.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "get" || os.Args[1] == "reply") {
		if os.Getenv("GORACE") == "" && prove.Race {
			os.Setenv("GORACE", "atexit_sleep_ms=0")
			if self, err := os.Executable(); err == nil {
				syscall.Exec(self, os.Args, os.Environ())
			}
		}
		main()
		return
	}
	os.Exit(m.Run())
}

// templateForms are events and classes: one for each form that a template has.
var templateForms = []string{
	"tool-call-start block", "tool-call-end modify", "step-start block", "session-start modify", "permission-request modify", "notification observe", "agent-end modify",
}

// A hook of a template passes the tests that are written with it, as it is written, in each
// language whose program is here.
func TestEachTemplatePassesItsTests(t *testing.T) {
	if hookenv.ProcessDepth() > 0 {
		t.Skip("the tests run below an agent, where no hook can be allowed; CI, below none, tests it")
	}
	forms := templateForms
	if *allTemplates {
		forms = nil
		for i := range protocol.Table {
			for _, can := range []string{"observe", "block", "modify"} {
				forms = append(forms, string(protocol.Table[i].Name)+" "+can)
			}
		}
	}
	for lang, program := range map[string]string{"sh": "sh", "bash": "bash", "python": "python3", "node": "node", "bun": "bun", "deno": "deno", "ruby": "ruby", "go": "go"} {
		t.Run(lang, func(t *testing.T) {
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("%s is not on this machine: its hooks are not run here", program)
			}
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
			t.Setenv("XDG_CONFIG_HOME", "")
			project := t.TempDir()
			t.Chdir(project)
			forms := forms
			if lang == "go" { // its other forms are checked as text: each would be linked
				forms = []string{"tool-call-end modify"}
			}
			written := 0
			for _, form := range forms {
				event, can, _ := strings.Cut(form, " ")
				name := event + "-" + can
				if out, err := inProcess(t, "new", name, "--lang", lang, "--event", event, "--can", can); err == nil {
					written++
				} else if !*allTemplates {
					t.Fatalf("%s: %v\n%s", form, err, out)
				}
			}
			if lang == "go" {
				build := exec.Command("go", "build", "-o", ".acai/hooks/tool-call-end-modify", ".acai/hooks-src/tool-call-end-modify/main.go")
				build.Env = append(os.Environ(), "HOME="+goHome)
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				if out, err := inProcess(t, "trust", "--yes"); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			out, err := inProcess(t, "test")
			if err != nil || strings.Count(out, "✓") < 2*written {
				t.Errorf("%v\n%s", err, out)
			}
			if out, err := inProcess(t, "check", "--strict"); err != nil || strings.Contains(out, "untested") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

var goHome = os.Getenv("HOME")

// inProcess runs a command and returns what it prints.
func inProcess(t *testing.T, args ...string) (string, error) {
	t.Helper()
	p := newParts(context.WithCancelCause(t.Context()))
	var out bytes.Buffer
	p.console.Out, p.console.Err = &show.Printer{W: &out, Width: 200}, &show.Printer{W: &out, Width: 200}
	err := newRoot(p, args).ExecuteContext(t.Context())
	p.closers.Close(p.console)
	return out.String(), err
}

// Tests that a settings entry carries are run, and count as tests; what is wrong with them
// is said by check, and is a failure of hookd test.
func TestAnEntryCarriesItsTests(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	t.Setenv("XDG_CONFIG_HOME", "")
	if err := os.Mkdir(filepath.Join(home, ".acai"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	run := func(tests, command string) (string, error) {
		t.Helper()
		rule := `{"hooks":{"use":[{"name":"no-push","events":["tool-call-start"],"match":{"command":"git push *"},"reply":{"action":"block","reason":"a person pushes"},
"tests":[` + tests + `]}]}}`
		if err := os.WriteFile(filepath.Join(home, ".acai", "acai.json"), []byte(rule), 0o600); err != nil {
			t.Fatal(err)
		}
		return inProcess(t, command)
	}
	const good, bad = `{"command":"git push x","expect":{"verdict":"block","reason":"a person pushes"}}, {"command":"ls","expect":"not-asked"}`, `{"command":"ls","expect":"block"}`
	for _, c := range []struct {
		tests, command string
		fails          bool
		want           []string
	}{
		{good, "test", false, []string{"no-push  ", ".acai/acai.json", "✓ command: git push x", "2 tests passed"}},
		{good, "check", false, []string{"no problems"}},
		{good + "," + bad, "test", true, []string{"2 tests passed, 1 failed", "acai.json:2", "- verdict  block"}},
		{`{"command":"ls","expect":"blok"}`, "test", true, []string{`did you mean "block"?`, "acai.json", "1 problem in test files"}},
		{`{"command":"ls","expect":"blok"}`, "check", false, []string{"warning", `there is no verdict "blok"`, "hook no-push", "1 warning"}},
	} {
		out, err := run(c.tests, c.command)
		if (err != nil) != c.fails || strings.Contains(out, "untested") {
			t.Errorf("%s of %s: %v\n%s", c.command, c.tests, err, out)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s of %s does not say %q:\n%s", c.command, c.tests, want, out)
			}
		}
	}
}

// The shell completes the events, the languages, and what a hook may do at the event.
func TestTheShellCompletesWhatNewTakes(t *testing.T) {
	for args, want := range map[string]string{
		"--event tool-call-":         "tool-call-start tool-call-end tool-call-error",
		"--lang d":                   "deno",
		"--event session-end --can ": "observe",
		"--event agent-end --can ":   "observe modify",
	} {
		words := append([]string{"__complete", "new", "x"}, strings.Split(args, " ")...)
		var got []string
		p := newParts(context.WithCancelCause(t.Context()))
		var out bytes.Buffer
		root := newRoot(p, words)
		root.SetOut(&out)
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			typed := words[len(words)-1] // the shell takes those that begin so
			if line = strings.TrimSpace(line); line != "" && line[0] != ':' && strings.HasPrefix(line, typed) {
				got = append(got, line)
			}
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
