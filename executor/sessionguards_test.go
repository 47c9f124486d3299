package executor

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// switchable is a source whose set a test exchanges.
type switchable struct{ set atomic.Pointer[Set] }

func (s *switchable) Current() *Set { return s.set.Load() }

func (s *switchable) use(t *testing.T, hooks ...*Hook) {
	t.Helper()
	set, errs := NewSet(Set{Hooks: hooks})
	if errs != nil {
		t.Fatal(errs)
	}
	s.set.Store(set)
}

// A session keeps the guards it began with: one whose file is taken away is a
// failure, one that a person disabled is not asked.
func TestGuardsOfASession(t *testing.T) {
	guard, watcher := HookOf(goHook("guard", protocol.CanBlock, observe)), HookOf(goHook("m", protocol.CanModify, observe))
	off := *guard
	off.Status, off.Asker = Disabled, nil
	disabled := off
	disabled.SwitchedOff = true
	changed := HookOf(goHook("guard", protocol.CanObserve, observe))
	source := &switchable{}
	source.use(t, guard, watcher)
	e := New(source, Options{})
	defer e.Close(t.Context())
	check := func(what, session string, want ...string) {
		t.Helper()
		ev := event("")
		ev.Session.ID = session
		if diff := cmp.Diff(want, hooktest.Runs(hooktest.Fire(t, e, ev))); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	check("both there", "a", "m:observe", "guard:observe")
	source.use(t, watcher)
	check("guard gone", "a", "m:observe", "guard:gone")
	check("a session that never had it", "b", "m:observe")
	check("no session", "", "m:observe")
	source.use(t, &disabled, watcher)
	check("disabled by a person", "a", "m:observe", "guard:disabled")
	source.use(t, &off, watcher)
	check("switched off by a file of the project", "a", "m:observe", "guard:observe")
	source.use(t, changed)
	check("listed as something weaker", "a", "guard:observe")
	source.use(t)
	check("everything gone", "a", "guard:gone")
	start := event("")
	start.Event, start.Session.ID, start.Data = protocol.SessionStart, "a", protocol.RawMessage(`{"source":"resume"}`)
	hooktest.Fire(t, e, start)
	check("the session begins anew", "a")
	source.use(t, guard)
	check("it is back", "a", "guard:observe")
	source.use(t)
	e.Forget("a")
	check("forgotten", "a")
}

func TestRememberedSessionsAreBounded(t *testing.T) {
	e := newExecutor(t, schema.HookSettings{}, Options{}, goHook("g", protocol.CanBlock, observe))
	for i := range 2*maxSessions + 10 {
		ev := event("")
		ev.Session.ID = fmt.Sprint(i)
		e.guards.hooks(e.source.Current(), &ev)
	}
	if n := len(e.guards.sessions); n > maxSessions {
		t.Errorf("%d sessions are remembered", n)
	}
}
