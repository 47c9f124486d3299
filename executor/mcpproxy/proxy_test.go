package mcpproxy

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/argschema"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// stage is a proxy between a client and a server that are the test.
type stage struct {
	dialogue.Lines
	*dialogue.Sides
	notes dialogue.Notes

	mu     sync.Mutex
	events []string // decided, as "event tool action"

	onOutcome func(*protocol.Outcome)
}

func readSchema(written []byte) (ArgSchema, error) {
	return argschema.Compile(argschema.WithoutForeignPatterns(written))
}

func newStage(t *testing.T, hooks ...protocol.GoHook) *stage {
	t.Helper()
	e, err := executor.Static(hooks...)
	if err != nil {
		t.Fatal(err)
	}
	return stageOf(t, e)
}

func stageOf(t *testing.T, e *executor.Executor, change ...func(*Options)) *stage {
	t.Helper()
	s := &stage{Lines: dialogue.Lines{T: t}}
	s.Sides = dialogue.Between(t, e, func(ctx context.Context, client relay.Stream, server *proxied.Process) error {
		o := Options{
			Hooks: dialogue.Gate{Executor: e}, Server: "t", Session: "s", Cwd: "/", Patience: 50 * time.Millisecond, Limit: 1 << 20, AskTimeout: 300 * time.Millisecond, ReadSchema: readSchema,
			Tell: s.tell, Note: s.notes.Add,
		}
		for _, change := range change {
			change(&o)
		}
		return Run(ctx, client, server, o)
	})
	return s
}

func (s *stage) tell(o *protocol.Outcome) {
	if s.onOutcome != nil {
		s.onOutcome(o)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, fmt.Sprintf("%s %s %s", o.Event.Event, jsonspan.Text(jsonspan.Get(o.Event.Data, "toolCallId")), o.Action))
}

func (s *stage) decided() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.events...)
}

func callLine(id, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"x","arguments":` + args + `}}`
}

// What no hook changed passes byte for byte, both ways, in the order in which it came.
func TestBytesPass(t *testing.T) {
	s := newStage(t)
	odd := []string{
		` {"jsonrpc" : "2.0","method":"notifications/x","params":{"n":12345678901234567890,"a":1,"a":2,"\u0061b":"\u003c\/"},"unknown":[1.0,1e2]}`,
		`{"id":"a-1","jsonrpc":"2.0","method":"resources/subscribe","params":{"uri":"x","n":-0.0}}`,
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/y\",\"params\":{\"bad\":\"\xff\"}}",
		`{"jsonrpc":"2.0","id":101,"result":{"action":"decline"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{"n":12345678901234567890, "s":"\u0061"},"_meta":{"progressToken":1,"k":9007199254740993},"name":"x"}}`,
		`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"x","arguments":null}}`,
	}
	go func() {
		for _, line := range odd {
			s.Say(s.Client, line)
		}
	}()
	for _, line := range odd {
		s.Read(s.ToServer, line)
	}
	answers := []string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":9007199254740993}}`,
		`{"result":{"x":12345678901234567890},"id":"a-1","jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":7,"result":{ "content":[{"type":"text","text":"\u0061","annotations":{"n":1e3}}] , "structuredContent":{"n":9007199254740993}}}`,
	}
	go func() {
		for _, line := range answers {
			s.Say(s.Server, line)
		}
	}()
	for _, line := range answers {
		s.Read(s.ToClient, line)
	}
}

// A refusal is a result that the model can read, and the server never sees the call.
func TestRefusedCall(t *testing.T) {
	s := newStage(t, dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		args, err := protocol.ReadArgs[struct {
			Do string `json:"do"`
		}](ev)
		switch {
		case args.Do == "block":
			return protocol.BlockReply("not that"), err
		case args.Do == "ask":
			return protocol.AskReply("really?"), err
		case args.Do == "stop":
			return protocol.StopReply("enough"), err
		case args.Do == "fail":
			return protocol.Reply{}, context.DeadlineExceeded
		case args.Do == "replace":
			return protocol.ResultReply(protocol.Result{Content: protocol.TextContent("mine")})
		}
		return protocol.ModifyArgs(ev, func(args *struct {
			Do string `json:"do"`
		}) error {
			args.Do = "changed"
			return nil
		})
	}))
	result := func(id, text string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"` + text + `"}],"isError":true}}`
	}
	for do, want := range map[string]string{
		"block": "not that", "stop": "enough", "fail": "blocked: the check h could not be made (exit)",
		"ask": "not allowed: a person has to decide this, and nobody can be asked here: really?",
	} {
		s.Say(s.Client, callLine("1", `{"do":"`+do+`"}`))
		s.Read(s.ToClient, result("1", want))
	}
	s.Say(s.Client, callLine("2", `{"do":"replace"}`))
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"mine"}]}}`)
	s.Say(s.Client, callLine(`"3"`, `{ "n":12345678901234567890 , "do":"run"}`))
	s.Read(s.ToServer, callLine(`"3"`, `{ "n":12345678901234567890 , "do":"changed"}`))
	s.Say(s.Client, callLine("5", "null"))
	s.Read(s.ToServer, callLine("5", `{"do":"changed"}`))
	s.Say(s.Client, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"name":"x","arguments":{"do":"block"}}}`)
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"not that"}],"isError":true,"resultType":"complete"}}`)
}

// A call that hooks and the server could read in two ways is refused, from the client and from the server.
func TestAmbiguousCalls(t *testing.T) {
	s := newStage(t)
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1,"a":2}}}`: "has a member twice",
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"x"}}`:           `has the member \"method\" twice`,
		`{"jsonrpc":"2.0","id":1,"Method":"tools/call","method":"ping","params":{"name":"x"}}`:           `which some programs take for \"method\"`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","Arguments":{}}}`:            "which some programs take for arguments",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":[1]}}`:           "not an object",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}`:                       "names no tool",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x\u0000y"}}`:                    "where some programs take it to end",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","name\u0000":"y"}}`:          "take to end at the NUL",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call\u0000","params":{"name":"x"}}`:                     "where some programs take it to end",
		`{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"x"}}`:                           "which some programs take for tools/call",
		`{"jsonrpc":"2.0","id":1,"method":"tools\/call\t","params":{"name":"x"}}`:                        "which some programs take for tools/call",
		`{"jsonrpc":"2.0","id":1,"method":"Resources/read","params":{"uri":"x"}}`:                        "which some programs take for resources/read",
		`{"jsonrpc":"2.0","id":1,"method":"ping","method\u0000":"tools/call"}`:                           "take to end at the NUL",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                                                 "has no params",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"},"result":{}}`:               "a request and an answer",
		`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"x"}}`:                        "neither text nor a number",
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                                                      "neither text nor a number",
		`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}]`:                         "batches are no part",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}`:                            "not valid JSON",
		`"tools/call"`: "which is an object",
	} {
		s.Say(s.Client, line)
		if got := s.Next(s.ToClient); !strings.Contains(got, want) || !strings.Contains(got, `"error"`) {
			t.Errorf("%s\n got %s, not with %q", line, got, want)
		}
	}
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}`) // nobody would read its result
	s.Say(s.Client, `{"jsonrpc":"2.0","id":5,"method":"ping"}`)
	s.Read(s.ToServer, `{"jsonrpc":"2.0","id":5,"method":"ping"}`) // the first that the server reads
}

// A message with carriage returns between its tokens is several to a program that ends its
// lines there, as servers in Python and Node do. It stays one on its way, in both directions.
func TestNoMessageHidesAnotherFromWhoEndsLinesAtCarriageReturns(t *testing.T) {
	s := newStage(t)
	hidden := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}`
	s.Say(s.Client, "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":\r"+hidden+"\r}\r")
	s.Read(s.ToServer, `{"jsonrpc":"2.0","method":"n","params":`+hidden+`}`)
	s.Say(s.Client, callLine("1", "{\"a b\":\r"+hidden+"\r}"))
	s.Read(s.ToServer, callLine("1", `{"a b":`+hidden+`}`))
	s.Say(s.Server, "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":\r{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r}")
	s.Read(s.ToClient, `{"jsonrpc":"2.0","method":"n","params":{"jsonrpc":"2.0","id":1,"result":{}}}`)
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"m"}`+"\r") // the end of a line as Windows writes it
	s.Read(s.ToServer, `{"jsonrpc":"2.0","method":"m"}`+"\r")
}

// Hooks are asked about several calls at once, which reach the server in the order in which
// the client sent them. What is no call does not wait, and a call that waits can be cancelled.
func TestOrderOfCalls(t *testing.T) {
	first, asked := make(chan struct{}), make(chan string, 4)
	s := newStage(t, dialogue.HookOn(protocol.ToolCallStart, func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
		data, err := protocol.ReadData[protocol.ToolCallStartData](ev)
		asked <- data.ToolCallID
		if data.ToolCallID == "1" || data.ToolCallID == "3" {
			select {
			case <-first:
			case <-ctx.Done():
				return protocol.Reply{}, ctx.Err()
			}
		}
		return protocol.Reply{}, err
	}))
	for _, id := range []string{"1", "2", "3"} {
		s.Say(s.Client, callLine(id, "{}"))
	}
	got := map[string]bool{<-asked: true, <-asked: true, <-asked: true}
	if len(got) != 3 {
		t.Fatalf("asked about %v", got)
	}
	s.Say(s.Client, `{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	s.Read(s.ToServer, `{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	s.Say(s.Client, callLine("4", "{}"))
	<-asked
	close(first)
	for _, id := range []string{"1", "2", "4"} {
		s.Read(s.ToServer, callLine(id, "{}"))
	}
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	s.Read(s.ToServer, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	s.Say(s.Server, `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`) // too late, and judged by nobody
	s.Say(s.Server, `{"jsonrpc":"2.0","id":4,"result":{"content":[]}}`)
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":4,"result":{"content":[]}}`)
	s.eventually(`tool-call-error 3 `, `tool-call-error 2 `, "tool-call-end 4 ")
}

// eventually waits for decided events that begin so.
func (s *stage) eventually(want ...string) {
	s.T.Helper()
	for _, w := range want {
		found := false
		for began := time.Now(); !found && time.Since(began) < 5*time.Second; time.Sleep(time.Millisecond) {
			for _, e := range s.decided() {
				found = found || strings.HasPrefix(e, w)
			}
		}
		if !found {
			s.T.Errorf("no event %s: %q", w, s.decided())
		}
	}
}

// A message does not overtake what came before it, however much that is.
func TestOrderHoldsBehindAFlood(t *testing.T) {
	s := newStage(t)
	const count = 5000
	s.Say(s.Client, callLine("1", "{}"))
	s.Next(s.ToServer)
	go func() {
		for i := range count {
			fmt.Fprintf(s.Server, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":%d}}`+"\n", i)
		}
		s.Say(s.Server, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`)
		s.Say(s.Server, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	}()
	for i := range count {
		s.Read(s.ToClient, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":%d}}`, i))
	}
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`)
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
}

// When the server ends, a client that waits for an answer gets one.
func TestServerEnds(t *testing.T) {
	s := newStage(t)
	s.Say(s.Client, callLine("1", "{}"))
	s.Next(s.ToServer)
	s.Say(s.Client, `{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	s.Next(s.ToServer)
	began := time.Now()
	s.Exit()
	s.Server.Close()
	got := s.Next(s.ToClient) + s.Next(s.ToClient)
	for _, id := range []string{"1", `"p"`} {
		if !strings.Contains(got, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32000,"message":"hookd: the MCP server has ended: exit code 3"}}`) {
			t.Errorf("%s: %s", id, got)
		}
	}
	s.eventually("tool-call-error 1 ")
	if err := <-s.Done; err != nil || time.Since(began) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	s.Done <- nil
}

// When the client ends, what it sent still reaches the server, whose answers still come.
func TestClientEnds(t *testing.T) {
	s := newStage(t, dialogue.HookOn(protocol.ToolCallStart, func(context.Context, *protocol.Event) (protocol.Reply, error) {
		time.Sleep(20 * time.Millisecond)
		return protocol.Reply{}, nil
	}))
	s.Say(s.Client, callLine("1", "{}"))
	s.Client.Close()
	s.Read(s.ToServer, callLine("1", "{}"))
	if got := s.Next(s.ToServer); got != "EOF" {
		t.Errorf("the server reads %s", got)
	}
	s.Say(s.Server, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	began := time.Now() // the server does not end by itself
	if err := <-s.Done; err != nil || time.Since(began) > time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	s.Done <- nil
	<-s.Exited
}
