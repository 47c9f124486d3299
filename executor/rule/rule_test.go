package rule

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rule"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// ruleHook is a rule as the loader makes it.
func ruleHook(t testing.TB, name string, layer protocol.Layer, match schema.Match, reply rule.Reply, events ...protocol.EventName) *executor.Hook {
	t.Helper()
	if len(events) == 0 {
		events = []protocol.EventName{protocol.ToolCallStart}
	}
	answer, problems := rule.Compile(&reply, events)
	if len(problems) > 0 {
		t.Fatalf("%s: %+v", name, problems)
	}
	h := &executor.Hook{
		Hook: schema.Hook{
			Name: name, Layer: layer, Events: events, Match: match, Reply: &reply, Can: protocol.CanBlock, Mode: protocol.Enforce,
			OnFailure: protocol.RuleContinue, Timeout: time.Second, Enabled: true, Run: schema.Once,
		},
		Status: executor.Ready, Asker: New(answer), Watches: !reply.Refuses() && !reply.Grants(),
	}
	if reply.Refuses() {
		h.OnFailure = protocol.RuleBlock
	}
	return h
}

func executorOf(t testing.TB, hooks ...*executor.Hook) *executor.Executor {
	t.Helper()
	set, errs := executor.NewSet(executor.Set{Hooks: hooks})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	e := executor.New(set, executor.Options{})
	t.Cleanup(func() { e.Close(context.Background()) })
	return e
}

func shell(command string) protocol.Event {
	return protocol.Event{Event: protocol.ToolCallStart, Data: fmt.Appendf(nil, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":%q},"parallel":1}`, command)}
}

var push = schema.Match{Command: []string{"git push *"}}

func TestRulesAnswerAsHooksDo(t *testing.T) {
	e := executorOf(t,
		ruleHook(t, "no-push", protocol.Project, push, rule.Reply{Action: protocol.Block, Reason: "no: ${data.args.command}"}),
		ruleHook(t, "careful", protocol.User, schema.Match{Command: []string{"rm *"}}, rule.Reply{Action: protocol.Ask, Reason: "really?"}),
		ruleHook(t, "told", protocol.User, schema.Match{Command: []string{"make *"}}, rule.Reply{Context: "use -j2", Notice: "it builds"}),
	)
	for command, want := range map[string]protocol.Action{
		"git push": protocol.Block, "sudo git push x": protocol.Block, "git $X": protocol.Ask, "rm x": protocol.Ask, "ls": protocol.Observe,
		"make all": protocol.Observe, "git push; rm x": protocol.Block, "r$X all": protocol.Ask, "m$X all": protocol.Observe,
	} {
		o := hooktest.Fire(t, e, shell(command))
		if o.Action != want {
			t.Errorf("%s: %s (%s)", command, o.Action, hooktest.Runs(o))
		}
		if says := len(o.Context) == 1 && len(o.Notices) == 1; says != (command == "make all") {
			t.Errorf("%s: context %+v, notices %+v", command, o.Context, o.Notices)
		}
	}
	if o := hooktest.Fire(t, e, shell("git push x")); o.Reason != "no: git push x" || o.By == nil || *o.By != "no-push" {
		t.Errorf("%+v", o)
	}
}

// A yes to a permission-request is for the whole line, and of a project's rule only for
// what project hooks ask.
func TestAllowGrantsAtPermissionRequestOnly(t *testing.T) {
	ask := func(layer protocol.Layer, askedBy, command string) protocol.Action {
		e := executorOf(t, ruleHook(t, "status", layer, schema.Match{Command: []string{"git status *"}}, rule.Reply{Action: protocol.Allow}, protocol.PermissionRequest))
		return hooktest.Fire(t, e, protocol.Event{Event: protocol.PermissionRequest, Data: fmt.Appendf(nil, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":%q},"askedBy":%q,"options":[]}`, command, askedBy)}).Action
	}
	for _, tc := range []struct {
		layer   protocol.Layer
		command string
		want    bool
	}{
		{protocol.User, "git status", true}, {protocol.User, "git status; rm x", false}, {protocol.User, "git status $(rm x)", false},
		{protocol.User, "$X", false}, {protocol.Project, "git status", false},
	} {
		if got := ask(tc.layer, "policy", tc.command) == protocol.Allow; got != tc.want {
			t.Errorf("%s, %s: allowed %v", tc.layer, tc.command, got)
		}
	}
}

func TestAuditOnlyTells(t *testing.T) {
	audit := ruleHook(t, "audit", protocol.User, push, rule.Reply{Action: protocol.Block, Reason: "no"})
	audit.Mode = protocol.Audit
	if o := hooktest.Fire(t, executorOf(t, audit), shell("git push")); o.Action != protocol.Observe {
		t.Errorf("%+v", o)
	}
}

// What a sensitive hook has seen is in no reason.
func TestNothingIsToldAfterASensitiveHook(t *testing.T) {
	secret := executor.HookOf(protocol.GoHook{
		Name: "secret", Events: []protocol.EventName{protocol.ToolCallStart}, Sensitive: true,
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"args":{"command":"git push token123"}}`)}, nil
		},
	})
	e := executorOf(t, secret, ruleHook(t, "no-push", protocol.User, push, rule.Reply{Action: protocol.Block, Reason: "no: ${data.args.command}"}))
	o := hooktest.Fire(t, e, shell("ls"))
	if o.Action != protocol.Block || strings.Contains(o.Reason, "token123") || !strings.Contains(o.Reason, "hidden") {
		t.Errorf("%s: %s", o.Action, o.Reason)
	}
}

func TestABrokenRuleIsAFailure(t *testing.T) {
	h := ruleHook(t, "broken", protocol.User, schema.Match{}, rule.Reply{Action: protocol.Block})
	h.Asker = Broken("its reply says nothing")
	if o := hooktest.Fire(t, executorOf(t, h), shell("ls")); o.Action != protocol.Block || o.Failure != protocol.FailSettings {
		t.Errorf("%+v", o)
	}
}

// BenchmarkHundredRules is an event with a hundred rules that are not about it; without
// is the same event with none.
func BenchmarkHundredRules(b *testing.B) {
	for _, n := range []int{0, 1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var hooks []*executor.Hook
			for i := range n {
				match := schema.Match{Command: []string{fmt.Sprintf("tool%d push *", i)}}
				hooks = append(hooks, ruleHook(b, fmt.Sprintf("r%d", i), protocol.User, match, rule.Reply{Action: protocol.Block, Reason: "no"}))
			}
			e := executorOf(b, hooks...)
			ev := shell("cd sub && make build test 2>&1 | tee out.txt")
			b.ReportAllocs()
			for b.Loop() {
				if o := hooktest.Fire(b, e, ev); o.Action != protocol.Observe {
					b.Fatal(o.Action)
				}
			}
		})
	}
}

// A host may leave a tool out of which a rule refuses every call. A rule that only some calls
// meet, one that asks, watches or is not in force, and a guard that cannot be asked, say
// nothing about all of them.
func TestRefusesEveryCall(t *testing.T) {
	bash := schema.Match{Tool: []string{"bash"}}
	for name, test := range map[string]struct {
		match  schema.Match
		action protocol.Action
		change func(*executor.Hook)
		want   string
	}{
		"by name":          {bash, protocol.Block, nil, "r"},
		"every tool":       {schema.Match{}, protocol.Block, nil, "r"},
		"by kind":          {schema.Match{Tool: []string{"@shell"}}, protocol.Block, nil, "r"},
		"another tool":     {schema.Match{Tool: []string{"read_file"}}, protocol.Block, nil, ""},
		"other agents":     {schema.Match{Tool: []string{"bash"}, Agent: "sub"}, protocol.Block, nil, ""},
		"some commands":    {push, protocol.Block, nil, ""},
		"some files":       {schema.Match{Tool: []string{"bash"}, Path: []string{"x"}}, protocol.Block, nil, ""},
		"under conditions": {schema.Match{Tool: []string{"bash"}, When: "true"}, protocol.Block, nil, ""},
		"asks":             {bash, protocol.Ask, nil, ""},
		"watches":          {bash, protocol.Block, func(h *executor.Hook) { h.Mode = protocol.Audit }, ""},
		"disabled":         {bash, protocol.Block, func(h *executor.Hook) { h.Status, h.Asker = executor.Disabled, nil }, ""},
		"not allowed": {bash, protocol.Block, func(h *executor.Hook) {
			h.Status, h.Fault = executor.Untrusted, &protocol.Failure{Kind: protocol.FailUntrusted}
		}, ""},
	} {
		h := ruleHook(t, "r", protocol.User, test.match, rule.Reply{Action: test.action, Reason: "no"})
		if test.change != nil {
			test.change(h)
		}
		if got := executorOf(t, h).Refuses(shell("ls")); got != test.want {
			t.Errorf("%s: refused by %q", name, got)
		}
	}
}
