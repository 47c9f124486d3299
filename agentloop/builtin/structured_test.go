package builtin_test

import (
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/protocol"
)

const nameAndAge = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name","age"],"additionalProperties":false}`

func TestStructured(t *testing.T) {
	const right = `text: '{"name":"Ada","age":36}'`
	turns := func(turns ...string) string { return "turns:\n- " + strings.Join(turns, "\n- ") + "\n" }
	for name, c := range map[string]struct {
		script string
		tries  int
		forced int
		calls  int
		end    string
		reason string
	}{
		"right at once":      {turns(right), 0, 0, 1, "done", ""},
		"in a fence":         {turns("text: \"```json\\n{\\\"name\\\":\\\"Ada\\\",\\\"age\\\":36}\\n```\""), 0, 0, 1, "done", ""},
		"in a bare fence":    {turns("text: \"```\\n{\\\"name\\\":\\\"Ada\\\",\\\"age\\\":36}\\n```\\n\""), 0, 0, 1, "done", ""},
		"wrong, then right":  {turns(`text: 'Ada is 36'`, `text: '{"name":"Ada"}'`, right), 0, 0, 3, "done", ""},
		"wrong to the end":   {turns(`text: no`, `text: no`, `text: '{"name":7,"age":36}'`), 0, 0, 3, "hook", "after 2 further tries"},
		"a member too many":  {turns(`text: '{"name":"Ada","age":36,"x":1}'`), -1, 0, 1, "hook", "after 0 further tries"},
		"a fraction":         {turns(`text: '{"name":"Ada","age":36.5}'`), -1, 0, 1, "hook", "age"},
		"twice the same key": {turns(`text: '{"name":"Ada","age":36,"age":37}'`), -1, 0, 1, "hook", "it is no JSON"},
		"text around it":     {turns(`text: 'Here: {"name":"Ada","age":36}'`), -1, 0, 1, "hook", "it is no JSON"},
		"nothing":            {turns(`text: ''`), -1, 0, 1, "hook", "it is empty"},
		"more tries than the cap of forced steps": {turns(`text: a`, `text: b`, `text: c`), 9, 2, 3, "hook", "after 2 further tries"},
	} {
		t.Run(name, func(t *testing.T) {
			feature, err := builtin.Structured(builtin.StructuredOptions{Schema: []byte(nameAndAge), Tries: c.tries, Forced: c.forced})
			if err != nil {
				t.Fatal(err)
			}
			p := runScript(t, c.script, []agentloop.Provider{feature})
			if p.err != nil || p.result.StopReason != c.end || p.model.Played() != c.calls {
				t.Errorf("%d calls, ended with %q, %v", p.model.Played(), p.result.StopReason, p.err)
			}
			if stop := p.last(protocol.AgentStop); !strings.Contains(stop.Outcome.Reason, c.reason) {
				t.Errorf("reason %q", stop.Outcome.Reason)
			}
		})
	}
}

// The model reads the schema once, and of a wrong answer the exact error.
func TestStructuredTellsTheModel(t *testing.T) {
	feature, err := builtin.Structured(builtin.StructuredOptions{Schema: []byte(nameAndAge)})
	if err != nil {
		t.Fatal(err)
	}
	p := runScript(t, "turns:\n- text: '{\"name\":\"Ada\"}'\n- text: '{\"name\":\"Ada\",\"age\":1}'\n", []agentloop.Provider{feature})
	request := string(p.last(protocol.InferenceStart).Event.Data)
	for _, want := range []string{`fits this JSON Schema`, `\"required\":[\"name\",\"age\"]`, `Your answer does not fit the JSON Schema: `, `age`} {
		if !strings.Contains(request, want) {
			t.Errorf("the model does not read %q:\n%s", want, request)
		}
	}
	if n := strings.Count(request, "fits this JSON Schema"); n != 1 {
		t.Errorf("announced %d times", n)
	}
	for _, bad := range []string{``, `[`, `{"type":7}`, `{"$ref":"#/nowhere"}`} {
		if _, err := builtin.Structured(builtin.StructuredOptions{Schema: []byte(bad)}); err == nil {
			t.Errorf("the schema %q was taken", bad)
		}
	}
}

// A sub-agent's answer and a recipe's are not the run's.
func TestStructuredLeavesOthersAlone(t *testing.T) {
	feature, err := builtin.Structured(builtin.StructuredOptions{Schema: []byte(nameAndAge)})
	if err != nil {
		t.Fatal(err)
	}
	parent, recipe := "main", "compact"
	for _, ev := range []protocol.Event{{Agent: protocol.Agent{Parent: &parent}}, {Recipe: &recipe}} {
		ev.Event, ev.Data = protocol.AgentStop, []byte(`{"response":"no"}`)
		if reply, err := feature.Hooks[0].Func(t.Context(), &ev); err != nil || reply.Action != "" {
			t.Errorf("%+v %v", reply, err)
		}
	}
}
