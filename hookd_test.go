package hookd_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const guard = `#!/bin/sh
# hook: events=tool-call-start can=block
echo '{"action":"block","reason":"REASON"}'
`

// project is a folder with one guard, below a home and state folder of its own.
func project(t *testing.T, reason string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the guard is a shell script")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	write(t, dir, reason)
	return dir
}

func write(t *testing.T, project, reason string) {
	t.Helper()
	file := filepath.Join(project, ".acai", "hooks", "guard.sh")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(guard, "REASON", reason)), 0o755); err != nil {
		t.Fatal(err)
	}
}

// trust allows what is in the project, as "hookd trust --yes" does.
func trust(t *testing.T, project string) {
	t.Helper()
	records, err := loader.OpenTrust(loader.Options{Project: project})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := records.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := records.Allow(plan); err != nil {
		t.Fatal(err)
	}
}

func call(t *testing.T) protocol.Event {
	t.Helper()
	data, err := protocol.Marshal(protocol.ToolCallStartData{Call: protocol.Call{
		ToolCallID: "c1", Name: "bash", Kind: protocol.KindShell, Args: []byte(`{"command":"ls"}`),
	}, Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	return protocol.Event{Event: protocol.ToolCallStart, Agent: protocol.Agent{ID: "main", Host: "test"}, Data: data}
}

// fire returns why the call was refused, "" if it was not.
func fire(t *testing.T, gate *hookd.Gate) string {
	t.Helper()
	outcome, err := gate.Fire(t.Context(), call(t))
	if err != nil {
		t.Fatal(err)
	}
	if !outcome.Refused() {
		return ""
	}
	return outcome.Reason
}

// TestOpen follows a project from before its guard is allowed to after it has changed.
func TestOpen(t *testing.T) {
	dir := project(t, "first")
	var mu sync.Mutex
	var findings []schema.Finding
	gate, err := hookd.Open(t.Context(), hookd.Options{Project: dir, OnFinding: func(f schema.Finding) {
		mu.Lock()
		defer mu.Unlock()
		findings = append(findings, f)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if reason := fire(t, gate); reason == "" || strings.Contains(reason, "first") {
		t.Errorf("before it was allowed: %q", reason)
	}
	if len(gate.Findings()) == 0 {
		t.Error("no finding for a guard that nobody allowed")
	}
	mu.Lock()
	if len(findings) == 0 {
		t.Error("OnFinding was not told")
	}
	mu.Unlock()
	trust(t, dir)
	until(t, func() bool { return fire(t, gate) == "first" })
	if hooks := gate.Hooks(); len(hooks) != 1 || hooks[0] != (protocol.HookRef{Layer: protocol.Project, Name: "guard.sh"}) {
		t.Errorf("hooks %v", hooks)
	}
	write(t, dir, "second")
	until(t, func() bool { return fire(t, gate) != "first" }) // changed: it refuses until it is allowed again
	trust(t, dir)
	until(t, func() bool { return fire(t, gate) == "second" })
	if err := gate.Close(); err != nil {
		t.Error(err)
	}
	if reason := fire(t, gate); reason == "" {
		t.Error("a closed gate let a call pass")
	}
	if err := gate.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

func until(t *testing.T, holds func() bool) {
	t.Helper()
	hooktest.Eventually(t, 20*time.Second, "it never happened", holds)
}

// TestOpenWithGoHooks asserts that the agent's own hooks and the files' are in one order.
func TestOpenWithGoHooks(t *testing.T) {
	dir := project(t, "no")
	trust(t, dir)
	asked := false
	gate, err := hookd.Open(t.Context(), hookd.Options{Project: dir, Hooks: []protocol.GoHook{{
		Name: "counts", Events: []protocol.EventName{protocol.ToolCallStart},
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
			asked = true
			return protocol.Reply{}, nil
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	if reason := fire(t, gate); reason != "no" || !asked {
		t.Errorf("%q, asked %v", reason, asked)
	}
	if hooks := gate.Hooks(); len(hooks) != 2 {
		t.Errorf("hooks %v", hooks)
	}
}

// TestOpenFails asserts that a failure names its reason and leaves nothing running.
func TestOpenFails(t *testing.T) {
	project(t, "")
	for name, options := range map[string]hookd.Options{
		"no folder":  {Project: filepath.Join(t.TempDir(), "none")},
		"a bad hook": {Project: t.TempDir(), Hooks: []protocol.GoHook{{Name: "h"}}},
	} {
		if gate, err := hookd.Open(t.Context(), options); err == nil || gate != nil {
			t.Errorf("%s: %v, %v", name, gate, err)
		}
	}
}

// TestOpenEndsWithItsContext asserts that ctx ends the loading, and the gate not.
func TestOpenEndsWithItsContext(t *testing.T) {
	dir := project(t, "no")
	trust(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	gate, err := hookd.Open(ctx, hookd.Options{Project: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	cancel()
	write(t, dir, "changed")
	until(t, func() bool { return fire(t, gate) != "no" }) // it goes on watching
	if gate, err := hookd.Open(ctx, hookd.Options{Project: dir}); gate != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", gate, err)
	}
}

// TestCloseByManyAtOnce asserts that Close may be called by several goroutines, while
// events are decided, and that no event passes afterwards.
func TestCloseByManyAtOnce(t *testing.T) {
	dir := project(t, "no")
	trust(t, dir)
	gate, err := hookd.Open(t.Context(), hookd.Options{Project: dir})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 {
				if fire(t, gate) == "" {
					t.Error("a call passed")
				}
			}
		})
		all.Go(func() {
			if err := gate.Close(); err != nil {
				t.Error(err)
			}
			if fire(t, gate) == "" {
				t.Error("a closed gate let a call pass")
			}
		})
	}
	all.Wait()
}

// TestClosedGatesRefuse asserts that gates let nothing pass after their end, whatever
// hooks they have.
func TestClosedGatesRefuse(t *testing.T) {
	project(t, "")
	passes := protocol.GoHook{
		Name: "passes", Events: []protocol.EventName{protocol.ToolCallStart},
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) { return protocol.Reply{}, nil },
	}
	empty, err := hookd.Static()
	if err != nil {
		t.Fatal(err)
	}
	static, err := hookd.Static(passes)
	if err != nil {
		t.Fatal(err)
	}
	open, err := hookd.Open(t.Context(), hookd.Options{Project: t.TempDir(), Hooks: []protocol.GoHook{passes}})
	if err != nil {
		t.Fatal(err)
	}
	for name, gate := range map[string]*hookd.Gate{"static without hooks": empty, "static": static, "open": open} {
		extended, err := gate.Extend(passes)
		if err != nil {
			t.Fatal(err)
		}
		if reason := fire(t, gate); reason != "" {
			t.Errorf("%s: refused before its end: %s", name, reason)
		}
		if err := gate.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if fire(t, gate) == "" || !gate.MayChange(call(t)) {
			t.Errorf("%s: it lets a call pass after its end", name)
		}
		if outcome, err := extended.Begin(t.Context(), call(t))(); err != nil || !outcome.Refused() {
			t.Errorf("%s, extended: %v, %v", name, outcome.Action, err)
		}
	}
}

func TestStatic(t *testing.T) {
	gate, err := hookd.Static(protocol.GoHook{
		Name: "no", Events: []protocol.EventName{protocol.ToolCallStart}, Can: protocol.CanBlock,
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{Action: protocol.Block, Reason: "no"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if reason := fire(t, gate); reason != "no" {
		t.Errorf("%q", reason)
	}
	if gate.Findings() != nil || len(gate.Hooks()) != 1 {
		t.Errorf("%v %v", gate.Findings(), gate.Hooks())
	}
	if err := gate.Close(); err != nil {
		t.Error(err)
	}
	if _, err := hookd.Static(protocol.GoHook{Name: "no function"}); err == nil {
		t.Error("a hook without a function was taken")
	}
}
