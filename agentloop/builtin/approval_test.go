package builtin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

// request is a permission-request about a tool call.
func request(t *testing.T, by, tool, args string) (protocol.PermissionRequestData, protocol.Event) {
	t.Helper()
	kind := protocol.KindOther
	if tool == "bash" {
		kind = protocol.KindShell
	}
	by, layer, given := strings.Cut(by, " of the ")
	if !given {
		layer = string(protocol.User)
	}
	data := protocol.PermissionRequestData{
		Call:    protocol.Call{ToolCallID: "c", Name: tool, Kind: kind, Args: []byte(args)},
		AskedBy: "hook:" + by, AskedByLayer: protocol.Layer(layer),
	}
	encoded, err := protocol.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return data, protocol.Event{Event: protocol.PermissionRequest, Session: protocol.Session{ID: "s"}, Data: encoded}
}

func TestApprovalRemembers(t *testing.T) {
	const ls, cat = `{"command":"ls"}`, `{"command":"cat x"}`
	type answer struct{ by, tool, args, kind string }
	for name, c := range map[string]struct {
		answers        []answer
		by, tool, args string
		want           protocol.Action
	}{
		"nothing":                   {nil, "guard", "bash", ls, protocol.Observe},
		"the same command":          {[]answer{{"guard", "bash", ls, "allow-always"}}, "guard", "bash", ls, protocol.Allow},
		"a timeout does not matter": {[]answer{{"guard", "bash", ls, "allow-always"}}, "guard", "bash", `{"timeout":3,"command":"ls"}`, protocol.Allow},
		"another command":           {[]answer{{"guard", "bash", ls, "allow-always"}}, "guard", "bash", cat, protocol.Observe},
		"another hook asks":         {[]answer{{"guard", "bash", ls, "allow-always"}}, "other", "bash", ls, protocol.Observe},
		"a namesake of the project": {[]answer{{"guard of the user", "bash", ls, "allow-always"}}, "guard of the project", "bash", ls, protocol.Observe},
		"a namesake of the user":    {[]answer{{"guard of the project", "bash", ls, "allow-always"}}, "guard of the user", "bash", ls, protocol.Observe},
		"rejected":                  {[]answer{{"guard", "bash", ls, "reject-always"}}, "guard", "bash", ls, protocol.Block},
		"once is once":              {[]answer{{"guard", "bash", ls, "allow-once"}, {"guard", "write", `{}`, "reject-once"}}, "guard", "bash", ls, protocol.Observe},
		"a tool by its name":        {[]answer{{"guard", "write", `{"path":"a"}`, "allow-always"}}, "guard", "write", `{"path":"b"}`, protocol.Allow},
		"another tool":              {[]answer{{"guard", "write", `{}`, "allow-always"}}, "guard", "edit", `{}`, protocol.Observe},
		"the newest counts":         {[]answer{{"guard", "write", `{}`, "allow-always"}, {"guard", "write", `{}`, "reject-always"}}, "guard", "write", `{}`, protocol.Block},
		"no command":                {[]answer{{"guard", "bash", `{"x":1}`, "allow-always"}}, "guard", "bash", `{"x":2}`, protocol.Observe},
		"too long to be remembered": {[]answer{{"guard", "bash", `{"command":"` + strings.Repeat("x", 5000) + `"}`, "allow-always"}}, "guard", "bash", `{"command":"` + strings.Repeat("x", 5000) + `"}`, protocol.Observe},
	} {
		t.Run(name, func(t *testing.T) {
			p := Approval(ApprovalMode{Mode: "ask"})
			for _, a := range c.answers {
				data, _ := request(t, a.by, a.tool, a.args)
				p.OnAnswer("s", data, protocol.PermissionOption{OptionID: "x", Kind: a.kind})
			}
			_, ev := request(t, c.by, c.tool, c.args)
			// The state that the end of the step keeps gives the same answer in another
			// run of the program, and no other session has it.
			stop := protocol.Event{Event: protocol.StepStop, Session: ev.Session}
			kept, err := p.Hooks[0].Func(t.Context(), &stop)
			if err != nil {
				t.Fatal(err)
			}
			later := Approval(ApprovalMode{Mode: "ask"})
			resumed := ev
			resumed.State = kept.State
			other := ev
			other.Session.ID = "other"
			for what, try := range map[string]struct {
				hook protocol.GoHook
				ev   protocol.Event
				want protocol.Action
			}{"at once": {p.Hooks[0], ev, c.want}, "resumed": {later.Hooks[0], resumed, c.want}, "other session": {p.Hooks[0], other, protocol.Observe}} {
				reply, err := try.hook.Func(t.Context(), &try.ev)
				if got := reply.Action; err != nil || got != try.want {
					t.Errorf("%s: %s %v", what, got, err)
				}
				if (reply.Action == protocol.Block) != (reply.Reason == alwaysRejected) {
					t.Errorf("%s: reason %q", what, reply.Reason)
				}
			}
		})
	}
}

// A broken state grants nothing, and what was answered since is kept.
func TestApprovalStateOfOthers(t *testing.T) {
	for _, state := range []string{`7`, `{"answers":7}`, `{"answers":[{"allow":true}]}`, `null`, `{}`} {
		p := Approval(ApprovalMode{})
		_, ev := request(t, "guard", "write", `{}`)
		ev.State = []byte(state)
		if reply, err := p.Hooks[0].Func(t.Context(), &ev); err != nil || reply.Action == protocol.Allow {
			t.Errorf("%s: %+v %v", state, reply, err)
		}
	}
}

func TestApprovalMemoryIsBounded(t *testing.T) {
	p := Approval(ApprovalMode{})
	for i := range 2000 {
		data, _ := request(t, "guard", "bash", fmt.Sprintf(`{"command":"%s %d"}`, strings.Repeat("x", i), i))
		p.OnAnswer("s", data, protocol.PermissionOption{Kind: "allow-always"})
	}
	reply, err := p.Hooks[0].Func(t.Context(), &protocol.Event{Event: protocol.StepStop, Session: protocol.Session{ID: "s"}})
	if err != nil || len(reply.State) == 0 || len(reply.State) > 64<<10 {
		t.Fatalf("%d bytes of state, %v", len(reply.State), err)
	}
	_, ev := request(t, "guard", "bash", fmt.Sprintf(`{"command":"%s %d"}`, strings.Repeat("x", 1999), 1999))
	if reply, _ := p.Hooks[0].Func(t.Context(), &ev); reply.Action != protocol.Allow {
		t.Error("the newest answer was dropped")
	}
}

// Who may grant what a hook asks: the mode of a layer, up to that layer. The
// executor holds an allow to its layer; this is the two together.
func TestApprovalModeGrantsUpToItsLayer(t *testing.T) {
	for _, c := range []struct {
		mode  ApprovalMode
		asker protocol.Layer
		want  protocol.Action
	}{
		{ApprovalMode{}, protocol.Builtin, protocol.Observe},
		{ApprovalMode{Mode: "ask"}, protocol.Project, protocol.Observe},
		{ApprovalMode{"allow", protocol.User}, protocol.Builtin, protocol.Allow},
		{ApprovalMode{"allow", protocol.User}, protocol.Project, protocol.Allow},
		{ApprovalMode{"allow", protocol.User}, protocol.User, protocol.Allow},
		{ApprovalMode{"allow", protocol.User}, protocol.Managed, protocol.Observe},
		{ApprovalMode{"allow", protocol.Managed}, protocol.Managed, protocol.Allow},
		{ApprovalMode{"deny", protocol.User}, protocol.Builtin, protocol.Block},
		{ApprovalMode{"deny", protocol.User}, protocol.Managed, protocol.Block},
		{ApprovalMode{"ask", protocol.Managed}, protocol.Project, protocol.Observe},
	} {
		asker := protocol.GoHook{
			Name: "asker", Layer: c.asker, Events: []protocol.EventName{protocol.ToolCallStart}, Can: protocol.CanBlock,
			Func: ask("sure?"),
		}
		gate, err := executor.Static(append(Approval(c.mode).Hooks, asker)...)
		if err != nil {
			t.Fatal(err)
		}
		_, ev := request(t, "asker", "write", `{}`)
		outcome, err := gate.Fire(t.Context(), ev)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, outcome.Action); diff != "" {
			t.Errorf("%+v, asked by %s (-want +got):\n%s", c.mode, c.asker, diff)
		}
		if c.want == protocol.Block && !strings.Contains(outcome.Reason, "agent.approval.mode is deny in the user settings") {
			t.Errorf("reason %q", outcome.Reason)
		}
	}
}
