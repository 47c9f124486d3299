package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

type answerFunc = func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error)

// says is a hook that always gives one reply.
func says(r protocol.Reply) answerFunc {
	return func(context.Context, *protocol.Event) (protocol.Reply, error) { return r, nil }
}

// after is a hook that answers when a time has passed, unless it is ended first.
func after(d time.Duration, then answerFunc) answerFunc {
	return func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
		select {
		case <-time.After(d):
			return then(ctx, ev)
		case <-ctx.Done():
			return protocol.Reply{}, ctx.Err()
		}
	}
}

// setsArg is a modifier that sets one member of args.
func setsArg(name, value string) answerFunc {
	return says(protocol.Reply{
		Action:  protocol.Modify,
		Changes: protocol.RawMessage(fmt.Sprintf(`{"args":{%q:%s}}`, name, value)),
	})
}

var (
	observe = says(protocol.Reply{})
	block   = says(protocol.Reply{Action: protocol.Block, Reason: "no"})
)

func goHook(name string, can protocol.Class, f answerFunc) GoHook {
	return GoHook{Name: name, Can: can, Func: f, Events: []protocol.EventName{protocol.ToolCallStart}}
}

// newExecutor returns an executor of Go hooks that is closed with the test.
func newExecutor(t testing.TB, settings schema.HookSettings, options Options, hooks ...GoHook) *Executor {
	t.Helper()
	set, err := StaticSet(hooks...)
	if err != nil {
		t.Fatal(err)
	}
	changed := *set
	changed.Settings.Hooks = hooktest.Settings(settings)
	built, _ := NewSet(changed)
	e := New(built, options)
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestStagesAndRuns(t *testing.T) {
	const modify, blocks, observes = protocol.CanModify, protocol.CanBlock, protocol.CanObserve
	ev := *toolEvent("bash", "shell")
	for name, tc := range map[string]struct {
		hooks []GoHook
		want  protocol.Action
		by    string
		args  string
		runs  []string
	}{
		"no hooks": {nil, protocol.Observe, "", `"command":"ls"`, nil},
		"a change and no objection": {
			[]GoHook{goHook("b", blocks, observe), goHook("m", modify, setsArg("command", `"ls -la"`))},
			protocol.Modify, "m", `"command":"ls -la"`, []string{"m:modify", "b:observe"},
		},
		"a block after a change takes the change back": {
			[]GoHook{goHook("m", modify, setsArg("command", `"ls -la"`)), goHook("b1", blocks, block), goHook("b2", blocks, observe)},
			protocol.Block, "b1", `"command":"ls"`, []string{"m:modify", "b1:block", "b2:after-block"},
		},
		"a modifier's block ends it too": {
			[]GoHook{goHook("m1", modify, block), goHook("m2", modify, setsArg("x", "1")), goHook("b", blocks, block)},
			protocol.Block, "m1", `"command":"ls"`, []string{"m1:block", "m2:after-block", "b:after-block"},
		},
		"a later hook matches what an earlier one made": {
			[]GoHook{goHook("m", modify, setsArg("command", `"rm"`)), {
				Name: "b", Can: blocks, Func: block, Events: []protocol.EventName{protocol.ToolCallStart},
				Match: schema.Match{When: `data.args.command == "rm"`},
			}},
			protocol.Block, "b", `"command":"ls"`, []string{"m:modify", "b:block"},
		},
		"an observer may not block": {
			[]GoHook{{Name: "o", Can: observes, Required: true, OnFailure: protocol.RuleBlock, Func: block, Events: []protocol.EventName{protocol.ToolCallStart}}},
			protocol.Block, "o", `"command":"ls"`, []string{"o:reply"},
		},
		"a panic follows the rule": {
			[]GoHook{goHook("m", modify, func(context.Context, *protocol.Event) (protocol.Reply, error) { panic("boo") }), goHook("b", blocks, func(context.Context, *protocol.Event) (protocol.Reply, error) { panic("boo") })},
			protocol.Block, "b", `"command":"ls"`, []string{"m:exit", "b:exit"},
		},
		"an error follows the rule": {
			[]GoHook{goHook("b", blocks, func(context.Context, *protocol.Event) (protocol.Reply, error) {
				return protocol.Reply{Action: protocol.Allow}, errors.New("no connection")
			})},
			protocol.Block, "b", `"command":"ls"`, []string{"b:exit"},
		},
		// H48: a change that does not fit is no change, and the tool does not run on it.
		"a change that does not fit": {
			[]GoHook{goHook("m", modify, says(protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"args":5}`)}))},
			protocol.Observe, "", `"command":"ls"`, []string{"m:reply"},
		},
		"a change of what no hook may change": {
			[]GoHook{goHook("m", modify, says(protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"name":"edit"}`)}))},
			protocol.Observe, "", `"command":"ls"`, []string{"m:reply"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newExecutor(t, schema.HookSettings{}, Options{}, tc.hooks...)
			o := hooktest.Fire(t, e, ev)
			by := ""
			if o.By != nil {
				by = *o.By
			}
			if o.Action != tc.want || by != tc.by || !strings.Contains(string(o.Event.Data), tc.args) {
				t.Errorf("%s by %q with %s; want %s by %q with %s", o.Action, by, o.Event.Data, tc.want, tc.by, tc.args)
			}
			if diff := cmp.Diff(tc.runs, hooktest.Runs(o)); diff != "" {
				t.Error(diff)
			}
			if o.Event.ID == "" || o.Event.Time.IsZero() {
				t.Error("the event has no id or no time")
			}
		})
	}
}

// H14: three modifiers, of which the first is slow and the second says nothing.
func TestChangesAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saw := ""
		third := func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
			saw = string(ev.Data)
			return setsArg("b", "2")(ctx, ev)
		}
		e := newExecutor(t, schema.HookSettings{}, Options{},
			goHook("1", protocol.CanModify, after(300*time.Millisecond, setsArg("a", "1"))),
			goHook("2", protocol.CanModify, observe),
			goHook("3", protocol.CanModify, third))
		for range 50 {
			begin := time.Now()
			o := hooktest.Fire(t, e, *toolEvent("bash", "shell"))
			want := `"n":9007199254740993,"a":1,"b":2}`
			if !strings.Contains(string(o.Event.Data), want) || !strings.Contains(saw, `"a":1`) {
				t.Fatalf("final %s, the third hook saw %s", o.Event.Data, saw)
			}
			if took := time.Since(begin); took != 300*time.Millisecond {
				t.Errorf("took %v", took)
			}
		}
	})
}

// A host's ResolveAsk may fail although the context has not ended: the event is aborted
// with that error.
func TestResolveAskFails(t *testing.T) {
	e := newExecutor(t, schema.HookSettings{}, Options{StateDir: t.TempDir()})
	broken := errors.New("the terminal is gone")
	ev := *toolEvent("bash", "shell")
	ev.ResolveAsk = func(context.Context, *protocol.Outcome) error { return broken }
	outcome, err := e.Fire(t.Context(), ev)
	if !errors.Is(err, broken) || !outcome.Refused() || outcome.Failure != protocol.FailAborted {
		t.Errorf("%v, %s, %q", err, outcome.Action, outcome.Reason)
	}
}
