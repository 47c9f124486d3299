package gohooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

const callData = `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"ls"},"parallel":1}`

// fire decides a tool-call-start with the gate of some hooks.
func fire(ctx context.Context, t *testing.T, e protocol.Event, hooks ...protocol.GoHook) (protocol.Outcome, error) {
	t.Helper()
	gate, err := new(Gate).Extend(hooks...)
	if err != nil {
		t.Fatal(err)
	}
	e.Event, e.Data = protocol.ToolCallStart, protocol.RawMessage(callData)
	return gate.Begin(ctx, e)()
}

// asked is a hook that notes its name and answers.
func asked(names *[]string, name string, can protocol.Class, reply protocol.Reply, err error) protocol.GoHook {
	var mu sync.Mutex
	return protocol.GoHook{Name: name, Can: can, Events: []protocol.EventName{protocol.ToolCallStart},
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
			mu.Lock()
			defer mu.Unlock()
			*names = append(*names, name)
			return reply, err
		}}
}

func TestHooksAreAskedInRunningOrder(t *testing.T) {
	var names []string
	no := protocol.Reply{Action: protocol.Block, Reason: "no"}
	change := protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"args":{"command":"ls -la"}}`)}
	outcome, err := fire(t.Context(), t, protocol.Event{},
		asked(&names, "watch", protocol.CanObserve, protocol.Reply{}, nil),
		asked(&names, "guard", protocol.CanBlock, no, nil),
		asked(&names, "second guard", protocol.CanBlock, protocol.Reply{}, nil),
		asked(&names, "change", protocol.CanModify, change, nil))
	if err != nil || outcome.Action != protocol.Block || *outcome.By != "guard" {
		t.Errorf("%s, %v", outcome.Action, err)
	}
	if got := strings.Join(names, ", "); got != "change, guard, watch" {
		t.Errorf("asked %s", got)
	}
	if outcome, _ := fire(t.Context(), t, protocol.Event{}, asked(&names, "change", "", change, nil)); !strings.Contains(string(outcome.Event.Data), "ls -la") {
		t.Errorf("decided %s", outcome.Event.Data)
	}
}

func TestAFailureFollowsItsRule(t *testing.T) {
	for name, c := range map[string]struct {
		function func(context.Context, *protocol.Event) (protocol.Reply, error)
		kind     protocol.FailureKind
	}{
		"an error": {func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{}, errors.New("broken")
		}, protocol.FailExit},
		"a panic": {func(context.Context, *protocol.Event) (protocol.Reply, error) { panic("broken") }, protocol.FailExit},
		"no end": {func(ctx context.Context, _ *protocol.Event) (protocol.Reply, error) {
			<-ctx.Done()
			return protocol.Reply{}, ctx.Err()
		}, protocol.FailTimeout},
		"metadata": {func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{Metadata: protocol.RawMessage(`1`)}, nil
		}, protocol.FailReply},
		"its own kind": {func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{}, &protocol.Failure{Kind: protocol.FailGone}
		}, protocol.FailGone},
		"a wrong reply": {func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{Action: "maybe"}, nil
		}, protocol.FailReply},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hook := protocol.GoHook{Name: "h", Can: protocol.CanBlock, Events: []protocol.EventName{protocol.ToolCallStart}, Func: c.function}
				outcome, err := fire(t.Context(), t, protocol.Event{}, hook)
				if err != nil || outcome.Action != protocol.Block || outcome.Failure != c.kind {
					t.Errorf("a guard's failure: %s, %s, %v", outcome.Action, outcome.Failure, err)
				}
				hook.OnFailure = protocol.RuleContinue
				if outcome, err := fire(t.Context(), t, protocol.Event{}, hook); err != nil || outcome.Refused() {
					t.Errorf("under the rule continue: %s, %v", outcome.Action, err)
				}
			})
		})
	}
}

// A caller who gives up does not wait for the hooks, but they hear of an event that is due.
func TestAnAbortIsAtOnce(t *testing.T) {
	for _, due := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var heard atomic.Bool
			slow := protocol.GoHook{Name: "h", Events: []protocol.EventName{protocol.ToolCallStart}, Func: func(ctx context.Context, _ *protocol.Event) (protocol.Reply, error) {
				select {
				case <-time.After(10 * time.Second):
					heard.Store(true)
				case <-ctx.Done():
				}
				return protocol.Reply{}, nil
			}}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			outcome, err := fire(ctx, t, protocol.Event{Detached: due}, slow)
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || !outcome.Refused() || took != time.Second {
				t.Errorf("due %t: %v, %s after %s", due, err, outcome.Action, took)
			}
			time.Sleep(time.Minute)
			if heard.Load() != due {
				t.Errorf("due %t: heard to the end: %t", due, heard.Load())
			}
		})
	}
}

func TestMatches(t *testing.T) {
	for name, c := range map[string]struct {
		match protocol.Match
		sub   bool
		want  bool
	}{
		"everything":     {protocol.Match{}, false, true},
		"the tool":       {protocol.Match{Tool: []string{"write", "bash"}}, false, true},
		"another tool":   {protocol.Match{Tool: []string{"write"}}, false, false},
		"no meaning":     {protocol.Match{Source: []string{"user"}, Step: "final"}, false, true},
		"main agent":     {protocol.Match{Agent: "main"}, false, true},
		"a sub-agent is": {protocol.Match{Agent: "sub"}, true, true},
		"not a main one": {protocol.Match{Agent: "main"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			hook := asked(&names, "h", protocol.CanBlock, protocol.Reply{}, nil)
			hook.Match = c.match
			e := protocol.Event{}
			if parent := "main"; c.sub {
				e.Agent.Parent = &parent
			}
			if _, err := fire(t.Context(), t, e, hook); err != nil || len(names) == 1 != c.want {
				t.Errorf("asked %v, %v", names, err)
			}
		})
	}
}

func TestHooksThatNeedMore(t *testing.T) {
	var names []string
	for name, change := range map[string]func(*protocol.GoHook){
		"a glob":           func(h *protocol.GoHook) { h.Match.Tool = []string{"todo_*"} },
		"a kind":           func(h *protocol.GoHook) { h.Match.Tool = []string{"@shell"} },
		"an expression":    func(h *protocol.GoHook) { h.Match.When = "turn > 1" },
		"no name":          func(h *protocol.GoHook) { h.Name = "" },
		"no function":      func(h *protocol.GoHook) { h.Func = nil },
		"an unknown event": func(h *protocol.GoHook) { h.Events = []protocol.EventName{"tool-start"} },
	} {
		hook := asked(&names, "h", "", protocol.Reply{}, nil)
		change(&hook)
		if _, err := new(Gate).Extend(hook); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestMayChange(t *testing.T) {
	var names []string
	hook := func(change func(*protocol.GoHook)) protocol.GoHook {
		h := asked(&names, "h", "", protocol.Reply{}, nil)
		change(&h)
		return h
	}
	for name, c := range map[string]struct {
		hook protocol.GoHook
		want bool
	}{
		"may modify":  {hook(func(*protocol.GoHook) {}), true},
		"observes":    {hook(func(h *protocol.GoHook) { h.Can = protocol.CanObserve }), false},
		"watches":     {hook(func(h *protocol.GoHook) { h.Watches = true }), false},
		"audits":      {hook(func(h *protocol.GoHook) { h.Mode = protocol.Audit }), false},
		"other event": {hook(func(h *protocol.GoHook) { h.Events = []protocol.EventName{protocol.ToolCallEnd} }), false},
	} {
		gate, err := new(Gate).Extend(c.hook)
		if err != nil {
			t.Fatal(err)
		}
		if got := gate.MayChange(protocol.Event{Event: protocol.ToolCallStart, Data: protocol.RawMessage(callData)}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestStateIsKeptForASession(t *testing.T) {
	count := protocol.GoHook{Name: "h", Events: []protocol.EventName{protocol.ToolCallStart}, Func: func(_ context.Context, e *protocol.Event) (protocol.Reply, error) {
		return protocol.Reply{Context: string(e.State), State: protocol.RawMessage(`{"n":1}`)}, nil
	}}
	gate, err := new(Gate).Extend(count)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", `{"n":1}`} {
		e := protocol.Event{Event: protocol.ToolCallStart, Data: protocol.RawMessage(callData)}
		e.Session.ID = "s"
		outcome, err := gate.Begin(t.Context(), e)()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(outcome.Context) > 0 {
			got = outcome.Context[0].Text
		}
		if got != want {
			t.Errorf("event %d: the state was %q, want %q", i+1, got, want)
		}
	}
}

// Events side by side see the same old state. The later one's value stands, whichever is
// decided first, and the run of the hook says which one is lost.
func TestStateOfEventsSideBySide(t *testing.T) {
	for _, laterFirst := range []bool{true, false} {
		began, answer := map[int64]chan struct{}{}, map[int64]chan struct{}{}
		for seq := range int64(3) {
			began[seq+1], answer[seq+1] = make(chan struct{}), make(chan struct{})
		}
		saw := make(chan string, 3)
		gate, err := new(Gate).Extend(protocol.GoHook{Name: "h", Events: []protocol.EventName{protocol.ToolCallStart}, Func: func(_ context.Context, e *protocol.Event) (protocol.Reply, error) {
			saw <- string(e.State)
			close(began[*e.Seq])
			<-answer[*e.Seq]
			return protocol.Reply{State: protocol.RawMessage(fmt.Sprint(*e.Seq))}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		begin := func(seq int64) (decided chan protocol.Outcome) {
			decided = make(chan protocol.Outcome, 1)
			e := protocol.Event{Event: protocol.ToolCallStart, Data: protocol.RawMessage(callData), Seq: &seq}
			e.Session.ID = "s"
			go func() {
				outcome, err := gate.Begin(t.Context(), e)()
				if err != nil {
					t.Error(err)
				}
				decided <- outcome
			}()
			<-began[seq]
			return decided
		}
		end := func(seq int64, decided chan protocol.Outcome) string {
			close(answer[seq])
			return strings.Join((<-decided).Runs[0].Warnings, "|")
		}
		one, two := begin(1), begin(2)
		var first, second string
		if laterFirst {
			first, second = end(2, two), end(1, one)
		} else {
			first, second = end(1, one), end(2, two)
		}
		if first != "" || second != "the state that it gave at event 1 is lost: two events ran side by side, and the later one's stands" {
			t.Errorf("later first %v: warned %q, then %q", laterFirst, first, second)
		}
		end(3, begin(3))
		for i, want := range []string{"", "", "2"} {
			if got := <-saw; got != want {
				t.Errorf("later first %v: event %d saw %q, want %q", laterFirst, i+1, got, want)
			}
		}
	}
}

// An event that was aborted keeps nothing, and neither does a value that may not be kept:
// the rest of that reply counts all the same.
func TestStateThatIsNotKept(t *testing.T) {
	aborted, abort := context.WithCancel(t.Context())
	reply := protocol.Reply{}
	saw := ""
	gate, err := new(Gate).Extend(protocol.GoHook{Name: "h", Events: []protocol.EventName{protocol.ToolCallStart}, Func: func(ctx context.Context, e *protocol.Event) (protocol.Reply, error) {
		saw = string(e.State)
		return reply, nil
	}}, protocol.GoHook{Name: "i", Can: protocol.CanBlock, Events: []protocol.EventName{protocol.ToolCallStart}, Func: func(ctx context.Context, _ *protocol.Event) (protocol.Reply, error) {
		if ctx.Value(abortKey{}) != nil {
			abort()
		}
		return protocol.Reply{}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	fire := func(ctx context.Context, session string, state protocol.RawMessage) protocol.Outcome {
		reply = protocol.Reply{State: state, Context: "counts"}
		e := protocol.Event{Event: protocol.ToolCallStart, Data: protocol.RawMessage(callData)}
		e.Session.ID = session
		outcome, _ := gate.Begin(ctx, e)()
		return outcome
	}
	fire(context.WithValue(aborted, abortKey{}, true), "s", protocol.RawMessage(`1`))
	if outcome := fire(t.Context(), "s", protocol.RawMessage(`{"n":`)); saw != "" || outcome.Runs[0].Failure != protocol.FailReply {
		t.Errorf("no JSON: saw %q, %+v", saw, outcome.Runs[0])
	}
	large := fire(t.Context(), "s", protocol.RawMessage(`"`+strings.Repeat("x", maxState)+`"`))
	if saw != "" || len(large.Context) != 1 || !slices.Equal(large.Runs[0].Warnings, []string{"state is not kept: it has 65538 bytes, the limit is 65536"}) {
		t.Errorf("too large: saw %q, %+v", saw, large.Runs[0])
	}
	if outcome := fire(t.Context(), "", protocol.RawMessage(`1`)); !slices.Equal(outcome.Runs[0].Warnings, []string{"state is not kept: the event belongs to no session"}) {
		t.Errorf("%+v", outcome.Runs[0])
	}
	fire(t.Context(), "s", protocol.RawMessage(`2`))
	if fire(t.Context(), "s", nil); saw != "2" {
		t.Errorf("saw %q", saw)
	}
}

type abortKey struct{}

// A gate with further hooks knows the state of those that were there before.
func TestExtendedGatesShareStates(t *testing.T) {
	saw := ""
	base, err := new(Gate).Extend(protocol.GoHook{Name: "h", Events: []protocol.EventName{protocol.ToolCallStart}, Func: func(_ context.Context, e *protocol.Event) (protocol.Reply, error) {
		saw = string(e.State)
		return protocol.Reply{State: protocol.RawMessage(`1`)}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	extended, err := base.(*Gate).Extend()
	if err != nil {
		t.Fatal(err)
	}
	for i, gate := range []protocol.EventGate{base, extended} {
		e := protocol.Event{Event: protocol.ToolCallStart, Data: protocol.RawMessage(callData)}
		e.Session.ID = "s"
		if _, err := gate.Begin(t.Context(), e)(); err != nil || saw != []string{"", "1"}[i] {
			t.Errorf("gate %d saw %q, %v", i, saw, err)
		}
	}
}

// A guard is asked about the same calls as by a gate of package executor.
func TestGuardsMatchAsElsewhere(t *testing.T) {
	for _, c := range []struct {
		tool, data string
		depth      int
		agent      string
		asked      bool
	}{
		{"bash", callData, 0, "", true},
		{"Bash", callData, 0, "", true}, // as other agents call it
		{"run_shell_command", callData, 0, "", true},
		{"write_file", callData, 0, "", false},
		{"bash", `{"name":"","args":{}}`, 0, "", true},
		{"bash", `{"args":{}}`, 0, "", true},
		{"bash", `{"name":5}`, 0, "", true},
		{"bash", callData, 1, "sub", true},
		{"bash", callData, 0, "sub", false},
		{"bash", callData, 1, "main", false},
	} {
		h := protocol.GoHook{Name: "guard", Can: protocol.CanBlock, Events: []protocol.EventName{protocol.ToolCallStart}, Match: protocol.Match{Tool: []string{c.tool}, Agent: c.agent},
			Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
				return protocol.Reply{Action: protocol.Block}, nil
			}}
		gate, err := new(Gate).Extend(h)
		if err != nil {
			t.Fatal(err)
		}
		outcome, err := gate.Begin(t.Context(), protocol.Event{Event: protocol.ToolCallStart, Agent: protocol.Agent{Depth: c.depth}, Data: protocol.RawMessage(c.data)})()
		if refused := outcome.Action == protocol.Block; err != nil || refused != c.asked {
			t.Errorf("%s, %s of depth %d, %s: refused %v, %v", c.tool, c.agent, c.depth, c.data, refused, err)
		}
	}
}

// A key that has no meaning at an event does not restrict there.
func TestOnlyKeysOfTheEventRestrict(t *testing.T) {
	h := protocol.GoHook{Name: "guard", Can: protocol.CanBlock, Events: []protocol.EventName{protocol.PromptSubmit}, Match: protocol.Match{Tool: []string{"bash"}, Step: "final"},
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{Action: protocol.Block}, nil
		}}
	gate, _ := new(Gate).Extend(h)
	outcome, err := gate.Begin(t.Context(), protocol.Event{Event: protocol.PromptSubmit, Data: protocol.RawMessage(`{"name":"x","type":"x","text":"go"}`)})()
	if err != nil || outcome.Action != protocol.Block {
		t.Errorf("%s, %v", outcome.Action, err)
	}
}

// Hooks that cannot be asked as they are written are named.
func TestHooksThatCouldNeverBeAsked(t *testing.T) {
	f := func(context.Context, *protocol.Event) (protocol.Reply, error) {
		return protocol.Reply{Action: protocol.Block}, nil
	}
	hook := func(name, agent string) protocol.GoHook {
		return protocol.GoHook{Name: name, Events: []protocol.EventName{protocol.ToolCallStart}, Match: protocol.Match{Agent: agent}, Func: f}
	}
	if _, err := new(Gate).Extend(hook("a", "Main")); err == nil {
		t.Error("an agent that is none")
	}
	if _, err := new(Gate).Extend(hook("a", ""), hook("a", "")); err == nil {
		t.Error("two of one name")
	}
	wrong := hook("a", "")
	wrong.Match.Tool = []string{"\xff"}
	if _, err := new(Gate).Extend(wrong); err == nil || !strings.Contains(err.Error(), "neither a tool's name") {
		t.Errorf("a tool that is no name: %v", err)
	}
	watcher := hook("w", "")
	watcher.Watches, watcher.OnFailure = true, protocol.RuleContinue
	gate, err := new(Gate).Extend(watcher)
	if err != nil {
		t.Fatal(err)
	}
	if outcome, _ := gate.Begin(t.Context(), protocol.Event{Event: protocol.ToolCallStart, Data: protocol.RawMessage(callData)})(); outcome.Action == protocol.Block {
		t.Error("a hook that promised to watch refused")
	}
}

// A hook reads what was decided so far, and what the model asked for: a hook that wraps a
// command does not hide it. One that asked for the recipe in which the event happens is
// not asked.
func TestHooksReadWhatWasDecided(t *testing.T) {
	call := []protocol.EventName{protocol.ToolCallStart}
	wrap := protocol.GoHook{Name: "wrap", Events: call, Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
		return protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"args":{"command":"./wrap"}}`)}, nil
	}}
	var read protocol.Event
	guard := protocol.GoHook{Name: "guard", Can: protocol.CanBlock, Layer: protocol.User, Events: call, Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		read = *ev
		return protocol.Reply{Action: protocol.Block, Reason: "no"}, nil
	}}
	outcome, err := fire(t.Context(), t, protocol.Event{}, wrap, guard)
	if err != nil || outcome.Action != protocol.Block {
		t.Fatalf("%s, %v", outcome.Action, err)
	}
	if string(read.ModelArgs) != `{"command":"ls"}` || !strings.Contains(string(read.Data), `"original":{"command":"ls"}`) {
		t.Errorf("model's args %s, data %s", read.ModelArgs, read.Data)
	}
	if read.Layer != protocol.User || read.Outcome.By == nil || *read.Outcome.By != "wrap" {
		t.Errorf("layer %s, outcome %+v", read.Layer, read.Outcome)
	}
	read = protocol.Event{}
	outcome, err = fire(t.Context(), t, protocol.Event{NotAsked: []protocol.HookRef{{Layer: protocol.User, Name: "guard"}}}, wrap, guard)
	if err != nil || outcome.Action == protocol.Block || read.Data != nil {
		t.Errorf("%s, %v; read %s", outcome.Action, err, read.Data)
	}
	escaped := guard
	escaped.Match.Tool = []string{"bash"}
	gate, _ := new(Gate).Extend(escaped)
	if _, err := gate.Begin(t.Context(), protocol.Event{Event: protocol.ToolCallStart, Data: protocol.RawMessage(`{"name":"b\u0061sh","args":{"command":"\u0072m"}}`)})(); err != nil || !strings.Contains(string(read.Data), `"rm"`) {
		t.Errorf("%v; read %s", err, read.Data)
	}
}
