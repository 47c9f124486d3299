package executor

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// noted is a Go hook that notes that it was asked, and answers.
func noted(asked *[]string, name string, can protocol.Class, reply protocol.Reply) GoHook {
	var mu sync.Mutex
	return GoHook{
		Name: name, Events: []protocol.EventName{protocol.ToolCallStart}, Can: can,
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
			mu.Lock()
			defer mu.Unlock()
			*asked = append(*asked, name)
			return reply, nil
		},
	}
}

func fireCall(t *testing.T, gate protocol.EventGate) protocol.Outcome {
	t.Helper()
	outcome, err := gate.Begin(t.Context(), protocol.Event{
		Event: protocol.ToolCallStart,
		Data:  protocol.RawMessage(`{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"ls"},"parallel":1}`),
	})()
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// Go hooks are registered by naming them: those of Static are asked, those that
// join later are asked too, in one order, and only through the gate they joined.
func TestGoHooksAreRegisteredInALine(t *testing.T) {
	var asked []string
	rename := protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"args":{"command":"ls -la"}}`)}
	static, err := Static(noted(&asked, "rename", protocol.CanModify, rename))
	if err != nil {
		t.Fatal(err)
	}
	defer static.Close(t.Context())
	if o := fireCall(t, static); o.Action != protocol.Modify || !strings.Contains(string(o.Event.Data), "ls -la") || len(asked) != 1 {
		t.Errorf("Static: %s of %v, data %s", o.Action, asked, o.Event.Data)
	}

	no := protocol.Reply{Action: protocol.Block, Reason: "not here"}
	extended, err := static.Extend(noted(&asked, "guard", protocol.CanBlock, no))
	if err != nil {
		t.Fatal(err)
	}
	further, err := extended.Extend(noted(&asked, "first", protocol.CanModify, protocol.Reply{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		gate  protocol.EventGate
		asked string
		by    string
	}{
		{static, "rename", ""},
		{extended, "rename guard", "guard"},
		{further, "first rename guard", "guard"},
	} {
		asked = nil
		o := fireCall(t, c.gate)
		if got := strings.Join(asked, " "); got != c.asked || o.Refused() != (c.by != "") || o.Refused() && *o.By != c.by {
			t.Errorf("asked %q, refused %v by %v; want %q, %q", got, o.Refused(), o.By, c.asked, c.by)
		}
	}
}

// A hook that fails, in whatever way, is reported and stops no other one.
func TestAFailingHookStopsNoOther(t *testing.T) {
	for name, fails := range map[string]func(context.Context) (protocol.Reply, error){
		"error":      func(context.Context) (protocol.Reply, error) { return protocol.Reply{}, errors.New("broken") },
		"panic":      func(context.Context) (protocol.Reply, error) { panic("broken") },
		"bad answer": func(context.Context) (protocol.Reply, error) { return protocol.Reply{Action: "maybe"}, nil },
		"endless":    func(ctx context.Context) (protocol.Reply, error) { <-ctx.Done(); return protocol.Reply{}, ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, can := range []protocol.Class{protocol.CanModify, protocol.CanBlock} {
				var asked []string
				seen := make(chan protocol.Outcome, 1)
				broken := GoHook{
					Name: "broken", Events: []protocol.EventName{protocol.ToolCallStart}, Can: can, Priority: 9,
					OnFailure: protocol.RuleContinue, Timeout: 50 * time.Millisecond,
					Func: func(ctx context.Context, _ *protocol.Event) (protocol.Reply, error) { return fails(ctx) },
				}
				watch := noted(&asked, "watch", protocol.CanObserve, protocol.Reply{})
				watch.Func = func(_ context.Context, e *protocol.Event) (protocol.Reply, error) {
					seen <- protocol.Outcome{Event: *e}
					return protocol.Reply{}, nil
				}
				change := protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"args":{"command":"ls -la"}}`)}
				e, err := Static(broken, noted(&asked, "change", protocol.CanModify, change), noted(&asked, "guard", protocol.CanBlock, protocol.Reply{}), watch)
				if err != nil {
					t.Fatal(err)
				}
				o := fireCall(t, e)
				if got := strings.Join(asked, " "); got != "change guard" || o.Action != protocol.Modify || !strings.Contains(string(o.Event.Data), "ls -la") {
					t.Errorf("%s: asked %q, %s, data %s", can, got, o.Action, o.Event.Data)
				}
				failed := false
				for _, run := range o.Runs {
					failed = failed || run.Hook == "broken" && run.Failure != ""
				}
				if !failed {
					t.Errorf("%s: nothing says that it failed: %+v", can, o.Runs)
				}
				if err := e.Close(t.Context()); err != nil {
					t.Error(err)
				}
				select {
				case o := <-seen:
					if !strings.Contains(string(o.Event.Data), "ls -la") {
						t.Errorf("the observer saw %s", o.Event.Data)
					}
				default:
					t.Errorf("%s: the observer was not asked", can)
				}
			}
		})
	}
}

// A hook that ends its goroutine, as FailNow of a test does, fails at once: nobody waits
// for its answer, neither the event nor Close.
func TestAHookThatEndsItsGoroutine(t *testing.T) {
	static, err := Static(GoHook{
		Name: "exits", Events: []protocol.EventName{protocol.ToolCallStart}, Can: protocol.CanBlock, Timeout: time.Minute,
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
			goruntime.Goexit()
			return protocol.Reply{}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if o := fireCall(t, static); !o.Refused() || o.Failure != protocol.FailExit {
		t.Errorf("%s, failure %q", o.Action, o.Failure)
	}
	if err := static.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
