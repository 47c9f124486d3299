package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor/internal/match"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

func toolEvent(name, kind string) *protocol.Event {
	return &protocol.Event{
		Event: protocol.ToolCallStart,
		Data:  protocol.RawMessage(fmt.Sprintf(`{"toolCallId":"c1","name":%q,"kind":%q,"args":{"command":"ls","name":"inner","n":9007199254740993}}`, name, kind)),
	}
}

func argsEvent(args string) *protocol.Event {
	ev := *toolEvent("bash", "shell")
	ev.Data = []byte(`{"toolCallId":"c1","name":"bash","kind":"shell","args":` + args + `,"parallel":1}`)
	return &ev
}

// The list of candidates that is remembered is the one that comparing each hook
// with the event gives, however many tools there are.
func TestCandidates(t *testing.T) {
	var hooks []*Hook
	for i, match := range []schema.Match{
		{}, {Tool: []string{"tool7"}}, {Tool: []string{"tool*", "bash"}}, {Tool: []string{"/tool.?/"}}, {Tool: []string{"@shell"}},
		{Agent: "sub"}, {Agent: "main", Tool: []string{"@net"}}, {Source: []string{"user"}}, {Step: "final"}, {When: "turn == 1"},
	} {
		h := testHook(fmt.Sprintf("%d", i))
		h.Match = match
		h.Can = []protocol.Class{protocol.CanModify, protocol.CanBlock, protocol.CanObserve}[i%3]
		h.Asker = &goAsker{}
		if i == 2 {
			h.Asker, h.Status = nil, Untrusted // only listed
		}
		h.Events = []protocol.EventName{protocol.ToolCallStart, protocol.PromptSubmit, protocol.InferenceEnd, protocol.AgentEnd}
		hooks = append(hooks, h)
	}
	set, errs := NewSet(Set{Hooks: hooks})
	if errs != nil {
		t.Fatal(errs)
	}
	e := New(set, Options{})
	defer e.Close(context.Background())
	compare := func(event protocol.EventName, depth int, data string) {
		ev := protocol.Event{Event: event, Agent: protocol.Agent{Depth: depth}, Data: protocol.RawMessage(data)}
		var want []string
		for _, h := range set.For(event) {
			if h.runs() && h.match.Fits(&match.NewInput(&ev, nil).Input) {
				want = append(want, h.Name)
			}
		}
		asked := e.gate().begin(t.Context(), ev).stages()
		var got []string
		for _, h := range slices.Concat(asked.modify, asked.block, asked.observe) {
			got = append(got, h.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(asked.all) != len(got) {
			t.Errorf("%s %s, depth %d (-want +got):\n%s", event, data, depth, diff)
		}
	}
	for range 2 {
		for depth := range 2 {
			for i := range maxRemembered + 10 {
				compare(protocol.ToolCallStart, depth, fmt.Sprintf(`{"name":"tool%d","kind":"other"}`, i))
			}
			for _, data := range []string{
				`{"name":"bash","kind":"shell"}`, `{"name":"curl","kind":"net"}`, `{"name":"fetch","kind":"new"}`, `{"name":"ba`, `[]`, ``,
				`{"name":"` + strings.Repeat("x", 1000) + `","kind":"mcp"}`,
				`{"source":"user"}`, `{"source":"hook"}`, `{"type":"final"}`, `{"type":"tools"}`,
			} {
				for _, event := range []protocol.EventName{protocol.ToolCallStart, protocol.PromptSubmit, protocol.InferenceEnd, protocol.AgentEnd} {
					compare(event, depth, data)
				}
			}
		}
	}
	if n := len(set.index.candidates.lists); n == 0 || n > maxRemembered {
		t.Errorf("%d lists are remembered", n)
	}
}

// F64, end to end: the guard is asked and told why once; an observer, which can refuse
// nothing, is not.
func TestGuardsAreAskedWhatIsUndecided(t *testing.T) {
	when := `data.args.command matches "push"`
	guard := goHook("guard", protocol.CanBlock, block)
	modifier := goHook("modifier", protocol.CanModify, observe)
	watcher := goHook("watcher", protocol.CanObserve, observe)
	required := goHook("required", protocol.CanObserve, observe)
	required.Required = true
	all := []protocol.GoHook{guard, modifier, watcher, required}
	for i := range all {
		all[i].Match.When = when
	}
	e := newExecutor(t, schema.HookSettings{}, Options{}, all...)
	for _, args := range []string{`{}`, `{"cmd":"git push"}`, `{"command":null}`, `{"command":["git","push"]}`, `{"command":7}`, `{"command":"git push"}`} {
		if o := hooktest.Fire(t, e, *argsEvent(args)); o.Action != protocol.Block {
			t.Errorf("%s: %s by %+v", args, o.Action, o.Runs)
		}
	}
	if o := hooktest.Fire(t, e, *argsEvent(`{"command":"ls"}`)); o.Action != protocol.Observe {
		t.Errorf("a command that does not match: %+v", o)
	}
	asked := newExecutor(t, schema.HookSettings{}, Options{}, all[1:]...)
	for i := range 2 {
		o := hooktest.Fire(t, asked, *argsEvent(`{}`))
		var names []string
		told := 0
		for _, run := range o.Runs {
			names = append(names, run.Hook)
			for _, w := range run.Warnings {
				if strings.Contains(w, "there is no command") && strings.Contains(w, "has(") {
					told++
				}
			}
		}
		if got := strings.Join(names, " "); got != "modifier required" {
			t.Errorf("asked: %s", got)
		}
		if want := 2 * (1 - i); told != want {
			t.Errorf("told %d times, want %d: %+v", told, want, o.Runs)
		}
	}
}

// A condition ends with the caller's context, and what nobody allowed is not
// evaluated at all.
func TestConditionObeysItsEvent(t *testing.T) {
	guard := goHook("g", protocol.CanBlock, observe)
	guard.Match.When = `all(1..900000, all(1..900000, all(1..900000, data.name == "bash")))`
	guard.Match.When = `sum(1..900, sum(1..900, sum(1..900, len(data.name)))) > 0`
	e := newExecutor(t, schema.HookSettings{}, Options{}, guard)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	time.AfterFunc(50*time.Millisecond, func() { cancel(stop) })
	began := time.Now()
	if _, err := e.Fire(ctx, event("1")); !errors.Is(err, stop) && time.Since(began) > 50*time.Millisecond {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("the end of the event took %s", took)
	}
	untrusted := HookOf(guard)
	untrusted.Status, untrusted.Asker, untrusted.Fault = Untrusted, nil, &protocol.Failure{Kind: protocol.FailUntrusted, Detail: "nobody allowed it yet"}
	untrusted.Match.When = "false && " + strings.Repeat("(", 100_000)
	set, errs := NewSet(Set{Hooks: []*Hook{untrusted}})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if o := hooktest.Fire(t, New(set, Options{}), event("2")); o.Action != protocol.Block || o.Failure != protocol.FailUntrusted {
		t.Errorf("an untrusted guard lets the event pass: %+v", o)
	}
}

func testHook(name string) *Hook {
	return &Hook{
		Hook: schema.Hook{
			Name: name, Layer: protocol.User, Events: []protocol.EventName{protocol.ToolCallStart},
			Can: protocol.CanBlock, Mode: protocol.Enforce, OnFailure: protocol.RuleBlock,
			Timeout: 5 * time.Second, Enabled: true,
		},
		Status: Ready,
	}
}
