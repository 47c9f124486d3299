package daemon

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// real is an engine of Go hooks, run by the real executor.
type real struct {
	*executor.Executor
	set *executor.Set
}

func openReal(hooks ...executor.GoHook) func(context.Context, string, string) (Engine, error) {
	return func(_ context.Context, project, _ string) (Engine, error) {
		set, err := executor.StaticSet(hooks...)
		if err != nil {
			return nil, err
		}
		set.Project = project
		return &real{executor.New(set, executor.Options{}), set}, nil
	}
}

func (r *real) Fire(ctx context.Context, event protocol.Event, progress Progress) (protocol.Outcome, error) {
	return r.Executor.WithProgress(executor.Progress{
		Started:  func(_ *protocol.Event, h *executor.Hook) { progress.Started(h.Name, h.Layer) },
		Finished: func(_ *protocol.Event, _ *executor.Hook, run protocol.Run) { progress.Finished(run) },
	}).Fire(ctx, event)
}

func (r *real) List() Listing                { return Describe(r.set, nil) }
func (r *real) Reload(context.Context) error { return nil }
func (r *real) Changed() <-chan struct{}     { return nil }

// The same conversation with the real executor: a modifier, a guard, an
// observer, and one that hangs until it is aborted.
func TestRealExecutor(t *testing.T) {
	calls := []protocol.EventName{protocol.ToolCallStart}
	observed := make(chan string, 10)
	begun := make(chan struct{}, 1)
	s := serve(t, Options{Open: openReal(
		executor.GoHook{Name: "flag", Events: calls, Func: func(_ context.Context, e *protocol.Event) (protocol.Reply, error) {
			command := commandOf(e.Data)
			if !strings.HasPrefix(command, "ls") {
				return protocol.Reply{}, nil
			}
			changes, err := json.Marshal(map[string]any{"args": map[string]string{"command": command + " -la"}})
			return protocol.Reply{Action: protocol.Modify, Changes: changes, Context: "flagged"}, err
		}},
		executor.GoHook{Name: "guard", Events: calls, Can: protocol.CanBlock, Func: func(ctx context.Context, e *protocol.Event) (protocol.Reply, error) {
			switch command := commandOf(e.Data); {
			case strings.HasPrefix(command, "rm"):
				return protocol.Reply{Action: protocol.Block, Reason: "not in this house"}, nil
			case command == "ask":
				return protocol.Reply{Action: protocol.Ask, Reason: "sure?"}, nil
			case command == "hang":
				begun <- struct{}{}
				<-ctx.Done()
				return protocol.Reply{}, context.Cause(ctx)
			case command == "break":
				return protocol.Reply{}, errors.New("disk full")
			}
			return protocol.Reply{}, nil
		}},
		executor.GoHook{Name: "watch", Events: calls, Can: protocol.CanObserve, Func: func(_ context.Context, e *protocol.Event) (protocol.Reply, error) {
			observed <- commandOf(e.Data) + ": " + string(e.Outcome.Action)
			return protocol.Reply{}, nil
		}},
	)}, nil)
	_ = s.stdio.send(openLine(1, "a"))
	s.stdio.answer(t, "1")
	fire := func(id, command string) (out protocol.Outcome) {
		t.Helper()
		_ = s.stdio.send(strings.Replace(fireLine(0, "a", "c1", command), `"id":0`, `"id":`+id, 1))
		r := s.stdio.answer(t, id)
		if r.Error != nil {
			t.Fatal(r.Error)
		}
		if err := json.Unmarshal(r.Result, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := fire("2", "ls"); out.Action != protocol.Modify || commandOf(out.Event.Data) != "ls -la" || len(out.Context) != 1 || *out.Event.Seq != 1 {
		t.Errorf("ls: %+v", out)
	}
	if out := fire("3", "rm -rf /"); out.Action != protocol.Block || out.Reason != "not in this house" || *out.By != "guard" {
		t.Errorf("rm: %+v", out)
	}
	if out := fire("4", "ask"); out.Action != protocol.Block || len(out.Notices) == 0 {
		t.Errorf("ask of a host that cannot: %+v", out)
	}
	if out := fire("5", "break"); out.Action != protocol.Block || out.Failure != protocol.FailExit {
		t.Errorf("broken guard: %+v", out)
	}
	_ = s.stdio.send(fireLine(6, "a", "c1", "hang"))
	<-begun
	began := time.Now()
	_ = s.stdio.send(cancelLine(6))
	if r := s.stdio.answer(t, "6"); r.code() != rpc.Cancelled || time.Since(began) > time.Second {
		t.Errorf("hang: %v after %v", r.Error, time.Since(began))
	}
	fire("7", "echo")
	_ = s.stdio.send(`{"jsonrpc":"2.0","id":8,"method":"shutdown"}`)
	s.stdio.answer(t, "8")
	s.end(5 * time.Second)
	close(observed)
	var seen []string
	for o := range observed {
		seen = append(seen, o)
	}
	want := "ls -la: modify, rm -rf /: block, ask: ask, break: block, echo: observe"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("observed %s, want %s", got, want)
	}
}
