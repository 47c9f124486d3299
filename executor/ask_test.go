package executor

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
	"github.com/hookd-dev/hookd/test/prove"
)

// hangs ignores its context for a time, as no well-behaved hook does.
func hangs(d time.Duration) answerFunc {
	return func(context.Context, *protocol.Event) (protocol.Reply, error) {
		time.Sleep(d)
		return protocol.Reply{Action: protocol.Block, Reason: "late"}, nil
	}
}

// G1: the outcome stands at most 250 ms after the limit, whatever the hook does,
// and its failure names the limit.
func TestLimits(t *testing.T) {
	const second = time.Second
	guard := func(name string, timeout time.Duration, f answerFunc) GoHook {
		g := goHook(name, protocol.CanBlock, f)
		g.Timeout = timeout
		return g
	}
	for name, tc := range map[string]struct {
		settings schema.HookSettings
		hooks    []GoHook
		limit    time.Duration
		runs     []string
		detail   string
	}{
		"slow hook":       {schema.HookSettings{}, []GoHook{guard("a", 2*second, after(10*second, observe))}, 2 * second, []string{"a:timeout"}, "timed out after 2s"},
		"hook that hangs": {schema.HookSettings{}, []GoHook{guard("a", 2*second, hangs(10*second))}, 2 * second, []string{"a:timeout"}, "timed out after 2s"},
		"budget": {
			schema.HookSettings{Budget: 5 * second}, []GoHook{
				guard("a", 3*second, after(2*second, observe)), guard("b", 3*second, after(2*second, observe)), guard("c", 3*second, after(2*second, observe)), guard("d", 3*second, observe),
			}, 5 * second, []string{"a:observe", "b:observe", "c:budget", "d:after-block"}, "budget of 5s",
		},
		"budget, side by side": {
			schema.HookSettings{Budget: 3 * second, Parallel: 4}, []GoHook{
				guard("a", 10*second, after(2*second, observe)), guard("b", 10*second, hangs(8*second)), guard("c", 10*second, after(second, observe)),
			}, 3 * second, []string{"a:observe", "b:budget", "c:after-block"}, "budget of 3s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newExecutor(t, tc.settings, Options{}, tc.hooks...)
				begin := time.Now()
				o := hooktest.Fire(t, e, *toolEvent("bash", "shell"))
				if late := time.Since(begin) - tc.limit; late < 0 || late > 250*time.Millisecond {
					t.Errorf("%v after the limit", late)
				}
				if diff := cmp.Diff(tc.runs, hooktest.Runs(o)); diff != "" {
					t.Error(diff)
				}
				if !o.Refused() || len(o.Notices) == 0 || !strings.Contains(o.Notices[0].Text, tc.detail) || strings.Contains(o.Reason, tc.detail) {
					t.Errorf("%s, reason %q, notices %v", o.Action, o.Reason, o.Notices)
				}
				time.Sleep(time.Minute) // what hangs ends before the bubble does
			})
		})
	}
	prove.Figure(t, "G1", "limits and budgets of Go hooks by a clock of its own: 0 ms late")
}

// A hook that has not ended when its limit was reached is not begun again before
// it has; the wait counts against the budget only.
func TestOverdueHookIsNotBegunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		g := goHook("a", protocol.CanBlock, func(context.Context, *protocol.Event) (protocol.Reply, error) {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(3 * time.Second)
			running.Add(-1)
			return protocol.Reply{}, nil
		})
		g.Timeout = time.Second
		e := newExecutor(t, schema.HookSettings{Budget: 2500 * time.Millisecond}, Options{}, g)
		begin := time.Now()
		for range 3 {
			if o := hooktest.Fire(t, e, *toolEvent("bash", "shell")); !o.Refused() {
				t.Error("a hook without an answer let an event pass")
			}
		}
		if most.Load() != 1 {
			t.Errorf("%d at once", most.Load())
		}
		if took := time.Since(begin); took > 3*2750*time.Millisecond {
			t.Errorf("took %v", took)
		}
		time.Sleep(time.Minute)
	})
}

// H46, G10: an abort gives control back at once, starts no later hook, and no
// late answer has any effect.
func TestAbort(t *testing.T) {
	for name, slow := range map[string]answerFunc{
		"a hook that ends":  after(time.Minute, block),
		"a hook that hangs": hangs(time.Minute),
	} {
		for _, parallel := range []int{1, 3} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					later := false
					observed := goHook("o", protocol.CanObserve, func(context.Context, *protocol.Event) (protocol.Reply, error) {
						later = true
						return protocol.Reply{}, nil
					})
					last := goHook("z", protocol.CanBlock, observed.Func)
					last.Priority = -1
					guard := goHook("a", protocol.CanBlock, slow)
					guard.Timeout = time.Hour
					hooks := []GoHook{goHook("m", protocol.CanModify, setsArg("x", "1")), guard, last, observed}
					if parallel > 1 { // neighbours begin together; the one after them must not begin
						for _, name := range []string{"b", "c"} {
							guard.Name = name
							hooks = append(hooks, guard)
						}
					}
					e := newExecutor(t, schema.HookSettings{Budget: time.Hour, Parallel: parallel}, Options{}, hooks...)
					gaveUp := errors.New("the person pressed Esc")
					ctx, cancel := context.WithCancelCause(t.Context())
					time.AfterFunc(200*time.Millisecond, func() { cancel(gaveUp) })
					begin := time.Now()
					o, err := e.Fire(ctx, *toolEvent("bash", "shell"))
					if took := time.Since(begin); took > 450*time.Millisecond {
						t.Errorf("took %v", took)
					}
					if !errors.Is(err, gaveUp) || !o.Refused() {
						t.Errorf("error %v, outcome %s", err, o.Action)
					}
					time.Sleep(2 * time.Minute)
					if later {
						t.Error("a later hook was started")
					}
				})
			})
		}
	}
}

// The next event works after an abort, and an event whose caller is gone already
// asks nobody.
func TestAbortedBefore(t *testing.T) {
	asked := 0
	e := newExecutor(t, schema.HookSettings{}, Options{}, goHook("a", protocol.CanBlock, func(context.Context, *protocol.Event) (protocol.Reply, error) {
		asked++
		return protocol.Reply{}, nil
	}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if o, err := e.Fire(ctx, *toolEvent("bash", "shell")); !errors.Is(err, context.Canceled) || !o.Refused() || asked != 0 {
		t.Errorf("%v, %s, asked %d", err, o.Action, asked)
	}
	if o := hooktest.Fire(t, e, *toolEvent("bash", "shell")); o.Refused() || asked != 1 {
		t.Errorf("%s, asked %d", o.Action, asked)
	}
}

// Gates are refused, and nothing is started, where no hook can be asked.
func TestRefusingSets(t *testing.T) {
	started := false
	hook := goHook("m", protocol.CanModify, func(context.Context, *protocol.Event) (protocol.Reply, error) {
		started = true
		return protocol.Reply{}, nil
	})
	hook.Events = []protocol.EventName{protocol.ToolCallStart, protocol.StepStop, protocol.AgentStop}
	point := protocol.Event{Event: protocol.StepStop, Data: []byte(`{"messages":[],"type":"tools","calls":[],"durationMs":1}`)}
	stop := protocol.Event{Event: protocol.AgentStop, Data: []byte(`{"reason":"done","response":"","messages":[],"continued":0,"continuedTotal":0}`)}
	unreadable := &protocol.Failure{Kind: protocol.FailSettings, Detail: "half a file"}
	for name, tc := range map[string]struct {
		refuse *protocol.Failure
		depth  int
		event  protocol.Event
		want   protocol.Action
		kind   protocol.FailureKind
		starts bool
	}{
		"settings, gate":       {unreadable, 0, *toolEvent("bash", "shell"), protocol.Block, protocol.FailSettings, false},
		"settings, agent-stop": {unreadable, 0, stop, protocol.Stop, protocol.FailSettings, false},
		"settings, point":      {unreadable, 0, point, protocol.Observe, "", true},
		"depth, gate":          {nil, 2, *toolEvent("bash", "shell"), protocol.Block, protocol.FailDepth, false},
		"depth, far deeper":    {nil, 99, *toolEvent("bash", "shell"), protocol.Block, protocol.FailDepth, false},
		"depth, point":         {nil, 2, point, protocol.Observe, "", false},
		"allowed depth":        {nil, 1, *toolEvent("bash", "shell"), protocol.Observe, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			started = false
			set, errs := NewSet(Set{Hooks: []*Hook{HookOf(hook)}, Refuse: tc.refuse})
			if errs != nil {
				t.Fatal(errs)
			}
			e := New(set, Options{Depth: tc.depth})
			defer e.Close(t.Context())
			o := hooktest.Fire(t, e, tc.event)
			if o.Action != tc.want || o.Failure != tc.kind || started != tc.starts {
				t.Errorf("%s by %s, hook started %v; want %s by %s, %v", o.Action, o.Failure, started, tc.want, tc.kind, tc.starts)
			}
		})
	}
	e := New(noSet{}, Options{})
	defer e.Close(t.Context())
	if o := hooktest.Fire(t, e, *toolEvent("bash", "shell")); o.Failure != protocol.FailSettings || !o.Refused() {
		t.Errorf("without any set: %s by %s", o.Action, o.Failure)
	}
}

type noSet struct{}

func (noSet) Current() *Set { return nil }

// stuck is an Asker whose start waits for ever, as for a file of a server that is
// gone.
type stuck struct{ free chan struct{} }

func (stuck) Info() AskerInfo { return AskerInfo{} }

func (s stuck) Ask(context.Context, *Question) protocol.Answer {
	<-s.free
	return failed(&protocol.Failure{Kind: protocol.FailLost})
}

// TestStuckStart: a start that waits for another machine holds up its event for the
// limit and no longer.
func TestStuckStart(t *testing.T) {
	free := make(chan struct{})
	h := HookOf(goHook("far", protocol.CanBlock, nil))
	h.Timeout, h.OnFailure, h.Asker = 100*time.Millisecond, protocol.RuleBlock, stuck{free}
	set, _ := NewSet(Set{Hooks: []*Hook{h}})
	e := New(set, Options{})
	defer e.Close(context.Background())
	defer close(free)
	began := time.Now()
	o := hooktest.Fire(t, e, event(""))
	if o.Action != protocol.Block || len(o.Runs) != 1 || o.Runs[0].Failure != protocol.FailTimeout {
		t.Errorf("%+v", o)
	}
	if took := time.Since(began); took > 350*time.Millisecond {
		t.Errorf("the event took %s", took)
	}
}

// TestNoAnswerIsAFailure: an Asker that comes back with neither a reply nor a failure
// does not let the event pass.
func TestNoAnswerIsAFailure(t *testing.T) {
	h := HookOf(goHook("guard", protocol.CanBlock, nil))
	h.OnFailure, h.Asker = protocol.RuleBlock, silent{}
	set, _ := NewSet(Set{Hooks: []*Hook{h}})
	e := New(set, Options{})
	defer e.Close(context.Background())
	if o := hooktest.Fire(t, e, event("")); o.Action != protocol.Block || o.Runs[0].Failure != protocol.FailLost {
		t.Errorf("%s, %+v", o.Action, o.Runs[0])
	}
}

type silent struct{}

func (silent) Info() AskerInfo { return AskerInfo{} }

func (silent) Ask(context.Context, *Question) protocol.Answer { return protocol.Answer{} }
