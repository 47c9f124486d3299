package agentloop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// abortScript has reasoning, parallel calls and a refusal on its way.
const abortScript = `
turns:
- thinking: hm
  text: first
  chunkDelay: 10ms
  chunk: 2
  toolCalls:
  - {id: c1, name: echo, args: {text: one}}
  - {id: c2, name: echo, args: {text: two}}
  - {id: c3, name: nobody, args: {}}
  - {id: c4, name: echo, args: {text: four}}
  - {id: c5, name: echo, args: {text: five}}
- text: last
`

var errAbort = errors.New("the user pressed Ctrl-C")

func newAbortLoop(t *testing.T) *fakeLoop {
	refuse := hook{on: protocol.ToolCallStart, dynamic: func(e protocol.Event) protocol.Reply {
		if callID(e) == "c2" {
			return protocol.Reply{Action: protocol.Block, Reason: "no"}
		}
		return protocol.Reply{Action: protocol.Observe}
	}}
	s := newFakeLoop(t, abortScript, []hook{refuse}, func(o *Options) { o.Limits.ToolCalls = 2 })
	s.tool.run = func(ctx context.Context, text string) (protocol.Result, error) {
		select {
		case <-time.After(time.Second):
			return protocol.Result{Content: protocol.TextContent("echo " + text)}, nil
		case <-ctx.Done():
			return protocol.Result{}, context.Cause(ctx)
		}
	}
	return s
}

func callID(e protocol.Event) string {
	return strings.Trim(string(jsonspan.Get(e.Data, "toolCallId")), `"`)
}

// TestAbortAtEachEvent aborts before the hooks of each event are asked, and
// after they have answered but before the loop hears of it (H46: between the
// hook's end and the tool's start).
func TestAbortAtEachEvent(t *testing.T) {
	total := 0
	synctest.Test(t, func(t *testing.T) {
		total = len(newAbortLoop(t).prompt(t, t.Context(), "go!").gate.fired)
	})
	if total < 25 {
		t.Fatalf("only %d events", total)
	}
	for n := 1; n <= total; n++ {
		for _, moment := range []string{"before", "after"} {
			t.Run(fmt.Sprintf("%d/%s", n, moment), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { abortAtEvent(t, n, moment) })
			})
		}
	}
}

func abortAtEvent(t *testing.T, n int, moment string) {
	s := newAbortLoop(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var at protocol.Event
	var ranBefore int
	var aborted time.Time
	abort := func(k int, e protocol.Event) {
		if k == n {
			synctest.Wait() // a call that is ready already has begun its tool
			at, ranBefore, aborted = e, len(s.tool.ran()), time.Now()
			cancel(errAbort)
		}
	}
	if moment == "before" {
		s.gate.before = func(k int, e protocol.Event) error { abort(k, e); return nil }
	} else {
		s.gate.after = abort
	}
	s.prompt(t, ctx, "go!")
	s.checkAborted(t, at.Event, aborted)
	if ran := len(s.tool.ran()); ran != ranBefore {
		t.Errorf("%s: %d tools ran after the abort", at.Event, ran-ranBefore)
	}
	for _, u := range s.updates {
		if u.Event.ID == at.ID && u.Kind == UpdateEvent {
			t.Errorf("%s: the late answer was applied and shown", at.Event)
		}
	}
}

// checkAborted asserts what every abort must leave.
func (s *fakeLoop) checkAborted(t *testing.T, at protocol.EventName, aborted time.Time) {
	t.Helper()
	if !errors.Is(s.err, errAbort) {
		t.Errorf("%s: Wait returned %v", at, s.err)
	}
	if took := time.Since(aborted); took > 250*time.Millisecond {
		t.Errorf("%s: control came back after %s", at, took)
	}
	if n := s.gate.count(protocol.AgentEnd, protocol.AgentError); n != 1 {
		t.Errorf("%s: the run ended %d times: %v", at, n, s.gate.names())
	}
	if got := s.ending(); got != "agent-end aborted" && at != protocol.AgentEnd {
		t.Errorf("%s: ended with %s", at, got)
	}
	checkEvents(t, s.gate.fired)
	for name, end := range map[protocol.EventName]protocol.EventName{
		protocol.MessageStart: protocol.MessageEnd, protocol.ThinkingStart: protocol.ThinkingEnd,
	} {
		if starts, ends := s.gate.count(name), s.gate.count(end); starts != ends {
			t.Errorf("%s: %d %s, %d %s", at, starts, name, ends, end)
		}
	}
}

// checkEvents asserts that each begun call has exactly one event after it.
func checkEvents(t *testing.T, events []protocol.Event) {
	t.Helper()
	before, after := map[string]int{}, map[string]int{}
	for _, e := range events {
		switch e.Event {
		case protocol.ToolCallStart:
			before[callID(e)]++
		case protocol.ToolCallEnd, protocol.ToolCallError:
			after[callID(e)]++
			if before[callID(e)] == 0 {
				t.Errorf("call %s ended before it began", callID(e))
			}
		}
	}
	for id, n := range before {
		if n != 1 || after[id] != 1 {
			t.Errorf("call %s: %d events before, %d after", id, n, after[id])
		}
	}
}

// TestAbortAtEachTime aborts at moments between the events: while the model
// streams and while tools run.
func TestAbortAtEachTime(t *testing.T) {
	for after := time.Duration(0); after < 4*time.Second; after += 7 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			s := newAbortLoop(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			at := time.Now().Add(after)
			timer := time.AfterFunc(after, func() { cancel(errAbort) })
			defer timer.Stop()
			s.prompt(t, ctx, "go!")
			if s.err == nil { // it was over before
				if s.ending() != done {
					t.Errorf("%s: %s", after, s.ending())
				}
				return
			}
			s.checkAborted(t, protocol.EventName(after.String()), at)
		})
	}
}

// TestAbortWhileNobodyReads asserts that a watcher who went away holds nothing
// up, and that a tool whose gate has been passed does not start any more.
func TestAbortWhileNobodyReads(t *testing.T) {
	for deltas := range 80 {
		synctest.Test(t, func(t *testing.T) {
			script := "turns:\n- text: " + strings.Repeat("x", deltas+1) + "\n  chunk: 1\n  toolCalls: [{id: c1, name: echo, args: {text: hi}}]\n- text: final\n"
			s := newFakeLoop(t, script, nil)
			s.gate.holds = false
			ctx, cancel := context.WithCancelCause(t.Context())
			run, err := s.loop.Run(ctx, "go!")
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			ran := len(s.tool.ran())
			aborted := time.Now()
			cancel(errAbort)
			err = run.Wait()
			if took := time.Since(aborted); took > 250*time.Millisecond {
				t.Errorf("%d deltas: control came back after %s", deltas, took)
			}
			if s.ending() != done && !errors.Is(err, errAbort) {
				t.Errorf("%d deltas: Wait returned %v", deltas, err)
			}
			if len(s.tool.ran()) != ran {
				t.Errorf("%d deltas: the tool ran after the abort", deltas)
			}
			checkPaired(t, s.loop.Messages())
		})
	}
}

// TestAbortWithSlowHooksAtTheEnd asserts that hooks of the last events cannot
// hold an abort up.
func TestAbortWithSlowHooksAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAbortLoop(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		s.loop.agent.session.Gate = slowGate{s.gate, ctx}
		time.AfterFunc(500*time.Millisecond, func() { cancel(errAbort) })
		aborted := time.Now().Add(500 * time.Millisecond)
		s.prompt(t, ctx, "go!")
		s.checkAborted(t, protocol.AgentEnd, aborted)
	})
}

// slowGate takes an hour for each event after ctx has ended, unless its own
// context ends.
type slowGate struct {
	*fakeGate
	ctx context.Context
}

func (g slowGate) Begin(ctx context.Context, e protocol.Event) func() (protocol.Outcome, error) {
	decide := g.fakeGate.Begin(ctx, e)
	return func() (protocol.Outcome, error) { return g.slowly(ctx, decide) }
}

func (g slowGate) slowly(ctx context.Context, decide func() (protocol.Outcome, error)) (protocol.Outcome, error) {
	outcome, err := decide()
	if g.ctx.Err() != nil {
		select {
		case <-time.After(time.Hour):
		case <-ctx.Done():
			return protocol.Outcome{}, ctx.Err()
		}
	}
	return outcome, err
}

func TestAbortWhileAPersonIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := ask()
		h.on = protocol.ToolCallStart
		s := newFakeLoop(t, twoSteps, []hook{h}, func(o *Options) { o.Approver = &fakePerson{option: "allow", wait: time.Hour} })
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(errAbort) })
		aborted := time.Now().Add(time.Minute)
		s.prompt(t, ctx, "go!")
		s.checkAborted(t, "person", aborted)
		if len(s.tool.ran()) > 0 {
			t.Error("the tool ran")
		}
	})
}

// TestANextPromptAfterAnAbort is the end of H46.
func TestANextPromptAfterAnAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAbortLoop(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(500*time.Millisecond, func() { cancel(errAbort) })
		s.prompt(t, ctx, "go!")
		s.updates = nil
		s.prompt(t, t.Context(), "and now?")
		if s.err != nil || s.ending() != done {
			t.Errorf("%s: %v", s.ending(), s.err)
		}
	})
}
