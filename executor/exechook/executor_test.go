//go:build unix

package exechook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// scripts makes hooks that are shell scripts, run by one runtime.
type scripts struct {
	t   *testing.T
	dir string
	rt  *process.Runtime
}

func newScripts(t *testing.T) *scripts {
	t.Helper()
	rt, err := process.New(process.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return &scripts{t, t.TempDir(), rt}
}

func (s *scripts) hook(name string, can protocol.Class, timeout time.Duration, body string) *executor.Hook {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		s.t.Fatal(err)
	}
	h := executor.HookOf(goHook(name, can))
	h.Layer, h.Timeout, h.Path = protocol.User, timeout, path
	h.Asker = New(s.rt, Config{
		Path: path, Dir: s.dir, HookFile: path, Env: []string{"PATH=" + os.Getenv("PATH"), "OUT=" + s.dir},
	})
	return h
}

func (s *scripts) executor(settings schema.HookSettings, hooks ...*executor.Hook) *executor.Executor {
	s.t.Helper()
	set, errs := executor.NewSet(executor.Set{Hooks: hooks, Settings: schema.Settings{Hooks: hooktest.Settings(settings)}})
	if errs != nil {
		s.t.Fatal(errs)
	}
	e := executor.New(set, executor.Options{StateDir: filepath.Join(s.dir, "state")})
	s.t.Cleanup(func() { e.Close(context.Background()) })
	return e
}

// survivors waits up to a second for the processes whose ids hooks have written
// to NAME.pid, and returns those that are still alive.
func (s *scripts) survivors() []string {
	var alive []string
	for range 20 {
		alive = nil
		files, _ := filepath.Glob(filepath.Join(s.dir, "*.pid"))
		for _, file := range files {
			raw, _ := os.ReadFile(file)
			for _, id := range strings.Fields(string(raw)) {
				if pid, err := strconv.Atoi(id); err == nil && isAlive(pid) {
					alive = append(alive, filepath.Base(file)+":"+id)
				}
			}
		}
		if alive == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return alive
}

func isAlive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// H14, with processes: a slow first modifier, a silent second, a fast third that
// sees what the first did.
func TestModifiersAsProcesses(t *testing.T) {
	s := newScripts(t)
	e := s.executor(schema.HookSettings{},
		s.hook("1", protocol.CanModify, 5*time.Second, `cat >/dev/null; sleep 0.1; echo '{"changes":{"args":{"a":1}}}'`),
		s.hook("2", protocol.CanModify, 5*time.Second, `cat >/dev/null`),
		s.hook("3", protocol.CanModify, 5*time.Second, `grep -q '"a":1' && echo '{"changes":{"args":{"b":2}}}'`),
	)
	for range 5 {
		o := hooktest.Fire(t, e, toolEvent(""))
		if want := `"a":1,"b":2}`; !strings.Contains(string(o.Event.Data), want) {
			t.Fatalf("final %s, runs %v", o.Event.Data, hooktest.Runs(o))
		}
	}
}

// H16: a busy machine does not turn a fast hook into a timeout. More hooks than
// places wait for their turn, and the wait is not the hook's.
func TestWaitingForAPlaceIsNoTimeout(t *testing.T) {
	s := newScripts(t)
	const limit = 2 * time.Second
	var hooks []*executor.Hook
	for i := range 8 {
		hooks = append(hooks, s.hook(fmt.Sprintf("guard%d", i), protocol.CanBlock, limit, `cat >/dev/null; sleep 0.5`))
	}
	e := s.executor(schema.HookSettings{Processes: 1, Parallel: 8}, hooks...)
	begin := time.Now()
	o := hooktest.Fire(t, e, toolEvent(""))
	if o.Refused() || len(o.Runs) != 8 {
		t.Errorf("%s by %s: %v", o.Action, o.Failure, o.Notices)
	}
	if took := time.Since(begin); took < 2*limit {
		t.Errorf("took %v: the hooks did not wait for one another, the test is void", took)
	}
}

// Slow observers leave places to the hooks that an event waits for.
func TestObserversLeavePlaces(t *testing.T) {
	s := newScripts(t)
	var hooks []*executor.Hook
	for i := range 6 {
		hooks = append(hooks, s.hook(fmt.Sprintf("slow%d", i), protocol.CanObserve, time.Minute, `exec sleep 30`))
	}
	hooks = append(hooks, s.hook("guard", protocol.CanBlock, 10*time.Second, `cat >/dev/null`))
	e := s.executor(schema.HookSettings{Processes: 4, Drain: time.Millisecond, Grace: 10 * time.Millisecond}, hooks...)
	hooktest.Fire(t, e, toolEvent("1")) // its observers take what places they may
	begin := time.Now()
	if o := hooktest.Fire(t, e, toolEvent("2")); o.Refused() || time.Since(begin) > 5*time.Second {
		t.Errorf("%s after %v", o.Action, time.Since(begin))
	}
	begin = time.Now()
	e.Close(t.Context())
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("closing took %v", took)
	}
}

// H15, H46: at the limit and at an abort the whole tree of the hook ends, and
// what was still to come is not begun.
func TestLimitAndAbortEndTheTree(t *testing.T) {
	const body = `sleep 61 & echo $$ $! >"$OUT/$(basename "$0").pid"; sleep 62; true`
	for name, tc := range map[string]struct {
		timeout time.Duration
		abort   time.Duration
	}{
		"limit": {300 * time.Millisecond, 0},
		"abort": {time.Minute, 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScripts(t)
			e := s.executor(schema.HookSettings{Grace: 100 * time.Millisecond},
				s.hook("a", protocol.CanBlock, tc.timeout, body),
				s.hook("b", protocol.CanBlock, time.Second, `touch "$OUT/started"`))
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			gaveUp := errors.New("esc")
			if tc.abort > 0 {
				time.AfterFunc(tc.abort, func() { cancel(gaveUp) })
			}
			begin := time.Now()
			o, err := e.Fire(ctx, toolEvent(""))
			if took := time.Since(begin); took > 300*time.Millisecond+250*time.Millisecond {
				t.Errorf("took %v", took)
			}
			if !o.Refused() || errors.Is(err, gaveUp) != (tc.abort > 0) {
				t.Errorf("%s, %v, %v", o.Action, err, o.Notices)
			}
			if alive := s.survivors(); alive != nil {
				t.Errorf("still alive: %v", alive)
			}
			if _, err := os.Stat(filepath.Join(s.dir, "started")); err == nil {
				t.Error("a later hook was started")
			}
		})
	}
}

// After an abort the next event works, and the same hook is not begun again
// while its old tree lives.
func TestNextEventAfterALimit(t *testing.T) {
	s := newScripts(t)
	e := s.executor(schema.HookSettings{Grace: 200 * time.Millisecond}, s.hook("a", protocol.CanBlock, 300*time.Millisecond,
		`trap '' TERM; if mkdir "$OUT/lock" 2>/dev/null; then echo $$ >"$OUT/a.pid"; while :; do sleep 0.05; done; fi
if kill -0 $(cat "$OUT/a.pid") 2>/dev/null; then touch "$OUT/together"; fi`))
	if o := hooktest.Fire(t, e, toolEvent("1")); o.Failure != protocol.FailTimeout {
		t.Errorf("%s by %s", o.Action, o.Failure)
	}
	if o := hooktest.Fire(t, e, toolEvent("2")); o.Refused() && o.Failure != protocol.FailTimeout {
		t.Errorf("the next event: %s %v", o.Action, o.Notices)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "together")); err == nil {
		t.Error("the hook ran twice at once")
	}
	if alive := s.survivors(); alive != nil {
		t.Errorf("still alive: %v", alive)
	}
}

// State, metadata and outcome reach a program on its stdin, and its answer is
// kept.
func TestStateOfAProcess(t *testing.T) {
	s := newScripts(t)
	e := s.executor(schema.HookSettings{},
		s.hook("count", protocol.CanModify, 5*time.Second,
			`n=$(sed -n 's/.*"state":\([0-9]*\),.*/\1/p'); echo "{\"state\":$((${n:-0}+1)),\"metadata\":\"m$n\"}"`),
		s.hook("look", protocol.CanBlock, 5*time.Second, `sed 's/.*"metadata"://' >>"$OUT/seen"`))
	for range 3 {
		hooktest.Fire(t, e, toolEvent(""))
	}
	seen, _ := os.ReadFile(filepath.Join(s.dir, "seen"))
	if got := strings.Fields(string(seen)); !slices.Equal(got, []string{`{"count":"m"}}`, `{"count":"m1"}}`, `{"count":"m2"}}`}) {
		t.Errorf("metadata: %q", got)
	}
}

// A host in Go may hand in data that is no JSON. No hook reads it, and a guard's
// rule decides.
func TestDataThatIsNoJSON(t *testing.T) {
	s := newScripts(t)
	e := s.executor(schema.HookSettings{},
		s.hook("guard", protocol.CanBlock, 5*time.Second, `touch "$OUT/started"; ! grep -q rm`))
	ev := toolEvent("")
	ev.Data = []byte(`{"name":"bash","args":{"command":`)
	if o := hooktest.Fire(t, e, ev); o.Action != protocol.Block || o.Failure != protocol.FailSpawn {
		t.Errorf("%s by %s", o.Action, o.Failure)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "started")); err == nil {
		t.Error("a hook was started")
	}
}

// Close waits for a program that an event is asking.
func TestCloseWaitsForProgram(t *testing.T) {
	s := newScripts(t)
	e := s.executor(schema.HookSettings{}, s.hook("slow", protocol.CanBlock, 5*time.Second, `cat >/dev/null; sleep 0.3; echo >"$OUT/done"`))
	asked, decided := make(chan struct{}), make(chan struct{})
	telling := e.WithProgress(executor.Progress{Started: func(*protocol.Event, *executor.Hook) { close(asked) }})
	go func() {
		defer close(decided)
		telling.Fire(t.Context(), toolEvent(""))
	}()
	<-asked
	time.Sleep(50 * time.Millisecond) // told just before it is asked
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "done")); err != nil {
		t.Errorf("closed before the hook had wantAnswer: %v", err)
	}
	<-decided
}

// lines counts those of a file that a hook wrote.
func (s *scripts) lines(name string) int {
	text, _ := os.ReadFile(filepath.Join(s.dir, name))
	return strings.Count(string(text), "\n")
}

// remembered is what the hooks of session s remember on disk.
func (s *scripts) remembered() (state.Snapshot, error) {
	return state.Open(filepath.Join(s.dir, "state", "sessions")).Read("s")
}

// recorded returns the events that the record of session s holds.
func (s *scripts) recorded() (events []record.Event) {
	s.t.Helper()
	for line, problem := range record.Read(filepath.Join(s.dir, "state", "records"), "s") {
		if problem != nil {
			s.t.Fatal(problem)
		}
		if line.Kind == record.KindEvent {
			var e record.Event
			if err := line.Decode(&e); err != nil {
				s.t.Fatal(err)
			}
			events = append(events, e)
		}
	}
	return events
}
