package executor

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// told is an event that tells of what has happened.
func told(name protocol.EventName, id string, due bool) protocol.Event {
	ev := protocol.Event{Event: name, ID: id, Detached: due, Data: []byte(`{}`)}
	ev.Session.ID = "s"
	return ev
}

// The host that is told to end goes on after a moment; the hooks of the events that
// it owes them are asked all the same, in the order of the events.
func TestDueEventsReachTheirHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waited, observer := &diary{}, &diary{}
		e := newExecutor(t, schema.HookSettings{}, Options{},
			anyHook("m", protocol.CanModify, waited.note(300*time.Millisecond)),
			anyHook("o", protocol.CanObserve, observer.note(300*time.Millisecond)))
		ended := errors.New("esc")
		root, end := context.WithCancelCause(t.Context())
		end(ended)
		farewell, cancel := context.WithTimeoutCause(context.WithoutCancel(root), 100*time.Millisecond, ended)
		defer cancel()
		began := time.Now()
		for i, name := range []protocol.EventName{protocol.ToolCallError, protocol.ToolCallError, protocol.AgentEnd, protocol.SessionEnd} {
			outcome, err := e.Fire(farewell, told(name, fmt.Sprint(i), true))
			if name == protocol.SessionEnd {
				if err != nil { // a notice waits for nobody
					t.Errorf("%s: %v", name, err)
				}
			} else if !errors.Is(err, ended) || !outcome.Refused() {
				t.Errorf("%s: %v, %s", name, err, outcome.Action)
			}
		}
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("the host had to wait for %s", took)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
		want := []string{"0", "1", "2", "3"}
		if diff := cmp.Diff(want, waited.entries()); diff != "" {
			t.Errorf("the hook that is waited for: %s", diff)
		}
		if diff := cmp.Diff(want, observer.entries()); diff != "" {
			t.Errorf("the observer: %s", diff)
		}
	})
}

// An abort ends the hook that is being asked. What the event tells has happened all
// the same, so the others hear of it; a gate's event has not.
func TestAbortedEventsThatTellReachObservers(t *testing.T) {
	for name, tells := range map[protocol.EventName]bool{
		protocol.ToolCallEnd: true, protocol.ToolCallError: true, protocol.StepStop: true, protocol.AgentEnd: true,
		protocol.SubagentStop: true, protocol.InferenceEnd: true,
		protocol.ToolCallStart: false, protocol.PromptSubmit: false, protocol.AgentStop: false, protocol.CompactEnd: false,
	} {
		t.Run(string(name), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ended atomic.Bool
				asked := make(chan struct{})
				next, observer := &diary{}, &diary{}
				cuts := 0
				e := newExecutor(t, schema.HookSettings{}, Options{Progress: Progress{Cut: func(*protocol.Event, *Hook) { cuts++ }}},
					anyHook("m", protocol.CanModify, func(ctx context.Context, _ *protocol.Event) (protocol.Reply, error) {
						close(asked)
						<-ctx.Done()
						ended.Store(true)
						return protocol.Reply{}, context.Cause(ctx)
					}),
					anyHook("n", protocol.CanModify, next.note(300*time.Millisecond)),
					anyHook("o", protocol.CanObserve, observer.note(0)))
				ctx, cancel := context.WithCancel(t.Context())
				go func() { <-asked; cancel() }()
				began := time.Now()
				if _, err := e.Fire(ctx, told(name, "1", false)); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				if took := time.Since(began); took > 250*time.Millisecond || !ended.Load() {
					t.Errorf("control after %s, the hook had ended: %v", took, ended.Load())
				}
				if err := e.Close(t.Context()); err != nil {
					t.Error(err)
				}
				var want []string
				if tells {
					want = []string{"1"}
				}
				if diff := cmp.Diff(want, next.entries()); diff != "" {
					t.Errorf("the next hook: %s", diff)
				}
				if diff := cmp.Diff(want, observer.entries()); diff != "" {
					t.Errorf("the observer: %s", diff)
				}
				if cuts != len(want) {
					t.Errorf("%d hooks are said to be cut off", cuts)
				}
			})
		})
	}
}

// The end of what hooks saw begin reaches them although the host has left before they are asked.
// Any other event that it did not begin to ask about does not.
func TestEndsReachTheirHooksAfterAnAbort(t *testing.T) {
	for _, due := range []bool{true, false} {
		waited, observer := &diary{}, &diary{}
		e := newExecutor(t, schema.HookSettings{}, Options{}, anyHook("m", protocol.CanModify, waited.note(0)), anyHook("o", protocol.CanObserve, observer.note(0)))
		ctx, cancel := context.WithCancel(t.Context())
		ev := told(protocol.ToolCallEnd, "1", false)
		ev.Due = due
		decide := e.Begin(ctx, ev)
		cancel()
		if o, err := decide(); due != (err == nil) && !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %s", err, o.Action)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
		var want []string
		if due {
			want = []string{"1"}
		}
		for _, d := range []*diary{waited, observer} {
			if diff := cmp.Diff(want, d.entries()); diff != "" {
				t.Errorf("due is %v: %s", due, diff)
			}
		}
	}
}

// What comes after events that still go on reaches observers after them.
func TestTheNextEventsKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		observer := &diary{}
		e := newExecutor(t, schema.HookSettings{}, Options{},
			GoHook{Name: "m", Can: protocol.CanModify, Events: []protocol.EventName{protocol.AgentEnd}, Func: after(time.Second, nothing)},
			anyHook("o", protocol.CanObserve, observer.note(0)))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		e.Fire(ctx, told(protocol.AgentEnd, "first", true))
		if _, err := e.Fire(t.Context(), told(protocol.PromptSubmit, "next", false)); err != nil {
			t.Error(err)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"first", "next"}, observer.entries()); diff != "" {
			t.Error(diff)
		}
	})
}

// anyHook is asked at every event of these tests.
func anyHook(name string, can protocol.Class, f answerFunc) GoHook {
	h := goHook(name, can, f)
	h.Events = []protocol.EventName{
		protocol.ToolCallStart, protocol.ToolCallEnd, protocol.ToolCallError, protocol.StepStop, protocol.SubagentStop, protocol.InferenceEnd,
		protocol.PromptSubmit, protocol.AgentStop, protocol.AgentEnd, protocol.CompactEnd, protocol.SessionEnd,
	}
	return h
}

func nothing(context.Context, *protocol.Event) (protocol.Reply, error) { return protocol.Reply{}, nil }

// hooks.drain bounds what is asked on nobody's account, and says who was cut.
func TestDrainBoundsWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cuts []string
		e := newExecutor(t, schema.HookSettings{Drain: time.Second}, Options{Progress: Progress{Cut: func(ev *protocol.Event, h *Hook) {
			cuts = append(cuts, h.Name+" at "+string(ev.Event))
		}}},
			anyHook("m", protocol.CanModify, after(time.Minute, nothing)),
			anyHook("o", protocol.CanObserve, after(time.Minute, nothing)))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		e.Fire(ctx, told(protocol.AgentEnd, "1", true))
		began := time.Now()
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 1500*time.Millisecond {
			t.Errorf("the end took %s", took)
		}
		if diff := cmp.Diff([]string{"m at agent-end", "o at agent-end"}, cuts); diff != "" {
			t.Error(diff)
		}
	})
}
