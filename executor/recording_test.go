package executor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
	"github.com/hookd-dev/hookd/test/prove"
)

// lines reads a session's record, which must be whole.
func lines(t *testing.T, dir, session string) (events []record.Event, kinds []record.Kind, raw string) {
	t.Helper()
	for line, problem := range record.Read(filepath.Join(dir, "records"), session) {
		if problem != nil {
			t.Fatal(problem)
		}
		kinds = append(kinds, line.Kind)
		raw += string(line.Raw) + "\n"
		if line.Kind == record.KindEvent {
			var e record.Event
			if err := line.Decode(&e); err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
	}
	return events, kinds, raw
}

func TestRecordOfAnEvent(t *testing.T) {
	dir := t.TempDir()
	e := newExecutor(t, schema.HookSettings{Records: schema.RecordSettings{Values: schema.ValuesFull}}, Options{StateDir: dir},
		goHook("9-a", protocol.CanModify, setsArg("command", `"secret"`)),
		goHook("10-b", protocol.CanModify, setsArg("command", `"ls"`)),
		goHook("guard", protocol.CanBlock, block))
	hooktest.Fire(t, e, event("one"))
	hooktest.Fire(t, e, event("two"))
	events, kinds, raw := lines(t, dir, "s")
	if want := []record.Kind{record.KindSet, record.KindEvent, record.KindEvent}; !slices.Equal(kinds, want) {
		t.Fatalf("lines %v", kinds)
	}
	got := events[0]
	if got.ID != "one" || got.Action != protocol.Block || *got.By != "guard" || got.Tool != "bash" || got.ToolCallID != "c1" || !got.Conflict {
		t.Errorf("%+v", got)
	}
	if len(got.Changed) != 2 || got.Changed[0].By != "9-a" || string(got.Changed[0].After.Value) != `"secret"` || got.Changed[0].Before.Bytes != 4 {
		t.Errorf("changes %+v", got.Changed)
	}
	if len(got.Runs) != 3 || got.Runs[2].Action != protocol.Block {
		t.Errorf("runs %+v", got.Runs)
	}
	for _, want := range []string{`"failure":null`, `"skipped":null`, `"signal":null`, `"exit":null`, `"seq":null`} {
		if !strings.Contains(raw, want) {
			t.Errorf("the record lacks %s", want)
		}
	}
}

// What the host cannot carry out of an outcome is in the outcome and in its record, and the
// host is asked about it once all is decided.
func TestLostIsRecorded(t *testing.T) {
	dir := t.TempDir()
	e := newExecutor(t, schema.HookSettings{}, Options{StateDir: dir}, goHook("guard", protocol.CanBlock, block))
	ev := event("one")
	ev.Lost = func(o *protocol.Outcome) []string {
		if o.Action != protocol.Block || *o.By != "guard" || len(o.Runs) != 1 {
			t.Errorf("asked about %s with %d runs", o.Action, len(o.Runs))
		}
		return []string{"guard refuses it, and the host cannot"}
	}
	outcome := hooktest.Fire(t, e, ev)
	hooktest.Fire(t, e, event("two"))
	events, _, _ := lines(t, dir, "s")
	if want := []string{"guard refuses it, and the host cannot"}; !slices.Equal(outcome.Lost, want) || !slices.Equal(events[0].Lost, want) || events[1].Lost != nil {
		t.Errorf("lost %q, recorded %q and %q", outcome.Lost, events[0].Lost, events[1].Lost)
	}
}

// Large data is hashed while its hooks are asked: as it came in, whatever they change, and
// also when the event is given up.
func TestRecordOfLargeData(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	gone := goHook("gone", protocol.CanBlock, func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
		if ev.ID == "given up" {
			cancel()
			<-ctx.Done()
		}
		return protocol.Reply{}, nil
	})
	modifier := goHook("m", protocol.CanModify, setsArg("command", `"ls"`))
	modifier.Sensitive = true
	e := newExecutor(t, schema.HookSettings{Records: schema.RecordSettings{Values: schema.ValuesFull}}, Options{StateDir: dir}, modifier, gone)
	large := func(id string) protocol.Event {
		ev := event(id)
		ev.Data = []byte(`{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"` + strings.Repeat(id, largeData) + `"},"parallel":1}`)
		return ev
	}
	hooktest.Fire(t, e, large("decided"))
	if _, err := e.Fire(ctx, large("given up")); err == nil {
		t.Error("was not given up")
	}
	events, _, _ := lines(t, dir, "s")
	for i, id := range []string{"decided", "given up"} {
		data := large(id).Data
		if got, want := events[i].Data, *record.NewDigest(data, schema.ValuesHash, true); got.Hash != want.Hash || got.Bytes != len(data) || got.Value != nil {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
	}
}

// A set is described once, when it begins to rule, whichever process writes.
func TestSetLines(t *testing.T) {
	dir := t.TempDir()
	one := newExecutor(t, schema.HookSettings{}, Options{StateDir: dir}, goHook("a", protocol.CanBlock, observe))
	same := newExecutor(t, schema.HookSettings{}, Options{StateDir: dir}, goHook("a", protocol.CanBlock, observe))
	other := newExecutor(t, schema.HookSettings{}, Options{StateDir: dir}, goHook("b", protocol.CanBlock, observe))
	for _, e := range []*Executor{one, same, one, other, one} {
		hooktest.Fire(t, e, event(""))
	}
	_, kinds, _ := lines(t, dir, "s")
	want := []record.Kind{"set", "event", "event", "event", "set", "event", "set", "event"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
}

// G19: of what a sensitive hook saw only hashes are kept.
func TestSensitive(t *testing.T) {
	dir := t.TempDir()
	hook := goHook("redact", protocol.CanModify, setsArg("command", `"canary-after"`))
	hook.Sensitive = true
	fails := goHook("fails", protocol.CanModify, func(context.Context, *protocol.Event) (protocol.Reply, error) {
		return protocol.Reply{}, errors.New("canary-detail")
	})
	fails.Sensitive = true
	e := newExecutor(t, schema.HookSettings{Records: schema.RecordSettings{Values: schema.ValuesFull}}, Options{StateDir: dir}, hook, fails)
	ev := event("")
	ev.Data = []byte(`{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"canary-before"}}`)
	hooktest.Fire(t, e, ev)
	events, _, raw := lines(t, dir, "s")
	if strings.Contains(raw, "canary") {
		t.Errorf("a secret is in the record: %s", raw)
	}
	if !strings.HasPrefix(events[0].Changed[0].After.Hash, "sha256:") {
		t.Errorf("no hash: %+v", events[0].Changed)
	}
	prove.Figure(t, "G19", "of what a sensitive hook saw, changed and failed by, only hashes are in the record")
}

func TestAbortedRecord(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	guard := goHook("g", protocol.CanBlock, func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
		cancel(errors.New("esc"))
		return after(time.Minute, block)(ctx, ev)
	})
	e := newExecutor(t, schema.HookSettings{}, Options{StateDir: dir}, goHook("m", protocol.CanModify, says(protocol.Reply{State: []byte(`1`)})), guard)
	if _, err := e.Fire(ctx, event("")); err == nil {
		t.Fatal("no error")
	}
	events, _, _ := lines(t, dir, "s")
	if len(events) != 1 || events[0].Aborted != "esc" || events[0].Runs[1].Failure != protocol.FailAborted {
		t.Errorf("%+v", events)
	}
	if snapshot, _ := e.states.Read("s"); snapshot.State(stateKey(HookOf(goHook("m", protocol.CanModify, nil)))) != nil {
		t.Error("an aborted event left state behind")
	}
}

// A state folder that cannot be written changes no decision, and the person is
// told once.
func TestUnwritableState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := StaticSet(goHook("m", protocol.CanModify, counts), goHook("g", protocol.CanBlock, block))
	if err != nil {
		t.Fatal(err)
	}
	e := New(set, Options{StateDir: dir})
	told := 0
	for range 5 {
		o := hooktest.Fire(t, e, event(""))
		if o.Action != protocol.Block {
			t.Errorf("the decision is %s", o.Action)
		}
		told += len(o.Notices)
	}
	if told != 2 { // records and state, once each
		t.Errorf("the person was told %d times", told)
	}
	if err := e.Close(t.Context()); err == nil {
		t.Error("Close keeps quiet about what was never written")
	}
}

func TestExplain(t *testing.T) {
	other := goHook("1", protocol.CanBlock, block)
	other.Match.Tool = []string{"edit"}
	e := newExecutor(t, schema.HookSettings{Parallel: 2}, Options{Explain: true},
		goHook("0", protocol.CanBlock, observe), other, goHook("2", protocol.CanBlock, observe))
	if diff := cmp.Diff([]string{"0:observe", "1:no-match", "2:observe"}, hooktest.Runs(hooktest.Fire(t, e, event("")))); diff != "" {
		t.Error(diff)
	}
}

// A condition that cannot be evaluated counts as a match and is reported once.
func TestConditionFails(t *testing.T) {
	hook := goHook("g", protocol.CanBlock, observe)
	hook.Match.When = `data.args.missing.deeper == 1`
	e := newExecutor(t, schema.HookSettings{}, Options{}, hook)
	warned := 0
	for range 3 {
		o := hooktest.Fire(t, e, event(""))
		if len(o.Runs) != 1 {
			t.Fatal("the guard was not asked")
		}
		warned += len(o.Runs[0].Warnings)
	}
	if warned != 1 {
		t.Errorf("reported %d times", warned)
	}
}

// An allow of a lower layer does not grant what a higher layer asked.
func TestAskedByAHook(t *testing.T) {
	allow := GoHook{
		Name: "allow", Layer: protocol.Project, Can: protocol.CanBlock, Func: says(protocol.Reply{Action: protocol.Allow}),
		Events: []protocol.EventName{protocol.PermissionRequest},
	}
	asker := GoHook{Name: "asker", Layer: protocol.Managed, Can: protocol.CanBlock, Func: observe, Events: []protocol.EventName{protocol.ToolCallStart}}
	e := newExecutor(t, schema.HookSettings{}, Options{}, allow, asker)
	for askedBy, want := range map[string]protocol.Action{
		"policy": protocol.Observe, "hook:asker": protocol.Observe, "hook:allow": protocol.Allow, "hook:nobody": protocol.Observe,
	} {
		ev := protocol.Event{Event: protocol.PermissionRequest, Data: []byte(`{"toolCallId":"c","name":"bash","kind":"shell","args":{},"askedBy":"` + askedBy + `","options":[]}`)}
		if o := hooktest.Fire(t, e, ev); o.Action != want {
			t.Errorf("asked by %s: %s, want %s", askedBy, o.Action, want)
		}
	}
}

func BenchmarkFire(b *testing.B) {
	for _, n := range []int{0, 100, 1000} {
		b.Run(map[int]string{0: "no hooks", 100: "100 that do not match", 1000: "1000 that do not match"}[n], func(b *testing.B) {
			var hooks []GoHook
			for i := range n {
				hook := goHook(strings.Repeat("x", i+1), protocol.CanBlock, observe)
				hook.Match.Tool = []string{"edit"}
				hooks = append(hooks, hook)
			}
			benchmarkFire(b, Options{}, hooks...)
		})
	}
	b.Run("no hooks, recorded", func(b *testing.B) { benchmarkFire(b, Options{StateDir: b.TempDir()}) })
	b.Run("one Go hook", func(b *testing.B) { benchmarkFire(b, Options{}, goHook("a", protocol.CanBlock, observe)) })
}

func benchmarkFire(b *testing.B, options Options, hooks ...GoHook) {
	e := newExecutor(b, schema.HookSettings{}, options, hooks...)
	ev := event("")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Fire(context.Background(), ev); err != nil {
			b.Fatal(err)
		}
	}
}

// encoders is an asker of the kind that reads the encoded event.
type encoders struct{ bytes int }

func (*encoders) Info() AskerInfo { return AskerInfo{} }

func (a *encoders) Ask(_ context.Context, q *Question) protocol.Answer {
	for _, piece := range q.Payload {
		a.bytes += len(piece)
	}
	return protocol.Answer{ReadResult: protocol.ReadResult{Reply: &protocol.Reply{}}}
}

// The event is encoded once for all hooks that read the same version of it.
func BenchmarkEncodeShared(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(map[int]string{1: "1 hook", 10: "10 hooks"}[n], func(b *testing.B) {
			var hooks []*Hook
			for range n {
				h := HookOf(goHook("a", protocol.CanBlock, observe))
				h.Asker = &encoders{}
				hooks = append(hooks, h)
			}
			set, _ := NewSet(Set{Hooks: hooks})
			e := New(set, Options{})
			defer e.Close(context.Background())
			ev := event("")
			ev.Data = []byte(`{"toolCallId":"c","name":"bash","kind":"shell","args":{"command":"` + strings.Repeat("x", 1<<20) + `"}}`)
			for b.Loop() {
				if _, err := e.Fire(context.Background(), ev); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
