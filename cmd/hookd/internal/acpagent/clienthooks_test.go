package acpagent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// answersHooks answers calls of the client's hooks with a result or an error as JSON, "" for not
// at all, and questions with a no.
func answersHooks(c *client, answer string) {
	c.answer = func(m *rpc.Message) (any, *rpc.Error) {
		if m.Method != acp.HooksCall {
			return chooses("reject")(m)
		}
		if answer == "" {
			return nil, nil
		}
		if reply, is := strings.CutPrefix(answer, "error:"); is {
			return nil, rpc.Errorf(rpc.InternalError, "%s", reply)
		}
		return protocol.RawMessage(answer), nil
	}
}

const touches = "turns:\n- toolCalls: [{name: bash, args: {command: 'touch ran'}}]\n- text: after"

// A hook that the client registers is asked over the connection, and counts as a hook of the user
// does. It failing, or answering late, is a failure under its rule; and it never takes back what
// another hook said.
func TestHooksOfTheClient(t *testing.T) {
	guard := object{"name": "mine", "events": []any{"tool-call-start"}, "match": object{"tool": []any{"bash"}}, "can": "block", "timeoutMs": 300}
	with := func(more object) object {
		h := object{}
		for _, part := range []object{guard, more} {
			for name, value := range part {
				h[name] = value
			}
		}
		return h
	}
	for name, test := range map[string]struct {
		hook   object
		answer string
		users  string // what a hook of the user answers to the call
		mode   string
		runs   bool
		says   string
	}{
		"it lets pass":                      {hook: guard, answer: `{}`, runs: true},
		"it refuses":                        {hook: guard, answer: `{"action":"block","reason":"not with me"}`, says: "blocked by client/mine: not with me"},
		"it changes":                        {hook: with(object{"can": "modify"}), answer: `{"changes":{"args":{"command":"touch ran other"}}}`, runs: true, says: "client/mine changed args.command"},
		"it may not change":                 {hook: guard, answer: `{"changes":{"args":{"command":"touch other"}}}`, says: "client/mine failed"},
		"it answers with an error":          {hook: guard, answer: "error:out of order", says: "out of order"},
		"it answers something else":         {hook: guard, answer: `{"decision":"approve"}`, says: "client/mine failed"},
		"it answers nothing":                {hook: guard, answer: `null`, says: "client/mine failed"},
		"it answers too late":               {hook: guard, answer: "", says: "timeout"},
		"a failure that may pass":           {hook: with(object{"onFailure": "continue"}), answer: "error:x", runs: true, says: "client/mine failed"},
		"an observer is not waited for":     {hook: with(object{"can": "observe"}), answer: "", runs: true},
		"a no of the user stays":            {hook: with(object{"can": "modify"}), answer: `{"action":"observe"}`, users: `{"action":"block","reason":"never"}`, says: "blocked by users.sh: never"},
		"an ask of the user stays":          {hook: with(object{"can": "modify"}), answer: `{}`, users: `{"action":"ask","reason":"really?"}`, says: "refused"},
		"it grants what the loop asks":      {hook: object{"name": "mine", "events": []any{"permission-request"}, "can": "block"}, answer: `{"action":"allow"}`, mode: "ask", runs: true},
		"it does not grant what was denied": {hook: object{"name": "mine", "events": []any{"permission-request"}, "can": "block"}, answer: `{"action":"allow"}`, mode: "ask", users: `{"action":"block","reason":"never"}`, says: "never"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, touches)
			if test.users != "" {
				c.hook("users.sh", "events=tool-call-start can=block", "echo '"+test.users+"'")
			}
			c.start()
			answersHooks(c, test.answer)
			c.initialize(object{})
			var registered acp.RegisterResult
			c.call(acp.HooksRegister, object{"hooks": []any{test.hook}}, &registered)
			if len(registered.Registered) != 1 || registered.Registered[0] != "client/mine" {
				t.Errorf("%+v", registered)
			}
			session := c.session()
			if test.mode == "" {
				c.call(acp.SessionSetMode, object{"sessionId": session, "modeId": "run"}, nil)
			}
			began := time.Now()
			c.prompt(session, text("go")...)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			if _, err := os.Stat(filepath.Join(c.project, "ran")); (err == nil) != test.runs {
				t.Errorf("ran: %v", err == nil)
			}
			if got := string(c.transcript()); !strings.Contains(got, test.says) || strings.Contains(got, "stdout") {
				t.Errorf("%q is not told: %s", test.says, got)
			}
			var list struct {
				Client []acp.ClientHook `json:"client"`
			}
			c.call(acp.HooksList, object{"sessionId": session}, &list)
			if len(list.Client) != 1 || list.Client[0].Name != "mine" {
				t.Errorf("%+v", list)
			}
		})
	}
}

// However many observers a client has that it never answers, few calls are open at a time; and it
// cannot register without end.
func TestClientThatNeverAnswers(t *testing.T) {
	hooks := func(from, to int) (list []any) {
		for i := from; i < to; i++ {
			list = append(list, object{"name": fmt.Sprintf("h%d", i), "events": []any{"tool-call-start"}, "timeoutMs": 60_000})
		}
		return list
	}
	c := newClient(t, touches)
	c.start()
	answersHooks(c, "")
	c.initialize(object{})
	c.call(acp.HooksRegister, object{"hooks": hooks(0, 30)}, nil)
	session := c.session()
	c.call(acp.SessionSetMode, object{"sessionId": session, "modeId": "run"}, nil)
	c.prompt(session, text("go")...)
	if calls := strings.Count(strings.Join(c.log, "\n"), `"method":"`+acp.HooksCall); calls == 0 || calls > mostObserving {
		t.Errorf("%d calls are open", calls)
	}
	if e := c.fails(acp.HooksRegister, object{"hooks": hooks(30, mostHooks+1)}); e.Path() != fmt.Sprintf("/hooks/%d", mostHooks-30) || !strings.Contains(e.Message, "at most 200") {
		t.Error(e)
	}
	c.call(acp.HooksRegister, object{"hooks": hooks(0, mostHooks)}, nil) // in their own place
}

// A hook that cannot be one is refused with its place, and none of the call is taken.
func TestWrongHooksOfTheClient(t *testing.T) {
	c := newClient(t, touches)
	c.start()
	c.initialize(object{})
	fine := object{"name": "fine", "events": []any{"tool-call-start"}}
	for says, hook := range map[string]object{
		"no name":       {"events": []any{"tool-call-start"}},
		"unknown event": {"name": "x", "events": []any{"tool-call-began"}},
		"no events":     {"name": "x"},
		"can is":        {"name": "x", "events": []any{"tool-call-start"}, "can": "everything"},
		"onFailure is":  {"name": "x", "events": []any{"tool-call-start"}, "onFailure": "allow"},
		"timeoutMs is":  {"name": "x", "events": []any{"tool-call-start"}, "timeoutMs": -1},
		"its name is":   {"name": "x\x1b[2Ky", "events": []any{"tool-call-start"}},
		"on one line":   {"name": "x\ny", "events": []any{"tool-call-start"}},
		"100 bytes":     {"name": strings.Repeat("x", 101), "events": []any{"tool-call-start"}},
		"description":   {"name": "x", "events": []any{"tool-call-start"}, "description": strings.Repeat("x", 5<<10)},
		"there twice":   fine,
		"when":          {"name": "x", "events": []any{"tool-call-start"}, "match": object{"when": "this is ("}},
	} {
		e := c.fails(acp.HooksRegister, object{"hooks": []any{fine, hook}})
		if e.Code != rpc.InvalidParams || !strings.HasPrefix(e.Message, "hook 2: ") || !strings.Contains(e.Message, says) || e.Path() != "/hooks/1" {
			t.Errorf("%s: %v", says, e)
		}
	}
	for member, hook := range map[string]object{ // a misspelt member must not make a hook weaker
		"/hooks/1/onfailure":   {"name": "x", "events": []any{"tool-call-start"}, "can": "block", "onfailure": "block"},
		"/hooks/1/layer":       {"name": "x", "events": []any{"tool-call-start"}, "layer": "managed"},
		"/hooks/1/match/tools": {"name": "x", "events": []any{"tool-call-start"}, "match": object{"tools": []any{"bash"}}},
	} {
		if e := c.fails(acp.HooksRegister, object{"hooks": []any{fine, hook}}); e.Code != rpc.InvalidParams || e.Path() != member || !strings.Contains(e.Message, "unknown") {
			t.Errorf("%s: %v", member, e)
		}
	}
	session := c.session()
	m := c.wait(c.send(acp.HooksList, object{"sessionId": session}))
	var list struct {
		Client []acp.ClientHook `json:"client"`
	}
	if err := json.Unmarshal(m.Result, &list); err != nil || list.Client == nil || len(list.Client) > 0 {
		t.Errorf("%s %v", m.Result, err)
	}
}
