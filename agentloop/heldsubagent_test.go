package agentloop_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/protocol"
)

// gateForOne is a gate whose hooks may change one kind of event.
type gateForOne struct {
	*recorder
	event protocol.EventName
}

func (h *gateForOne) MayChange(e protocol.Event) bool { return e.Event == h.event }

func (h *gateForOne) Extend(hooks ...protocol.GoHook) (protocol.EventGate, error) {
	_, err := h.recorder.Extend(hooks...)
	return h, err
}

// TestSubAgentsAnswerIsPending asserts that what a sub-agent answers is not told before the hooks
// have judged it that may change it, and then as they left it, wherever it is told.
// What it says on the way is.
func TestSubAgentsAnswerIsPending(t *testing.T) {
	const stop = protocol.SubagentStop
	fails := asHook("h", 0, stop, func(*protocol.Event) (protocol.Reply, error) { return protocol.Reply{}, errors.New("broken") })
	fails.OnFailure = protocol.RuleBlock
	change := protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"response":"TAMED"}`)}
	for name, c := range map[string]struct {
		hook   protocol.GoHook
		on     protocol.EventName // that the gate holds for
		abort  bool
		early  bool   // the answer is told before it was judged
		deltas string // of the sub-agent
		lacks  string // nowhere told
	}{
		"nobody may change it": {replies("h", 0, stop, protocol.Reply{}), protocol.Notification, false, true, "lookingfound it (3)", ""},
		"as it is":             {replies("h", 0, stop, protocol.Reply{}), stop, false, false, "lookingfound it (3)", ""},
		"changed":              {replies("h", 0, stop, change), stop, false, false, "lookingTAMED", "found it"},
		"not judged":           {fails, stop, false, false, "looking", "found it"},
		"stopped":              {replies("h", 0, stop, protocol.Reply{Action: protocol.Stop, Reason: "enough"}), stop, false, false, "lookingfound it (3)", ""},
		"it goes on":           {replies("h", 1, stop, protocol.Reply{Action: protocol.Continue, Reason: "more"}), stop, false, false, "lookingfound it (3)found it (5)", ""},
		"forced on before":     {replies("h", 1, protocol.AgentStop, protocol.Reply{Action: protocol.Continue, Reason: "more"}), stop, false, false, "lookingfound it (3)found it (5)", ""},
		"aborted":              {replies("h", 0, stop, protocol.Reply{}), stop, true, false, "looking", "found it"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if c.hook.Events[0] == protocol.AgentStop {
					c.hook.Match = protocol.Match{Agent: "sub"}
				}
				s := newExecutorLoop(t, delegates, []protocol.GoHook{c.hook}, func(o *agentloop.Options) {
					o.Gate = &gateForOne{o.Gate.(*recorder), c.on}
				})
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				var toldBefore []agentloop.Update
				s.gate.before = func(_ int, e protocol.Event) {
					if e.Event != stop {
						return
					}
					synctest.Wait() // the watcher has read all there is
					if toldBefore == nil {
						toldBefore = append([]agentloop.Update{}, s.updates...)
					}
					if c.abort {
						cancel(errors.New("gone"))
					}
				}
				s.prompt(t, ctx, "do it")
				sub := s.gate.of(protocol.AgentStart, "")[1].Agent.ID
				deltas := ""
				for _, u := range s.updates {
					if u.Kind == agentloop.UpdateDelta && u.Delta.AgentID == sub {
						deltas += u.Delta.Text
					}
				}
				if deltas != c.deltas {
					t.Errorf("streamed %q, want %q", deltas, c.deltas)
				}
				if early := strings.Contains(toldBy(toldBefore), "found it (3)"); early != c.early && name != "forced on before" {
					t.Errorf("told before it was judged: %v", early)
				}
				if all := toldBy(s.updates); !strings.Contains(all, "looking") || c.lacks != "" && strings.Contains(all, c.lacks) {
					t.Errorf("%q was told:\n%s", c.lacks, all)
				}
				if strings.Contains(toldBy(toldBefore), "found it (5)") {
					t.Error("the second answer was told before it was judged")
				}
			})
		})
	}
}

// toldBy is all that updates tell.
func toldBy(updates []agentloop.Update) string {
	var b strings.Builder
	for _, u := range updates {
		b.WriteString(u.Delta.Text + " " + string(u.Event.Event) + " " + string(u.Event.Data) + string(u.Outcome.Event.Data) + "\n")
	}
	return b.String()
}
