package mcpproxy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// asksAll asks a person about every call, and changes its args.
var asksAll = dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
	reply, err := protocol.ModifyArgs(ev, func(args *map[string]any) error {
		if (*args)["change"] != nil {
			(*args)["n"] = 2
		}
		return nil
	})
	reply.Action, reply.Reason = protocol.Ask, "really?\u202e"
	return reply, err
})

// initialized has a client declare its capabilities.
func (s *stage) initialized(capabilities string) {
	s.T.Helper()
	line := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":` + capabilities + `}}`
	s.Say(s.Client, line)
	s.Read(s.ToServer, line)
	s.Say(s.Server, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}`)
	s.Next(s.ToClient)
}

// asked reads a question and returns its id.
func (s *stage) asked() string {
	s.T.Helper()
	line := s.Next(s.ToClient)
	if jsonspan.Text(jsonspan.Get([]byte(line), "method")) != "elicitation/create" {
		s.T.Fatal(line)
	}
	return string(jsonspan.Get([]byte(line), "id"))
}

const ranResult = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"ran"}]}}`

// A client that shows forms is asked, and nothing but a clear yes is one.
func TestPersonIsAsked(t *testing.T) {
	for name, test := range map[string]struct {
		answer string // the members of the response after its id, "" for none
		ran    bool
		text   string // that the model reads
		by     protocol.Answerer
	}{
		"yes":              {`"result":{"action":"accept","content":{"answer":"allow"}}`, true, "", protocol.ByPerson},
		"no":               {`"result":{"action":"accept","content":{"answer":"refuse"}}`, false, `denied by the person (really?`, protocol.ByPerson},
		"declined":         {`"result":{"action":"decline"}`, false, "denied by the person", protocol.ByPerson},
		"cancelled":        {`"result":{"action":"cancel","content":{"answer":"allow"}}`, false, "the question was closed without an answer", protocol.ByPerson},
		"nothing chosen":   {`"result":{"action":"accept"}`, false, "could not be asked", protocol.ByFault},
		"another answer":   {`"result":{"action":"accept","content":{"answer":"ALLOW"}}`, false, "could not be asked", protocol.ByFault},
		"two answers":      {`"result":{"action":"accept","content":{"answer":"refuse","answer":"allow"}}`, false, "could not be asked", protocol.ByFault},
		"a list":           {`"result":["accept"]`, false, "could not be asked", protocol.ByFault},
		"an error":         {`"error":{"code":-32601,"message":"no"}`, false, "could not be asked", protocol.ByFault},
		"nobody in time":   {"", false, "nobody answered in time", protocol.ByTimeout},
		"yes, and changed": {`"result":{"action":"accept","content":{"answer":"allow"}}`, true, "", protocol.ByPerson},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answered := make(chan *protocol.Answered, 1)
			s := newStage(t, asksAll)
			s.onOutcome = func(o *protocol.Outcome) {
				if o.Event.Event == protocol.PermissionRequest {
					answered <- o.Answered
				}
			}
			s.initialized(`{"elicitation":{}}`)
			args, want := `{"a" : 1.0}`, `{"a" : 1.0}`
			if strings.Contains(name, "changed") {
				args, want = `{"change" : 1.0}`, `{"change" : 1.0,"n":2}`
			}
			s.Say(s.Client, callLine("1", args))
			question := s.Next(s.ToClient)
			params := jsonspan.Get([]byte(question), "params")
			message := jsonspan.Text(jsonspan.Get(params, "message"))
			if !strings.Contains(message, "Tool: mcp__t__x\nArguments: "+strings.Replace(want, "change\" : ", "change\":", 1)+"\nAsked by: h\nReason: really?\\u202e") || jsonspan.Find(params, "/requestedSchema/properties/answer/enum") == nil {
				t.Error(question)
			}
			id := string(jsonspan.Get([]byte(question), "id"))
			response := `{"jsonrpc":"2.0","id":` + id + `,` + test.answer + `}`
			if test.answer == "" {
				if got := s.Next(s.ToClient); !strings.Contains(got, `"method":"notifications/cancelled","params":{"requestId":`+id) {
					t.Error(got)
				}
			} else {
				s.Say(s.Client, response)
			}
			if test.ran {
				s.Read(s.ToServer, callLine("1", want))
				s.Say(s.Server, fmt.Sprintf(ranResult, "1"))
			}
			got := s.Next(s.ToClient)
			if test.ran != strings.Contains(got, `"ran"`) || !strings.Contains(got, test.text) || test.ran == strings.Contains(got, `"isError":true`) {
				t.Error(got)
			}
			if by := <-answered; by == nil || by.By != test.by {
				t.Errorf("%+v", by)
			}
			s.Say(s.Client, response) // late, and once more: nobody reads it
			s.Say(s.Client, `{"jsonrpc":"2.0","method":"notifications/end"}`)
			s.Read(s.ToServer, `{"jsonrpc":"2.0","method":"notifications/end"}`)
		})
	}
}

// While a person is asked, other calls pass. A cancelled call takes its question back.
func TestOthersDoNotWaitForThePerson(t *testing.T) {
	s := newStage(t, dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		if jsonspan.Find(ev.Data, "/args/ask") != nil {
			return protocol.Reply{Action: protocol.Ask}, nil
		}
		return protocol.Reply{}, nil
	}))
	s.initialized(`{"elicitation":{"form":{},"url":{}}}`)
	s.Say(s.Client, callLine("1", `{"ask":1}`))
	id := s.asked()
	for _, n := range []string{"2", "3"} {
		s.Say(s.Client, callLine(n, `{}`))
		s.Read(s.ToServer, callLine(n, `{}`))
	}
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := s.Next(s.ToClient); !strings.Contains(got, `"method":"notifications/cancelled","params":{"requestId":`+id) {
		t.Error(got)
	}
	s.Say(s.Client, callLine("4", `{}`))
	s.Read(s.ToServer, callLine("4", `{}`)) // and nothing of the first
	for i := range mostQuestions {
		s.Say(s.Client, callLine(fmt.Sprint(10+i), `{"ask":1}`))
		s.asked()
	}
	s.Say(s.Client, callLine("99", `{"ask":1}`))
	if got := s.Next(s.ToClient); !strings.Contains(got, "too many questions") {
		t.Error(got)
	}
}

// Clients without forms are not asked, and neither is anybody about what cannot be shown.
func TestNobodyCanBeAsked(t *testing.T) {
	for capabilities, long := range map[string]bool{`{}`: false, `{"elicitation":{"url":{}}}`: false, `{"elicitation":true}`: false, `{"elicitation":{},"elicitation":{}}`: false, `{"elicitation":{}}`: true} {
		s := newStage(t, asksAll)
		refuses := make(chan bool, 2)
		s.onOutcome = func(o *protocol.Outcome) {
			if o.Event.Event == protocol.ToolCallStart {
				refuses <- protocol.RefusesAsk(o.Lost)
			}
		}
		s.initialized(capabilities)
		args, want := `{}`, "nobody can be asked here"
		if long {
			args, want = `{"x":"`+strings.Repeat("x", mostShown)+`"}`, "too long to be shown"
		}
		s.Say(s.Client, callLine("1", args))
		if got := s.Next(s.ToClient); !strings.Contains(got, want) {
			t.Errorf("%s: %s", capabilities, got)
		}
		if <-refuses == long { // of what cannot be shown the permission-request says it
			t.Errorf("%s: the record does not say what became of the ask", capabilities)
		}
	}
}

// Hooks may answer in the person's place, those of the asker's layer or a higher one.
func TestHooksAnswerForThePerson(t *testing.T) {
	for _, test := range []struct {
		layer  protocol.Layer
		action protocol.Action
		want   string
		server bool // reads it
	}{
		{protocol.User, protocol.Allow, `"tools/call"`, true},
		{protocol.Project, protocol.Allow, "elicitation/create", false},
		{protocol.Project, protocol.Block, "house rule", false},
	} {
		asks, answers := asksAll, dialogue.HookOn(protocol.PermissionRequest, func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{Action: test.action, Reason: "house rule", Context: "as ever"}, nil
		})
		asks.Layer, answers.Layer, answers.Name = protocol.User, test.layer, "answers"
		s := newStage(t, asks, answers)
		s.initialized(`{"elicitation":{}}`)
		s.Say(s.Client, callLine("1", `{}`))
		from := s.ToClient
		if test.server {
			from = s.ToServer
		}
		if got := s.Next(from); !strings.Contains(got, test.want) {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// A client of the newest revision is asked by a result, and makes the call again with the
// answer. The server sees the call as if nobody had been asked.
func TestPersonIsAskedByAResult(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
	call := func(id, more string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"x","arguments":{"a":1.0},` + meta + more + `}}`
	}
	for name, test := range map[string]struct{ answer, text string }{
		"yes":         {`{"action":"accept","content":{"answer":"allow"}}`, ""},
		"no":          {`{"action":"decline"}`, "denied by the person"},
		"no answer":   {"", "could not be asked"},
		"too late":    {"late", "nobody answered in time"},
		"other args":  {"other", "input_required"},
		"other state": {"state", "input_required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, asksAll)
			s.Say(s.Client, call("1", ""))
			result := jsonspan.Get([]byte(s.Next(s.ToClient)), "result")
			state := jsonspan.Get(result, "requestState")
			if jsonspan.Text(jsonspan.Get(result, "resultType")) != "input_required" || jsonspan.Text(jsonspan.Find(result, "/inputRequests/question/method")) != "elicitation/create" || !strings.Contains(string(result), "mcp__t__x") {
				t.Fatalf("%s", result)
			}
			again := call("2", `,"requestState":`+string(state)+`,"inputResponses":{"question":`+test.answer+`}`)
			switch test.answer {
			case "":
				again = call("2", `,"requestState":`+string(state))
			case "late":
				again = call("2", `,"requestState":`+string(state)+`,"inputResponses":{"question":{"action":"accept","content":{"answer":"allow"}}}`)
				for len(s.decided()) < 3 { // tool-call-start, tool-call-error, permission-request
					time.Sleep(5 * time.Millisecond)
				}
			case "other":
				again = strings.Replace(call("2", `,"requestState":`+string(state)+`,"inputResponses":{"question":{"action":"accept","content":{"answer":"allow"}}}`), "1.0", "7", 1)
			case "state":
				again = call("2", `,"requestState":"hookd-1","inputResponses":{"question":{"action":"accept","content":{"answer":"allow"}}}`)
			}
			s.Say(s.Client, again)
			if test.text == "" {
				s.Read(s.ToServer, call("2", ""))
				s.Say(s.Server, fmt.Sprintf(ranResult, "2"))
				s.Read(s.ToClient, fmt.Sprintf(ranResult, "2"))
				s.Say(s.Client, again) // the answer is to one call
				test.text = "input_required"
			}
			if got := s.Next(s.ToClient); !strings.Contains(got, test.text) || !strings.Contains(got, `"id":2`) {
				t.Error(got)
			}
		})
	}
}

// An answer that comes under an id in use is lost, and with it the question: it takes the place of no
// other one.
func TestQuestionsWhoseAnswersAreLost(t *testing.T) {
	e, err := executor.Static(asksAll)
	if err != nil {
		t.Fatal(err)
	}
	s := stageOf(t, e, func(o *Options) { o.AskTimeout = time.Hour })
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
	call := func(id, more string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"x",` + meta + more + `}}`
	}
	const used = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	s.Say(s.Client, used)
	s.Read(s.ToServer, used)
	for i := range 2 * mostQuestions {
		var state []byte
		for end := time.Now().Add(10 * time.Second); state == nil; time.Sleep(time.Millisecond) { // the last one ends a moment later
			s.Say(s.Client, call("1", ""))
			if state = jsonspan.Find([]byte(s.Next(s.ToClient)), "/result/requestState"); state == nil && time.Now().After(end) {
				t.Fatalf("question %d was not asked", i)
			}
		}
		s.Say(s.Client, call("2", `,"requestState":`+string(state)+`,"inputResponses":{"question":{"action":"accept","content":{"answer":"allow"}}}`))
		s.Has(s.ToClient, `"id":2,"error":`, "another request with this id")
	}
}
