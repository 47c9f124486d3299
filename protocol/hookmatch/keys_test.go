package hookmatch

import (
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

func TestFits(t *testing.T) {
	call := protocol.Event{Event: protocol.ToolCallStart, Data: protocol.RawMessage(`{"name":"bash","kind":"shell","args":{}}`)}
	sub := call
	sub.Agent.Depth = 1
	prompt := protocol.Event{Event: protocol.PromptSubmit, Data: protocol.RawMessage(`{"source":"user","name":"edit"}`)}
	with := func(e protocol.Event, data string) protocol.Event { e.Data = protocol.RawMessage(data); return e }
	for name, c := range map[string]struct {
		match protocol.Match
		event protocol.Event
		want  bool
	}{
		"no key":                      {protocol.Match{}, call, true},
		"the tool":                    {protocol.Match{Tool: []string{"edit", "bash"}}, call, true},
		"the tool as others call it":  {protocol.Match{Tool: []string{"Bash"}}, call, true},
		"another tool":                {protocol.Match{Tool: []string{"edit"}}, call, false},
		"a kind of a later version":   {protocol.Match{Tool: []string{"@net"}}, with(call, `{"name":"x","kind":"teleport"}`), true},
		"no name":                     {protocol.Match{Tool: []string{"edit"}}, with(call, `{"args":{}}`), true},
		"a name that is no text":      {protocol.Match{Tool: []string{"edit"}}, with(call, `{"name":5}`), true},
		"unreadable":                  {protocol.Match{Tool: []string{"edit"}}, with(call, `{"name":"ba`), true},
		"unreadable, of another kind": {protocol.Match{Tool: []string{"edit"}, Agent: "sub"}, with(call, `{"name":"ba`), false},
		"tool at another event":       {protocol.Match{Tool: []string{"bash"}}, prompt, true},
		"source":                      {protocol.Match{Source: []string{"recipe", "user"}}, prompt, true},
		"another source":              {protocol.Match{Source: []string{"recipe"}}, prompt, false},
		"source at another event":     {protocol.Match{Source: []string{"recipe"}}, call, true},
		"main":                        {protocol.Match{Agent: "main"}, sub, false},
		"sub":                         {protocol.Match{Agent: "sub"}, sub, true},
	} {
		keys, key, err := Compile(&c.match)
		if err != nil {
			t.Fatalf("%s: %s: %v", name, key, err)
		}
		in := NewInput(&c.event)
		if got := keys.Fits(&in); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if !keys.MayFit(&c.event) && c.want {
			t.Errorf("%s: it fits and may not fit", name)
		}
	}
}
