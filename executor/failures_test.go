package executor

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
	"github.com/hookd-dev/hookd/test/prove"
)

// fails is a hook that could not be asked.
type fails struct{ kind protocol.FailureKind }

func (fails) Info() AskerInfo { return AskerInfo{} }

func (f fails) Ask(context.Context, *Question) protocol.Answer {
	return protocol.Answer{ReadResult: protocol.ReadResult{Failure: &protocol.Failure{Kind: f.kind, Detail: "the detail"}}}
}

// G3 through the executor: every failure kind under every rule at every kind of
// event, as the asking of a hook and, where the loader found it out, in its
// place. The record names all of them.
func TestFailureMatrixThroughFire(t *testing.T) {
	want := map[protocol.Rule]map[protocol.EventName]protocol.Action{
		protocol.RuleContinue: {protocol.ToolCallStart: "observe", protocol.AgentStop: "observe", protocol.StepStop: "observe", protocol.SessionEnd: "observe"},
		protocol.RuleBlock:    {protocol.ToolCallStart: "block", protocol.AgentStop: "stop", protocol.StepStop: "observe", protocol.SessionEnd: "observe"},
		protocol.RuleStop:     {protocol.ToolCallStart: "stop", protocol.AgentStop: "stop", protocol.StepStop: "stop", protocol.SessionEnd: "observe"},
	}
	dir, cells := t.TempDir(), 0
	for _, kind := range protocol.FailureKinds {
		for rule, row := range want {
			for event, action := range row {
				for _, found := range []bool{false, true} {
					cells++
					name := fmt.Sprintf("%s/%s/%s/found %v", kind, rule, event, found)
					h := HookOf(GoHook{Name: "guard.sh", Can: protocol.CanBlock, Events: []protocol.EventName{event}})
					h.OnFailure = rule
					h.Asker = fails{kind}
					if found {
						h.Asker, h.Fault = nil, &protocol.Failure{Kind: kind, Detail: "the detail"}
					}
					checkCell(t, name, dir, h, event, action, kind, rule)
				}
			}
		}
	}
	prove.Figure(t, "G3", "%d cells fired: outcome, by, reason, notice and record as the table says", cells)
}

func checkCell(t *testing.T, name, dir string, h *Hook, event protocol.EventName, action protocol.Action, kind protocol.FailureKind, rule protocol.Rule) {
	t.Helper()
	set, errs := NewSet(Set{Hooks: []*Hook{h}, Settings: schema.Settings{}})
	if errs != nil {
		t.Fatal(errs)
	}
	e := New(set, Options{StateDir: dir})
	session := strings.ReplaceAll(strings.ReplaceAll(name, "/", "-"), " ", "-")
	spec := protocol.Lookup(event)
	o := hooktest.Fire(t, e, protocol.Event{Event: event, Session: protocol.Session{ID: session}, Data: protocol.Complete(spec, []byte(`{}`))})
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	reason := fmt.Sprintf("blocked: the check guard.sh could not be made (%s)", kind)
	switch decided := action != protocol.Observe; {
	case o.Action != action:
		t.Errorf("%s: %s, want %s", name, o.Action, action)
	case decided && (o.Failure != kind || o.By == nil || *o.By != "guard.sh" || o.Reason != reason):
		t.Errorf("%s: decided by %v for %q as %q", name, o.By, o.Reason, o.Failure)
	case !decided && (o.Failure != "" || o.By != nil || o.Refused()):
		t.Errorf("%s: a failure that decided nothing is in the outcome: %+v", name, o)
	}
	_, _, raw := lines(t, dir, session)
	for _, word := range []string{`"failure":"` + string(kind) + `"`, `"hook":"guard.sh"`} {
		if !strings.Contains(raw, word) {
			t.Errorf("%s: the record lacks %s:\n%s", name, word, raw)
		}
	}
}
