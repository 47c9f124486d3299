package agentloop

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
)

func TestPermission(t *testing.T) {
	script := twoSteps
	yes, no := &fakePerson{option: "allow"}, &fakePerson{option: "reject"}
	grant := hook{on: protocol.PermissionRequest, name: "granter", layer: protocol.User, reply: protocol.Reply{Action: protocol.Allow}}
	deny := hook{on: protocol.PermissionRequest, name: "denier", reply: protocol.Reply{Action: protocol.Block, Reason: "house rule"}}
	end := hook{on: protocol.PermissionRequest, name: "ender", reply: protocol.Reply{Action: protocol.Stop, Reason: "enough"}}
	watch := hook{on: protocol.PermissionRequest, name: "watcher", reply: protocol.Reply{Action: protocol.Observe}}
	managedAsk := hook{on: protocol.ToolCallStart, name: "boss", layer: protocol.Managed, reply: protocol.Reply{Action: protocol.Ask, Reason: "policy"}}
	asks := hook{on: protocol.ToolCallStart, name: "asker", layer: protocol.User, reply: protocol.Reply{Action: protocol.Ask, Reason: "really?", Changes: raw(`{"args":{"text":"ho"}}`)}}
	// What grants one hook's question, as the memory of "always" does.
	remembered := hook{on: protocol.PermissionRequest, name: "memory", layer: protocol.User, dynamic: func(e protocol.Event) (reply protocol.Reply) {
		if strings.Contains(string(e.Data), `"askedBy":"hook:asker","askedByLayer":"user"`) {
			reply.Action = protocol.Allow
		}
		return reply
	}}
	namesake := hook{on: protocol.ToolCallStart, name: "asker", layer: protocol.Project, reply: protocol.Reply{Action: protocol.Ask, Reason: "of the project"}}
	otherAsk := hook{on: protocol.ToolCallStart, name: "other", reply: protocol.Reply{Action: protocol.Ask, Reason: "this one, too?"}}
	for name, c := range map[string]struct {
		hooks  []hook
		person *fakePerson
		ran    bool
		reads  string
		end    string
		asked  int
		kind   protocol.CallErrorKind
	}{
		"person grants":          {[]hook{asks, watch}, yes, true, "echo ho", done, 1, ""},
		"person denies":          {[]hook{asks}, no, false, "denied by the person (really?)", done, 1, protocol.CallDenied},
		"nobody":                 {[]hook{asks}, nil, false, "nobody is there to ask (really?)", done, 0, protocol.CallDenied},
		"person cannot be asked": {[]hook{asks}, &fakePerson{}, false, "could not be asked", done, 1, protocol.CallDenied},
		"too late":               {[]hook{asks}, &fakePerson{option: "allow", wait: time.Hour}, false, "nobody answered in time", done, 1, protocol.CallDenied},
		"hook grants":            {[]hook{asks, grant}, no, true, "echo ho", done, 0, ""},
		"hook denies":            {[]hook{asks, grant, deny}, yes, false, "house rule", done, 0, protocol.CallDenied},
		"hook stops":             {[]hook{asks, end}, yes, false, "", stopped, 0, protocol.CallDenied},
		"lower layer grants":     {[]hook{managedAsk, grant}, no, false, "denied by the person", done, 1, protocol.CallDenied},
		"a managed ask after one that hooks grant": {[]hook{asks, managedAsk, grant}, no, false, "denied by the person (policy)", done, 1, protocol.CallDenied},
		"a question that hooks know":               {[]hook{asks, remembered}, no, true, "echo ho", done, 0, ""},
		"and another after it":                     {[]hook{asks, remembered, otherAsk}, no, false, "denied by the person (this one, too?)", done, 1, protocol.CallDenied},
		"a namesake of another layer":              {[]hook{asks, remembered, namesake}, no, false, "denied by the person (of the project)", done, 1, protocol.CallDenied},
		"namesakes, the lower one first":           {[]hook{namesake, asks, remembered}, no, false, "denied by the person (of the project)", done, 1, protocol.CallDenied},
		"a person is asked once":                   {[]hook{asks, otherAsk}, yes, true, "echo ho", done, 1, ""},
		"no ask":                                   {[]hook{deny}, no, true, "echo hi", done, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeLoop(t, script, c.hooks, func(o *Options) {
					o.ApprovalTimeout = time.Minute
					if c.person != nil {
						c.person.asked = nil
						o.Approver = c.person
					}
				}).prompt(t, t.Context(), "go!")
				if got := len(s.tool.ran()) > 0; got != c.ran {
					t.Errorf("ran: %v", got)
				}
				if got := s.ending(); got != c.end {
					t.Errorf("ended with %s", got)
				}
				if sent := s.model.sent(1); !strings.Contains(sent, c.reads) {
					t.Errorf("the model did not read %q:\n%s", c.reads, sent)
				}
				if c.person != nil && len(c.person.asked) != c.asked {
					t.Errorf("the person was asked %d times", len(c.person.asked))
				}
				if c.kind != "" {
					if got := fired[protocol.ToolCallErrorData](t, s.gate, protocol.ToolCallError, 0); got.Error.Kind != c.kind || got.BlockedBy == nil || *got.BlockedBy == "" {
						t.Errorf("tool-call-error %+v by %v", got.Error, got.BlockedBy)
					}
				}
			})
		})
	}
}

func TestPersonGrantsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := ask()
		h.on = protocol.PromptSubmit
		p := &fakePerson{option: "allow", wait: time.Second}
		s := newFakeLoop(t, twoSteps, []hook{h}, func(o *Options) { o.Approver = p }).prompt(t, t.Context(), "go!")
		if got := s.ending(); got != done {
			t.Errorf("ended with %s", got)
		}
		if n := s.gate.count(protocol.Notification); n != 1 {
			t.Errorf("%d notifications", n)
		}
	})
}

// A person may answer with always only where a provider keeps such answers, and
// never for a managed hook; the provider is told of each answer before the call
// goes on.
func TestAnswersWithAlways(t *testing.T) {
	for name, c := range map[string]struct {
		layer   protocol.Layer
		keeps   bool
		option  string
		offered int
		kept    []string
		ran     bool
	}{
		"allowed":             {protocol.User, true, "allow-always", 4, []string{"hook:asker echo allow-always"}, true},
		"rejected":            {protocol.User, true, "reject-always", 4, []string{"hook:asker echo reject-always"}, false},
		"once":                {protocol.User, true, "allow", 4, []string{"hook:asker echo allow-once"}, true},
		"an option of nobody": {protocol.User, true, "sure", 4, nil, false},
		"nobody keeps it":     {protocol.User, false, "allow-always", 2, nil, false},
		"managed hook":        {protocol.Managed, true, "allow-always", 2, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asks := hook{on: protocol.ToolCallStart, name: "asker", layer: c.layer, reply: protocol.Reply{Action: protocol.Ask, Reason: "really?"}}
				p := &fakePerson{option: c.option}
				var kept []string
				s := newFakeLoop(t, twoSteps, []hook{asks}, func(o *Options) {
					o.Approver = p
					if c.keeps {
						o.Providers = append(o.Providers, Provider{Name: "keeper", OnAnswer: func(_ string, request protocol.PermissionRequestData, option protocol.PermissionOption) {
							kept = append(kept, request.AskedBy+" "+request.Name+" "+option.Kind)
						}})
					}
				}).prompt(t, t.Context(), "go!")
				if got := len(s.tool.ran()) > 0; got != c.ran {
					t.Errorf("ran: %v", got)
				}
				if diff := cmp.Diff(c.kept, kept); diff != "" {
					t.Errorf("kept (-want +got):\n%s", diff)
				}
				if got := fired[protocol.PermissionRequestData](t, s.gate, protocol.PermissionRequest, 0); len(got.Options) != c.offered || len(p.asked) != 1 || len(p.asked[0].Options) != c.offered {
					t.Errorf("offered %+v", got.Options)
				}
			})
		})
	}
}
