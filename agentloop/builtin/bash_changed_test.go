package builtin_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// wraps is a modifier that turns every command C into: true 'C'
func wraps(sensitive bool) protocol.GoHook {
	return protocol.GoHook{
		Name: "wrap", Layer: protocol.User, Events: []protocol.EventName{protocol.ToolCallStart}, Sensitive: sensitive,
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			command := jsonspan.Text(jsonspan.Get(jsonspan.Get(ev.Data, "args"), "command"))
			text, err := json.Marshal(map[string]any{"args": map[string]any{"command": "true '" + command + "'"}})
			return protocol.Reply{Action: protocol.Modify, Changes: text}, err
		},
	}
}

type shellTool struct{ ran *[]string }

func (shellTool) Describe() tool.Description {
	return tool.Description{Kind: protocol.KindShell, Name: "bash", Schema: protocol.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)}
}

func (s shellTool) Run(_ context.Context, args protocol.RawMessage) (protocol.Result, error) {
	*s.ran = append(*s.ran, jsonspan.Text(jsonspan.Get(args, "command")))
	return protocol.Result{Content: protocol.TextContent("ok")}, nil
}

// F56: what never runs does not run because a hook wraps it; what may run unasked is
// what really runs.
func TestListsSeeThroughAHookThatWraps(t *testing.T) {
	const secret = "CANARY"
	for name, c := range map[string]struct {
		policy    builtin.BashPolicy
		command   string
		sensitive bool
		want      protocol.CallErrorKind // "" = it ran
	}{
		"denied":                       {builtin.BashPolicy{Deny: []string{"rm"}}, "rm -rf build " + secret, false, protocol.CallBlocked},
		"denied, sensitive":            {builtin.BashPolicy{Deny: []string{"rm"}}, "rm -rf build " + secret, true, protocol.CallBlocked},
		"undecided":                    {builtin.BashPolicy{Deny: []string{"rm"}}, "$X build " + secret, false, protocol.CallDenied},
		"harmless":                     {builtin.BashPolicy{Deny: []string{"rm"}}, "ls", false, ""},
		"harmless, sensitive":          {builtin.BashPolicy{Deny: []string{"rm"}}, "ls " + secret, true, ""},
		"the wrapped one is denied":    {builtin.BashPolicy{Deny: []string{"true"}}, "ls", false, protocol.CallBlocked},
		"allowed as the model gave it": {builtin.BashPolicy{Allow: []string{"touch *"}}, "touch a", false, protocol.CallDenied},
		"allowed as it runs":           {builtin.BashPolicy{Allow: []string{"true *"}}, "touch a", false, ""},
		"allowed as it runs, denied":   {builtin.BashPolicy{Allow: []string{"true *"}, Deny: []string{"touch"}}, "touch a", false, protocol.CallBlocked},
	} {
		policy, err := builtin.Bash(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		var ran []string
		features := []agentloop.Provider{policy, {Name: "shell", Tools: []tool.Tool{shellTool{&ran}}}}
		script := "turns:\n  - toolCalls:\n      - {id: a, name: bash, args: {command: \"" + c.command + "\"}}\n  - text: done\n"
		p := runScript(t, script, features, wraps(c.sensitive))
		if p.err != nil {
			t.Fatalf("%s: %v", name, p.err)
		}
		failed := p.last(protocol.ToolCallError)
		if c.want == "" {
			if failed != nil || len(ran) != 1 || ran[0] != "true '"+c.command+"'" {
				t.Errorf("%s: ran %q, error %+v", name, ran, failed)
			}
			original := string(jsonspan.Get(p.last(protocol.ToolCallEnd).Event.Data, "original"))
			if want := `{"command":"` + c.command + `"}`; c.sensitive && original != "" || !c.sensitive && original != want {
				t.Errorf("%s: data.original of tool-call-end is %s", name, original)
			}
			continue
		}
		if failed == nil || len(ran) > 0 {
			t.Errorf("%s: ran %q", name, ran)
			continue
		}
		var data protocol.ToolCallErrorData
		if err := json.Unmarshal(failed.Event.Data, &data); err != nil || data.Error.Kind != c.want {
			t.Errorf("%s: %+v, %v", name, data.Error, err)
		}
		if c.sensitive && strings.Contains(data.Error.Text, secret) {
			t.Errorf("%s: the reason shows what the hook took away: %s", name, data.Error.Text)
		}
	}
}
