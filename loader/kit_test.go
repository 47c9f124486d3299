//go:build unix

package loader

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

var testRuntime *process.Runtime

func TestMain(m *testing.M) {
	// A run of these tests below a hook would refuse every decision.
	os.Unsetenv(hookenv.VarDepth)
	os.Unsetenv("CLAUDECODE")
	if os.Getenv(decideVariable) != "" {
		println(errors.Is(trust.MayDecide(), trust.ErrBelow))
		return
	}
	var err error
	if testRuntime, err = process.New(process.Options{}); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := testRuntime.Close(); err != nil {
		panic(err)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// decideVariable makes the test binary say whether it may decide, and no more.
const decideVariable = "LOADER_TEST_MAY_DECIDE"

// world is a home, a state folder and a project of their own.
type world struct {
	t                    testing.TB
	home, state, project string
	managed              string
}

func newWorld(t testing.TB) *world {
	return worldAt(t, filepath.Join(t.TempDir(), "project"))
}

func worldAt(t testing.TB, project string) *world {
	t.Helper()
	top := t.TempDir()
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	w := &world{t: t, home: filepath.Join(top, "home"), state: filepath.Join(top, "state"), project: project, managed: filepath.Join(top, "etc", "acai")}
	for _, dir := range []string{w.home, w.state, filepath.Join(project, ".acai", "hooks")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	os.Chmod(w.state, 0o700)
	if real, err := filepath.EvalSymlinks(project); err == nil {
		w.project = real
	}
	return w
}

func (w *world) options() Options {
	return Options{
		Project: w.project, Cwd: w.project, Home: w.home, StateDir: w.state, Runtime: testRuntime,
		Managed: &ManagedLayer{Dir: w.managed, Owner: os.Geteuid(), Top: filepath.Dir(w.managed)},
	}
}

// path is a path below the project.
func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.project}, parts...)...)
}

func (w *world) hookPath(name string) string { return w.path(".acai", "hooks", name) }

func (w *world) write(path, text string, mode os.FileMode) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) hook(name, text string) { w.t.Helper(); w.write(w.hookPath(name), text, 0o755) }
func (w *world) settings(text string) {
	w.t.Helper()
	w.write(w.path(".acai", "acai.json"), text, 0o644)
}
func (w *world) userSettings(s string) {
	w.t.Helper()
	w.write(filepath.Join(w.home, ".acai", "acai.json"), s, 0o644)
}
func (w *world) userHook(name, s string) {
	w.t.Helper()
	w.write(filepath.Join(w.home, ".acai", "hooks", name), s, 0o755)
}

func (w *world) load() *Snapshot {
	w.t.Helper()
	s, err := Load(context.Background(), w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) trust() *Trust {
	w.t.Helper()
	person, err := OpenTrust(w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	return person
}

func (w *world) plan() *trust.Plan {
	w.t.Helper()
	plan, err := w.trust().Plan(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return plan
}

func (w *world) allow(names ...string) {
	w.t.Helper()
	if err := w.trust().Allow(w.plan(), names...); err != nil {
		w.t.Fatal(err)
	}
}

// planItem is what a plan has of one hook.
func planItem(plan *trust.Plan, name string) *trust.PlanItem {
	for i := range plan.Items {
		if plan.Items[i].Hook == name {
			return &plan.Items[i]
		}
	}
	return &trust.PlanItem{}
}

func find(s *Snapshot, name string) *Info {
	for i := range s.Hooks {
		if s.Hooks[i].Name == name {
			return &s.Hooks[i]
		}
	}
	return nil
}

// status is a hook's status as a word; "" if it is not there, with ! after it
// if it is a failure.
func status(s *Snapshot, name string) string {
	h := find(s, name)
	switch {
	case h == nil:
		return ""
	case h.Fault != nil:
		return string(h.Status) + "!" + string(h.Fault.Kind)
	}
	return string(h.Status)
}

// names lists the hooks that run or fail, in running order.
func names(set *executor.Set) string {
	var list []string
	for _, h := range set.Hooks {
		if h.Asker != nil || h.Fault != nil {
			list = append(list, h.Name)
		}
	}
	return strings.Join(list, " ")
}

// fire decides one tool-call-start of the tool bash.
func (w *world) fire(source executor.Source) protocol.Outcome {
	w.t.Helper()
	return w.fireEvent(source, protocol.ToolCallStart, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"ls"},"parallel":1}`)
}

func (w *world) fireEvent(source executor.Source, event protocol.EventName, data string) protocol.Outcome {
	w.t.Helper()
	e := executor.New(source, executor.Options{})
	defer e.Close(context.Background())
	outcome, err := e.Fire(context.Background(), protocol.Event{
		Protocol: 1, Event: event, ID: "01JTEST", Time: time.Now(), Project: w.project, Cwd: w.project,
		Agent: protocol.Agent{ID: "main", Host: "test"}, Data: []byte(data),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return outcome
}

func hasFinding(findings []schema.Finding, code schema.Code, hook string) bool {
	for _, f := range findings {
		if f.Code == string(code) && (hook == "" || f.Hook != nil && *f.Hook == hook) {
			return true
		}
	}
	return false
}

// guardHeader is the description of a guard of the shell.
const guardHeader = "#!/bin/sh\n# hook: events=tool-call-start match.tool=bash can=block timeout=5s\n"

// blocks is a guard that refuses everything.
const blocks = guardHeader + `echo '{"action":"block","reason":"no"}'` + "\n"

// marker is a script that leaves a mark when it is run.
func marker(path, header string) string {
	return header + "echo ran >>'" + path + "'\n"
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func (w *world) remove(path string) {
	w.t.Helper()
	if err := os.RemoveAll(path); err != nil {
		w.t.Fatal(err)
	}
}
