//go:build unix

package exechook

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// in puts a hook into a layer, with what its settings change.
func in(layer protocol.Layer, own schema.HookSettings, h *executor.Hook) *executor.Hook {
	settings := hooktest.Settings(own)
	h.Layer, h.Own = layer, &settings
	return h
}

// Hooks of a lower layer that hang in every place there is keep no hook of a
// higher layer from starting, nor do its slow observers.
func TestPlacesAreKeptForHigherLayers(t *testing.T) {
	s := newScripts(t)
	hanging := func(name string, can protocol.Class) *executor.Hook {
		return in(protocol.Project, schema.HookSettings{Processes: 2}, s.hook(name, can, 3*time.Second, "cat >/dev/null; sleep 30"))
	}
	guard := in(protocol.Managed, schema.HookSettings{}, s.hook("guard", protocol.CanBlock, time.Second, `echo '{"action":"block","reason":"policy"}'`))
	var hooks []*executor.Hook
	for i := range 4 {
		hooks = append(hooks, hanging(fmt.Sprintf("o%d", i), protocol.CanObserve))
	}
	e := s.executor(schema.HookSettings{Processes: 2, Grace: time.Millisecond, Drain: time.Millisecond}, append(hooks, guard)...)
	for i := range 20 {
		began := time.Now()
		o := hooktest.Fire(t, e, toolEvent(fmt.Sprint(i)))
		if o.Action != protocol.Block || o.Failure != "" {
			t.Fatalf("event %d: %s %v", i, o.Action, hooktest.Runs(o))
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("event %d waited %s", i, took)
		}
	}
}

// What lower hooks used of their budget is not taken from the machine's.
func TestBudgetOfALayerIsItsOwn(t *testing.T) {
	s := newScripts(t)
	slow := in(protocol.Project, schema.HookSettings{Budget: 2 * time.Second}, s.hook("a-slow", protocol.CanModify, 5*time.Second, "cat >/dev/null; sleep 30"))
	slow.OnFailure = protocol.RuleContinue
	redactor := in(protocol.Managed, schema.HookSettings{Budget: 2500 * time.Millisecond}, s.hook("b-redactor", protocol.CanModify, 5*time.Second,
		`cat >/dev/null; sleep 1; echo '{"changes":{"args":{"command":"redacted"}}}'`))
	e := s.executor(schema.HookSettings{Budget: 2 * time.Second, Grace: time.Millisecond}, slow, redactor)
	o := hooktest.Fire(t, e, toolEvent("1"))
	if !strings.Contains(string(o.Event.Data), "redacted") {
		t.Errorf("not redacted: %v", hooktest.Runs(o))
	}
	if got := hooktest.Runs(o); !slices.Equal(got, []string{"a-slow:budget", "b-redactor:modify"}) {
		t.Errorf("runs %v", got)
	}
}

// Each layer's observers have the time at the end, and the queue, that their own
// layer gives them.
func TestObserversHaveTheirLayersDrainAndQueue(t *testing.T) {
	s := newScripts(t)
	auditor := func(layer protocol.Layer, own schema.HookSettings, name string) *executor.Hook {
		return in(layer, own, s.hook(name, protocol.CanObserve, 5*time.Second, `cat >/dev/null; sleep 0.1; echo x >>$OUT/`+name+`.seen`))
	}
	e := s.executor(schema.HookSettings{ObserverQueue: 1, Grace: time.Millisecond},
		auditor(protocol.Managed, schema.HookSettings{}, "machine"),
		auditor(protocol.User, schema.HookSettings{ObserverQueue: 1, Drain: time.Nanosecond}, "user"))
	for i := range 5 {
		hooktest.Fire(t, e, toolEvent(fmt.Sprint(i)))
	}
	began := time.Now()
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := s.lines("machine.seen"); n != 5 {
		t.Errorf("the machine's auditor saw %d of 5 events", n)
	}
	if n := s.lines("user.seen"); n == 5 {
		t.Error("the user's auditor saw all events")
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the end took %s", took)
	}
}

// Limits are the hook's own: one of a lower layer cannot be asked about a large
// event, one of a higher layer is.
func TestLimitsAreTheHooksOwn(t *testing.T) {
	s := newScripts(t)
	small := schema.HookSettings{Limits: schema.Limits{Event: 1024, Reply: 256, Depth: 8}}
	answer := `cat >/dev/null; echo '{"changes":{"args":{"n":1,"pad":"` + strings.Repeat("x", 400) + `"}}}'`
	low := in(protocol.User, small, s.hook("a-low", protocol.CanModify, 5*time.Second, answer))
	high := in(protocol.Managed, schema.HookSettings{}, s.hook("b-high", protocol.CanModify, 5*time.Second, answer))
	low.OnFailure, high.OnFailure = protocol.RuleContinue, protocol.RuleContinue
	e := s.executor(small, low, high)
	ev := toolEvent("1")
	for _, args := range []string{`{"x":"` + strings.Repeat("x", 2000) + `"}`, `{"x":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + `}`} {
		ev.Data = []byte(`{"toolCallId":"c1","name":"bash","kind":"shell","args":` + args + `,"parallel":1}`)
		if got := hooktest.Runs(hooktest.Fire(t, e, ev)); !slices.Equal(got, []string{"a-low:spawn", "b-high:modify"}) {
			t.Errorf("runs %v", got)
		}
	}
	if got := hooktest.Runs(hooktest.Fire(t, e, toolEvent("2"))); !slices.Equal(got, []string{"a-low:output", "b-high:modify"}) {
		t.Errorf("runs %v", got)
	}
}

// Settings that were never made are the defaults; in all others 0 is 0.
func TestZeroIsZero(t *testing.T) {
	set, _ := executor.NewSet(executor.Set{})
	if set.Settings.Hooks.Limits.Context == 0 || set.Settings.Hooks.Grace == 0 {
		t.Errorf("no settings at all are %+v", set.Settings.Hooks)
	}
	s := newScripts(t)
	settings := schema.DefaultSettings()
	hooks := &settings.Hooks
	hooks.Limits.Context, hooks.Limits.State, hooks.Limits.Metadata, hooks.Limits.Stderr, hooks.Drain, hooks.Grace = 0, 0, 0, 0, 0, 0
	h := s.hook("h", protocol.CanModify, 5*time.Second, `cat >/dev/null; echo loud >&2; echo '{"context":"c","state":{"a":1},"metadata":{"b":2}}'`)
	o := s.hook("o", protocol.CanObserve, 5*time.Second, `cat >/dev/null; sleep 1`)
	set, _ = executor.NewSet(executor.Set{Hooks: []*executor.Hook{h, o}, Settings: settings})
	e := executor.New(set, executor.Options{StateDir: filepath.Join(s.dir, "state")})
	out := hooktest.Fire(t, e, toolEvent("1"))
	run := out.Runs[0]
	if run.ContextBytes != 0 || run.Stderr != "" || len(run.Warnings) != 3 {
		t.Errorf("%+v", run)
	}
	snapshot, _ := s.remembered()
	if snapshot.State(keyOf(h)) != nil || string(snapshot.Metadata(nil)) != "{}" {
		t.Errorf("kept: %s %s", snapshot.State(keyOf(h)), snapshot.Metadata(nil))
	}
	began := time.Now()
	e.Close(context.Background())
	if took := time.Since(began); took > 800*time.Millisecond {
		t.Errorf("without time for observers the end took %s", took)
	}
}

// An inner project's hooks leave those of an outer one places, time and context, as
// those of a lower layer do.
func TestAnOuterProjectsHooksHaveTheirOwn(t *testing.T) {
	s := newScripts(t)
	own := schema.HookSettings{Processes: 2, Budget: time.Second, Drain: time.Millisecond}
	hooks := []*executor.Hook{
		in(protocol.Project, own, s.hook("a-slow", protocol.CanModify, 5*time.Second, "cat >/dev/null; sleep 30")),
		in(protocol.Project, own, s.hook("../redactor", protocol.CanModify, 20*time.Second,
			`cat >/dev/null; echo '{"changes":{"args":{"command":"redacted"}}}'`)),
	}
	hooks[0].OnFailure, hooks[1].OnFailure = protocol.RuleContinue, protocol.RuleContinue
	hooks[1].Outer = 1
	for i := range 4 {
		hooks = append(hooks, in(protocol.Project, own, s.hook(fmt.Sprintf("o%d", i), protocol.CanObserve, 5*time.Second, "cat >/dev/null; sleep 30")))
	}
	e := s.executor(schema.HookSettings{Processes: 2, Grace: time.Millisecond, Drain: time.Millisecond}, hooks...)
	for i := range 2 {
		o := hooktest.Fire(t, e, toolEvent(fmt.Sprint(i)))
		if got := hooktest.Runs(o)[:2]; !slices.Equal(got, []string{"a-slow:budget", "../redactor:modify"}) {
			t.Errorf("event %d: %v", i, got)
		}
	}
	set, _ := executor.NewSet(executor.Set{Hooks: hooks})
	if got := set.SettingsOf(protocol.Origin{Layer: protocol.Project, Above: 1}).Budget; got != hooks[1].Own.Budget {
		t.Errorf("settings of the outer project: budget %s", got)
	}
}
