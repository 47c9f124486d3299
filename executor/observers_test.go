package executor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
	"github.com/hookd-dev/hookd/test/prove"
)

// diary notes the events that a hook was asked about.
type diary struct {
	mu   sync.Mutex
	seen []string
	with []protocol.OutcomeSoFar
}

func (d *diary) note(delay time.Duration) answerFunc {
	return after(delay, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.seen = append(d.seen, ev.ID)
		d.with = append(d.with, ev.Outcome)
		return protocol.Reply{Notice: "seen"}, nil
	})
}

func (d *diary) entries() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.seen)
}

func event(id string) protocol.Event {
	ev := *toolEvent("bash", "shell")
	ev.ID, ev.Session.ID = id, "s"
	return ev
}

// Observers never delay an event, get the final one with its outcome, and one
// observer of one session is asked in order.
func TestObserversInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, fast := &diary{}, &diary{}
		e := newExecutor(t, schema.HookSettings{}, Options{},
			goHook("m", protocol.CanModify, setsArg("x", "1")),
			goHook("slow", protocol.CanObserve, slow.note(time.Second)),
			goHook("fast", protocol.CanObserve, fast.note(0)))
		var want []string
		begin := time.Now()
		for i := range 10 {
			id := fmt.Sprint(i)
			want = append(want, id)
			if o := hooktest.Fire(t, e, event(id)); len(o.Runs) != 1 {
				t.Errorf("runs of a queued observer in the outcome: %v", hooktest.Runs(o))
			}
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("observers delayed the events by %v", took)
		}
		synctest.Wait()
		if len(fast.entries()) != 10 || len(slow.entries()) != 0 {
			t.Errorf("one observer waits for another: %v, %v", fast.entries(), slow.entries())
		}
		time.Sleep(time.Minute)
		for _, d := range []*diary{slow, fast} {
			d.mu.Lock() // for the race detector; nobody writes any more
			with := d.with[0]
			d.mu.Unlock()
			if diff := cmp.Diff(want, d.entries()); diff != "" {
				t.Error(diff)
			}
			if s := with; s.Action != protocol.Modify || *s.By != "m" || !slices.Equal(s.Changed, []string{"/args/x"}) {
				t.Errorf("an observer read the outcome %+v", s)
			}
		}
	})
}

// The queue is bounded, and what it does not take is counted and recorded.
func TestObserverDrops(t *testing.T) {
	d := &diary{}
	dir := t.TempDir()
	gate := make(chan struct{})
	e := newExecutor(t, schema.HookSettings{ObserverQueue: 3}, Options{StateDir: dir},
		goHook("o", protocol.CanObserve, func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
			<-gate
			return d.note(0)(ctx, ev)
		}))
	dropped := 0
	hooktest.Fire(t, e, event("first"))
	for len(pending(e)) > 0 { // until the worker holds the first one
		time.Sleep(time.Millisecond)
	}
	for i := range 10 {
		o := hooktest.Fire(t, e, event(fmt.Sprint(i)))
		if slices.Equal(hooktest.Runs(o), []string{"o:dropped"}) {
			dropped++
		}
	}
	close(gate)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"first", "0", "1", "2"}, d.entries()); diff != "" || dropped != 7 {
		t.Errorf("%d dropped, %s", dropped, diff)
	}
	var recorded int64
	events, late := 0, 0
	for line, problem := range record.Read(dir+"/records", "s") {
		if problem != nil {
			t.Error(problem)
		}
		switch line.Kind {
		case record.KindEvent:
			events++
		case record.KindLate:
			var l record.Late
			if err := line.Decode(&l); err != nil {
				t.Fatal(err)
			}
			late++
			recorded += l.Dropped
		}
	}
	if events != 11 || late != 4 || recorded != 7 {
		t.Errorf("recorded: %d events, %d late, %d drops", events, late, recorded)
	}
}

func pending(e *Executor) []*job {
	e.observers.mu.Lock()
	defer e.observers.mu.Unlock()
	for _, q := range e.observers.queues {
		return q.jobs
	}
	return nil
}

// Close waits for observers as long as the drain time allows, ends the one that
// runs and records the others as dropped.
func TestDrain(t *testing.T) {
	for name, tc := range map[string]struct {
		drain time.Duration
		seen  int
		took  time.Duration
	}{
		"all of them":     {time.Minute, 5, 5 * time.Second},
		"as far as it is": {2500 * time.Millisecond, 2, 2500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &diary{}
				e := newExecutor(t, schema.HookSettings{Drain: tc.drain}, Options{}, goHook("o", protocol.CanObserve, d.note(time.Second)))
				for i := range 5 {
					hooktest.Fire(t, e, event(fmt.Sprint(i)))
				}
				begin := time.Now()
				if err := e.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begin); took != tc.took || len(d.entries()) != tc.seen {
					t.Errorf("closed after %v with %d of 5", took, len(d.entries()))
				}
			})
		})
	}
}

// Nobody waits for the hooks of a notice, whatever their class.
func TestNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		var mu sync.Mutex
		hook := func(name string, can protocol.Class, f answerFunc) GoHook {
			g := goHook(name, can, f)
			g.Events = []protocol.EventName{protocol.Notification}
			return g
		}
		e := newExecutor(t, schema.HookSettings{}, Options{Progress: Progress{
			Notice: func(_ *protocol.Event, n protocol.HookText) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, n.Hook)
			},
		}}, hook("m", protocol.CanModify, after(time.Second, says(protocol.Reply{Notice: "hi"}))), hook("b", protocol.CanBlock, hangs(time.Hour)), hook("o", protocol.CanObserve, observe))
		begin := time.Now()
		o := hooktest.Fire(t, e, protocol.Event{Event: protocol.Notification, Data: []byte(`{"kind":"info","text":"hi"}`)})
		if time.Since(begin) != 0 || o.Action != protocol.Observe || len(o.Runs) != 0 {
			t.Errorf("after %v: %s %v", time.Since(begin), o.Action, hooktest.Runs(o))
		}
		time.Sleep(2 * time.Hour)
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(told)
		if !slices.Equal(told, []string{"b", "m"}) { // a failure and a notice
			t.Errorf("the person was told by %v", told)
		}
	})
}

// An audit hook runs like an observer: nothing waits for it, its verdict is
// recorded as would.
func TestAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs []string
		var mu sync.Mutex
		guard := goHook("g", protocol.CanBlock, after(time.Second, block))
		guard.Mode = protocol.Audit
		e := newExecutor(t, schema.HookSettings{}, Options{Progress: Progress{
			Finished: func(_ *protocol.Event, h *Hook, run protocol.Run) {
				mu.Lock()
				defer mu.Unlock()
				runs = append(runs, h.Name+":"+string(run.Would)+string(run.Action))
			},
		}}, guard, goHook("m", protocol.CanModify, observe))
		begin := time.Now()
		if o := hooktest.Fire(t, e, event("1")); o.Refused() || time.Since(begin) != 0 {
			t.Errorf("%s after %v", o.Action, time.Since(begin))
		}
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff([]string{"m:observe", "g:block"}, runs); diff != "" {
			t.Error(diff)
		}
	})
}

// G13: a required hook really answered, or the event does not pass.
func TestRequiredObserver(t *testing.T) {
	sabotage := map[string]answerFunc{
		"panics": func(context.Context, *protocol.Event) (protocol.Reply, error) { panic("x") },
		"hangs":  hangs(time.Hour),
		"fails": func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{}, fmt.Errorf("x")
		},
		"allows":      says(protocol.Reply{Action: protocol.Modify}),
		"speaks":      says(protocol.Reply{Context: "x"}),
		"nonsense":    says(protocol.Reply{Action: "alow"}),
		"bad changes": says(protocol.Reply{Changes: []byte(`{"args`)}),
	}
	for name, f := range sabotage {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := goHook("o", protocol.CanObserve, f)
				g.Required, g.Timeout = true, time.Second
				e := newExecutor(t, schema.HookSettings{}, Options{}, g)
				if o := hooktest.Fire(t, e, event("1")); !o.Refused() || o.Failure == "" {
					t.Errorf("%s, %v", o.Action, hooktest.Runs(o))
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
	g := goHook("o", protocol.CanObserve, says(protocol.Reply{Action: protocol.Observe, Notice: "fine"}))
	g.Required = true
	if o := hooktest.Fire(t, newExecutor(t, schema.HookSettings{}, Options{}, g), event("1")); o.Refused() || len(o.Notices) != 1 {
		t.Errorf("a required observer that answered: %s, %v", o.Action, o.Notices)
	}
	prove.Figure(t, "G13", "%d ways of a required observer in Go not to answer: 0 passes", len(sabotage))
}
