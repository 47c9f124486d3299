package agentloop_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

func toolNames(tools []protocol.Tool) string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// The model is offered each registered tool with its schema, hooks read the same
// list, and a call goes to the tool of that name, with arguments that its schema
// takes, or to none.
func TestToolsAreOfferedAndCalledByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newExecutorLoop(t, inTurn(turn{calls: []protocol.Part{
			calling("right", "other", `{"text":"hi"}`),
			calling("wrong", "other", `{"text":["hi"]}`),
			calling("nobody", "third", `{"text":"hi"}`),
		}}), nil, func(o *agentloop.Options) { o.Providers = nil }).prompt(t, t.Context(), "go")
		if got := toolNames(s.model.requests[0].Tools); got != "echo other" {
			t.Errorf("the model was offered %q", got)
		}
		for _, offered := range s.model.requests[0].Tools {
			if !strings.Contains(string(offered.Schema), `"text"`) || offered.Description != "says it again" {
				t.Errorf("%s is offered as %q, %s", offered.Name, offered.Description, offered.Schema)
			}
		}
		if start := dataOf[protocol.AgentStartData](t, s.gate.of(protocol.AgentStart, "main")[0]); toolNames(start.Tools) != "echo other" {
			t.Errorf("hooks read %q", toolNames(start.Tools))
		}
		sent := rendered(s.model.requests[1].Messages)
		for _, want := range []string{`result right error=false "echo hi"`, "result wrong error=true", "do not fit", "result nobody error=true", `there is no tool named \"third\"`} {
			if !strings.Contains(sent, want) {
				t.Errorf("the model did not read %s in\n%s", want, sent)
			}
		}
	})
}

// What a provider brings joins the loop when it is built, tools and hooks, and
// without the provider there is neither: it stands in for callbacks that change an
// agent after it was built.
func TestAProviderChangesTheLoopThatIsBuilt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		extra := agentloop.Provider{
			Hooks: []protocol.GoHook{asHook("onbuild", 0, protocol.InferenceStart, func(*protocol.Event) (protocol.Reply, error) {
				return protocol.Reply{Action: protocol.Modify, Changes: []byte(`{"system":"be brief"}`)}, nil
			})},
			Tools: []tool.Tool{echo("spawn")},
		}
		for _, c := range []struct {
			providers    []agentloop.Provider
			tools, reads string
			ran          bool
		}{
			{[]agentloop.Provider{extra}, "echo other spawn", "be brief", true},
			{[]agentloop.Provider{}, "echo other", "be good", false},
		} {
			s := newExecutorLoop(t, func(n int, _ model.Request) turn {
				if n == 1 {
					return turn{calls: []protocol.Part{calling("c", "spawn", `{"text":"hi"}`)}}
				}
				return turn{text: "done"}
			}, []protocol.GoHook{atMost(2)}, func(o *agentloop.Options) { o.Providers, o.NoDefaults = c.providers, c.providers != nil }).prompt(t, t.Context(), "go")
			first := s.model.requests[0]
			if toolNames(first.Tools) != c.tools || first.System != c.reads {
				t.Errorf("tools %q, system %q; want %q, %q", toolNames(first.Tools), first.System, c.tools, c.reads)
			}
			if ran := strings.Contains(s.model.sent(), `"echo hi"`); ran != c.ran {
				t.Errorf("the provider's tool ran: %v", ran)
			}
		}
	})
}

// atMost ends a run after n model calls, for a loop without providers.
func atMost(n int) protocol.GoHook {
	calls := 0
	return asHook("limit", 0, protocol.StepStart, func(*protocol.Event) (protocol.Reply, error) {
		if calls++; calls > n {
			return protocol.Reply{Action: protocol.Stop, Reason: "enough"}, nil
		}
		return protocol.Reply{}, nil
	})
}
