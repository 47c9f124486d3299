//go:build unix

package integration

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/prove"
)

// TestSoak is G15: the events of a session are neither lost, doubled nor
// reordered, and nothing grows with their number. Two sessions work side by
// side, with parallel tool calls, kept conversations, records and a hook that
// remembers. `make soak` runs a million events; here it is a short version.
func TestSoak(t *testing.T) {
	total := prove.Size(4_000, 1_000_000)
	if s := os.Getenv("HOOKD_SOAK"); s != "" {
		var err error
		if total, err = strconv.Atoi(s); err != nil {
			t.Fatalf("HOOKD_SOAK: %v", err)
		}
	}
	dir := t.TempDir()
	s := &soak{seen: map[string]*sequence{}, perSession: int64(total / 2)}
	settings := schema.DefaultSettings()
	settings.Hooks.Records = schema.RecordSettings{Values: schema.ValuesHash, Keep: time.Hour, MaxSize: 1 << 40}
	set, errs := executor.NewSet(executor.Set{Generation: 1, Hooks: s.hooks(), Settings: settings})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	gate := executor.New(set, executor.Options{StateDir: dir})
	began := time.Now()
	var sessions sync.WaitGroup
	for i := range 2 {
		sessions.Go(func() { s.session(t, gate, dir, fmt.Sprintf("soak-%d", i)) })
	}
	sessions.Wait()
	if err := gate.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	events := s.check(t, filepath.Join(dir, "records"))
	took := time.Since(began)
	defer prove.Figure(t, "G15", "%d events in %s, %.0f a second; heap %+d KiB, goroutines %+d, descriptors %+d between the first tenth and the end",
		events, took.Round(time.Millisecond), float64(events)/took.Seconds(),
		(s.last.heap-s.first.heap)>>10, s.last.goroutines-s.first.goroutines, s.last.descriptors-s.first.descriptors)
	if events < int64(total) {
		t.Errorf("only %d events, want %d", events, total)
	}
	const growth = 16 << 20
	if grown := s.last.heap - s.first.heap; grown > growth {
		t.Errorf("the heap grew by %d bytes, more than %d", grown, growth)
	}
	if grown := s.last.goroutines - s.first.goroutines; grown > 4 {
		t.Errorf("goroutines grew by %d", grown)
	}
	if grown := s.last.descriptors - s.first.descriptors; grown > 4 {
		t.Errorf("descriptors grew by %d", grown)
	}
}

// soak watches the events of all sessions as a hook does.
type soak struct {
	perSession  int64
	mu          sync.Mutex
	seen        map[string]*sequence
	first, last footprint
	measured    atomic.Bool
}

// sequence is the numbers of one session that were seen: all up to next, and
// those ahead of it.
type sequence struct {
	next  int64
	ahead map[int64]bool
	twice []int64
}

func (s *sequence) add(n int64) {
	if n < s.next || s.ahead[n] {
		s.twice = append(s.twice, n)
		return
	}
	s.ahead[n] = true
	for s.ahead[s.next] {
		delete(s.ahead, s.next)
		s.next++
	}
}

func newSequence() *sequence { return &sequence{next: 1, ahead: map[int64]bool{}} }

type footprint struct {
	heap                    int64
	goroutines, descriptors int
}

func measure() footprint {
	runtime.GC()
	runtime.GC() // what finalizers of the first let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f := footprint{heap: int64(m.HeapAlloc), goroutines: runtime.NumGoroutine()}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		f.descriptors = len(open)
	}
	return f
}

func (s *soak) hooks() []*executor.Hook {
	var all []protocol.EventName
	for i := range protocol.Table {
		all = append(all, protocol.Table[i].Name)
	}
	watch := protocol.GoHook{Name: "watch", Can: protocol.CanBlock, Events: all, Func: func(_ context.Context, e *protocol.Event) (protocol.Reply, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen[e.Session.ID].add(*e.Seq)
		return protocol.Reply{}, nil
	}}
	count := protocol.GoHook{Name: "count", Events: []protocol.EventName{protocol.ToolCallStart}, Func: func(_ context.Context, e *protocol.Event) (protocol.Reply, error) {
		n := 0
		if e.State != nil {
			if err := json.Unmarshal(e.State, &n); err != nil {
				return protocol.Reply{}, err
			}
		}
		return protocol.Reply{State: protocol.RawMessage(strconv.Itoa(n + 1))}, nil
	}}
	// A conversation that is kept short by a hook, so that what grows is ours.
	trim := protocol.GoHook{Name: "trim", Events: []protocol.EventName{protocol.AgentStop}, Func: func(_ context.Context, e *protocol.Event) (protocol.Reply, error) {
		var data protocol.AgentStopData
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return protocol.Reply{}, err
		}
		short := data.Messages[len(data.Messages)-1:]
		changes, err := protocol.Marshal(map[string]any{"messages": short})
		return protocol.Reply{Action: protocol.Modify, Changes: changes}, err
	}}
	return []*executor.Hook{executor.HookOf(watch), executor.HookOf(count), executor.HookOf(trim)}
}

// session works on prompts until its events are done.
func (s *soak) session(t *testing.T, gate *executor.Executor, dir, id string) {
	kept, err := store.Create(filepath.Join(dir, "conversations"), id, store.Header{})
	if err != nil {
		t.Error(err)
		return
	}
	defer kept.Close()
	s.mu.Lock()
	s.seen[id] = newSequence()
	s.mu.Unlock()
	loop, err := agentloop.New(agentloop.Options{
		Gate: gate, Model: callsThenAnswers{}, Session: kept, Tools: []tool.Tool{nothing{}},
	})
	if err != nil {
		t.Error(err)
		return
	}
	for s.numbers(id) < s.perSession {
		run, err := loop.Run(t.Context(), "go on")
		if err != nil {
			t.Error(err)
			return
		}
		last := int64(0)
		for y := range run.Events() {
			if y.Kind == agentloop.UpdateEvent && y.Event.Seq != nil {
				last = max(last, *y.Event.Seq)
			}
		}
		if err := run.Wait(); err != nil {
			t.Errorf("run ended with %v", err)
			return
		}
		if last > s.perSession/10 && s.measured.CompareAndSwap(false, true) {
			s.first = measure()
		}
	}
	s.mu.Lock()
	s.last = measure()
	s.mu.Unlock()
	if _, err := loop.Close(context.Background(), "exit"); err != nil {
		t.Error(err)
	}
}

func (s *soak) numbers(id string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[id].next - 1
}

// check reads the records again and compares them with what the hook saw. It
// returns the number of events.
func (s *soak) check(t *testing.T, records string) (events int64) {
	for id, seen := range s.seen {
		written := newSequence()
		for line, problem := range record.Read(records, id) {
			if problem != nil {
				t.Fatalf("record of %s: %v", id, problem)
			}
			if line.Kind != record.KindEvent {
				continue
			}
			var e record.Event
			if err := line.Decode(&e); err != nil {
				t.Fatal(err)
			}
			written.add(*e.Seq)
		}
		for what, q := range map[string]*sequence{"asked about": seen, "recorded": written} {
			if len(q.twice) > 0 || len(q.ahead) > 0 {
				t.Errorf("%s: of the events %s, %v came twice and %d lie behind the gap at %d", id, what, q.twice, len(q.ahead), q.next)
			}
		}
		if seen.next != written.next {
			t.Errorf("%s: %d events asked about, %d recorded", id, seen.next-1, written.next-1)
		}
		events += written.next - 1
	}
	return events
}

// callsThenAnswers is a model that asks for two tool calls and then answers.
type callsThenAnswers struct{}

func (callsThenAnswers) Name() string { return "soak" }

func (callsThenAnswers) Generate(_ context.Context, request model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		last := request.Messages[len(request.Messages)-1]
		if last.Role == protocol.RoleTool {
			_ = yield(model.Chunk{Type: model.Text, Text: "done"}, nil) && yield(model.Chunk{Type: model.Finish, Reason: "stop"}, nil)
			return
		}
		for i := range 2 {
			call := protocol.Part{Type: protocol.PartToolCall, ToolCallID: fmt.Sprintf("c%d", i), Name: "nothing", Args: protocol.RawMessage(`{}`)}
			if !yield(model.Chunk{Type: model.PartDone, Part: call}, nil) {
				return
			}
		}
		yield(model.Chunk{Type: model.Finish, Reason: "tools"}, nil)
	}
}

// nothing is a tool that does nothing.
type nothing struct{}

func (nothing) Describe() tool.Description {
	return tool.Description{Name: "nothing", Kind: protocol.KindOther}
}

func (nothing) Run(context.Context, protocol.RawMessage) (protocol.Result, error) {
	return protocol.Result{Content: protocol.TextContent("ok")}, nil
}
