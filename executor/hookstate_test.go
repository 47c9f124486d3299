package executor

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// counts keeps the number of its calls in its state, and publishes it.
func counts(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
	n := 0
	fmt.Sscan(string(ev.State), &n)
	value := protocol.RawMessage(fmt.Sprint(n + 1))
	return protocol.Reply{State: value, Metadata: value}, nil
}

// State is for the hook itself, metadata for all later hooks, both live in files
// that another process reads.
func TestStateAndMetadata(t *testing.T) {
	for name, dir := range map[string]string{"in memory": "", "on disk": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			var saw []string
			reader := goHook("reader", protocol.CanBlock, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
				saw = append(saw, string(ev.State)+string(ev.Metadata))
				return protocol.Reply{}, nil
			})
			hooks := []GoHook{goHook("counter", protocol.CanModify, counts), reader}
			e := newExecutor(t, schema.HookSettings{}, Options{StateDir: dir}, hooks...)
			for range 3 {
				hooktest.Fire(t, e, event(""))
			}
			if diff := cmp.Diff([]string{`{"counter":1}`, `{"counter":2}`, `{"counter":3}`}, saw); diff != "" {
				t.Error(diff)
			}
			if dir == "" {
				return
			}
			another := newExecutor(t, schema.HookSettings{}, Options{StateDir: dir}, hooks...)
			hooktest.Fire(t, another, event(""))
			if saw[3] != `{"counter":4}` {
				t.Errorf("another process reads %s", saw[3])
			}
		})
	}
}

func TestWhatIsNotKept(t *testing.T) {
	large := protocol.RawMessage(`"` + strings.Repeat("x", 100) + `"`)
	audit := goHook("h", protocol.CanModify, says(protocol.Reply{Metadata: protocol.RawMessage(`1`)}))
	audit.Mode = protocol.Audit
	for name, tc := range map[string]struct {
		hook    GoHook
		session string
		warning string
	}{
		"too large":       {goHook("h", protocol.CanModify, says(protocol.Reply{State: large})), "s", "the limit is 50"},
		"metadata":        {goHook("h", protocol.CanModify, says(protocol.Reply{Metadata: large})), "s", "the limit is 20"},
		"not JSON":        {goHook("h", protocol.CanModify, says(protocol.Reply{State: protocol.RawMessage(`{"a`)})), "s", "not JSON"},
		"no session":      {goHook("h", protocol.CanModify, says(protocol.Reply{State: protocol.RawMessage(`1`)})), "", "no session"},
		"audit":           {audit, "s", "audit mode"},
		"a failing reply": {goHook("h", protocol.CanModify, says(protocol.Reply{Action: "jump", State: protocol.RawMessage(`1`)})), "s", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var warnings []string
			settings := schema.HookSettings{Limits: schema.Limits{State: 50, Metadata: 20}}
			e := newExecutor(t, settings, Options{Progress: Progress{Finished: func(_ *protocol.Event, _ *Hook, run protocol.Run) {
				mu.Lock()
				defer mu.Unlock()
				warnings = append(warnings, run.Warnings...)
			}}}, tc.hook)
			ev := event("")
			ev.Session.ID = tc.session
			hooktest.Fire(t, e, ev)
			e.Close(t.Context())
			if got := strings.Join(warnings, "; "); !strings.Contains(got, tc.warning) || (tc.warning == "") != (got == "") {
				t.Errorf("warnings %q, want %q", got, tc.warning)
			}
			snapshot, err := e.states.Read("s")
			if err != nil || string(snapshot.Metadata(nil)) != "{}" || snapshot.State(stateKey(HookOf(tc.hook))) != nil {
				t.Errorf("something was kept: %s %v", snapshot.Metadata(nil), err)
			}
		})
	}
}

// Events side by side see the same old state; the later one's write stands and
// the record says whose is lost.
func TestStateLost(t *testing.T) {
	dir := t.TempDir()
	second := make(chan struct{})
	hook := goHook("h", protocol.CanModify, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		if *ev.Seq == 1 {
			<-second
		}
		return protocol.Reply{State: protocol.RawMessage(fmt.Sprint(*ev.Seq))}, nil
	})
	e := newExecutor(t, schema.HookSettings{}, Options{StateDir: dir}, hook)
	numbered := func(n int64) protocol.Event {
		ev := event(fmt.Sprint(n))
		ev.Seq = &n
		return ev
	}
	var wg sync.WaitGroup
	began := make(chan struct{})
	e.options.Progress.Started = func(ev *protocol.Event, _ *Hook) {
		if *ev.Seq == 1 {
			close(began)
		}
	}
	wg.Go(func() { hooktest.Fire(t, e, numbered(1)) })
	<-began
	hooktest.Fire(t, e, numbered(2))
	close(second)
	wg.Wait()
	snapshot, err := e.states.Read("s")
	if got := string(snapshot.State(stateKey(HookOf(hook)))); err != nil || got != "2" {
		t.Errorf("state %s, %v", got, err)
	}
	var lost []string
	for line := range record.Read(filepath.Join(dir, "records"), "s") {
		var l record.Event
		if line.Kind == record.KindEvent && line.Decode(&l) == nil {
			for _, s := range l.StateLost {
				lost = append(lost, fmt.Sprintf("%s in %s: %s of %d", s.Hook, l.ID, s.What, *s.Seq))
			}
		}
	}
	if !slices.Equal(lost, []string{"h in 1: state of 1"}) {
		t.Errorf("recorded as lost: %q", lost)
	}
}
