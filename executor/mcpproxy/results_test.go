package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// run passes a call to the server and answers it.
func (s *stage) run(id, answer string) {
	s.T.Helper()
	s.Say(s.Client, callLine(id, "{}"))
	s.Read(s.ToServer, callLine(id, "{}"))
	s.Say(s.Server, answer)
}

// Hooks judge results and errors. What they withhold nobody reads, nor what they cannot read.
func TestResults(t *testing.T) {
	end := dialogue.HookOn(protocol.ToolCallEnd, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		data, err := protocol.ReadData[protocol.ToolCallEndData](ev)
		switch text := data.Result.Content.Text(); {
		case strings.Contains(text, "secret"):
			return protocol.BlockReply("that is a secret"), err
		case strings.Contains(text, "crash"):
			return protocol.Reply{}, errors.New("crash")
		case strings.Contains(text, "stop"):
			return protocol.StopReply("enough"), err
		}
		return protocol.Reply{Context: "seen"}, err
	})
	failed := dialogue.HookOn(protocol.ToolCallError, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		return protocol.ModifyData(ev, func(data *protocol.ToolCallErrorData) error {
			data.Error.Text = "hidden"
			return nil
		})
	})
	s := newStage(t, end, failed)
	ok := func(rest string) string { return `{"jsonrpc":"2.0","id":1,"result":{"content":[` + rest } // kept bytes
	refused := func(text string) string {
		return `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + text + `"}],"isError":true}}`
	}
	for name, test := range map[string]struct{ answer, want string }{
		"passes":         {ok(`{"type":"text","text":"a"}],"n":1.0}}`), ok(`{"type":"text","text":"a"},{"type":"text","text":"[context from hook h]\nseen"}],"n":1.0}}`)},
		"withheld":       {ok(`{"type":"text","text":"a secret"}],"structuredContent":{"s":"secret"}}}`), refused("that is a secret")},
		"not in text":    {ok(`],"structuredContent":{"s":"secret"}}}`), refused("that is a secret")},
		"not judged":     {ok(`{"type":"text","text":"crash"}]}}`), refused("blocked: the check h could not be made (exit)")},
		"stop keeps it":  {ok(`{"type":"text","text":"stop"}]}}`), ok(`{"type":"text","text":"stop"}]}}`)},
		"two readings":   {ok(`{"type":"text","text":"secret","text":"a"}]}}`), refused("hidden")},
		"no task at all": {`{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":7}}`, refused("hidden")},
		"half a pair":    {ok(`{"type":"text","text":"\ud800"}]}}`), ok(`{"type":"text","text":"\ufffd"},{"type":"text","text":"[context from hook h]\nseen"}]}}`)},
		"an error":       {`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"a path","data":[1.0]}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"hidden","data":[1.0]}}`},
	} {
		s.run("1", test.answer)
		if got := s.Next(s.ToClient); got != test.want && !sameText(got, test.want) {
			t.Errorf("%s:\n got  %s\n want %s", name, got, test.want)
		}
	}
}

// A hook may give the content of a result as one text, in place of the server and in place of
// what the server gave.
func TestContentThatIsOneText(t *testing.T) {
	const given = `{"content":"one text","isError":false}`
	gives := func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		if ev.Event == protocol.ToolCallStart {
			return protocol.Reply{Action: protocol.Modify, Result: protocol.RawMessage(given)}, nil
		}
		return protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"result":` + given + `}`)}, nil
	}
	for event, want := range map[protocol.EventName]string{protocol.ToolCallStart: `{"content":[{"type":"text","text":"one text"}]}`, protocol.ToolCallEnd: `{"content":[{"type":"text","text":"one text"}],"n":1.0}`} {
		s := newStage(t, dialogue.HookOn(event, gives))
		s.Say(s.Client, callLine("1", "{}"))
		if event == protocol.ToolCallEnd {
			s.Next(s.ToServer)
			s.Say(s.Server, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"n":1.0}}`)
		}
		s.Read(s.ToClient, `{"jsonrpc":"2.0","id":1,"result":`+want+`}`)
	}
}

// sameText reports whether two lines differ only in how a character is written.
func sameText(a, b string) bool {
	return jsonspan.Canonical([]byte(a)) == jsonspan.Canonical([]byte(b))
}

// An answer to no request, a second answer, and one before the call was passed on are not
// passed on: nobody judged them.
func TestAnswersToNothing(t *testing.T) {
	judge := make(chan struct{})
	s := newStage(t, dialogue.HookOn(protocol.ToolCallStart, func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
		if data, _ := protocol.ReadData[protocol.ToolCallStartData](ev); data.ToolCallID == "2" {
			<-judge
		}
		return protocol.Reply{}, nil
	}))
	const early = `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"early"}]}}`
	s.Say(s.Server, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
	s.run("1", `{"jsonrpc":"2.0","id":1.0,"result":{"content":[]}}`)
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":1.0,"result":{"content":[]}}`) // the same number
	s.Say(s.Client, callLine("2", "{}"))
	s.Say(s.Client, `{"jsonrpc":"2.0","id":"p","method":"ping"}`) // after it was read
	s.Next(s.ToServer)
	s.Say(s.Server, early)
	s.Say(s.Server, `{"jsonrpc":"2.0","id":"2","result":{"content":[]}}`) // a text is no number
	s.Say(s.Server, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	close(judge)
	s.Read(s.ToServer, callLine("2", "{}"))
	s.Say(s.Server, `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`)
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`)
	s.Say(s.Client, callLine("3", "{}"))
	s.Say(s.Client, callLine("3", "{}"))
	if got := s.Next(s.ToClient); !strings.Contains(got, "has no answer yet") {
		t.Errorf("the second request of an id: %s", got)
	}
}

// A call that its server asks to be sent again is judged once, and goes on with the args that
// hooks gave it.
func TestCallsThatNeedInput(t *testing.T) {
	asked := 0
	s := newStage(t, dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		asked++
		return protocol.ModifyArgs(ev, func(args *map[string]any) error {
			(*args)["b"] = true
			return nil
		})
	}))
	again := func(id, args, state string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"x","arguments":` + args + `,"inputResponses":{"k":{}},"requestState":` + state + `}}`
	}
	const needs = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"k":{}},"requestState":"s"}}`
	s.Say(s.Client, callLine("1", `{"a":1.0}`))
	s.Read(s.ToServer, callLine("1", `{"a":1.0,"b":true}`))
	s.Say(s.Server, needs)
	s.Read(s.ToClient, needs)
	s.Say(s.Client, again("2", `{"a":1.0}`, `"s"`))
	s.Read(s.ToServer, again("2", `{"a":1.0,"b":true}`, `"s"`))
	if asked != 1 {
		t.Errorf("hooks were asked %d times", asked)
	}
	for i, line := range []string{again("3", `{"a":1.0}`, `"s"`), again("4", `{"a":2}`, `"s"`), again("5", `{"a":1.0}`, `"other"`)} {
		s.Say(s.Client, line) // each a call of its own
		s.Next(s.ToServer)
		if asked != i+2 {
			t.Errorf("%s was not judged", line)
		}
	}
}

// A call that goes on reaches the server in the one way in which it was judged.
func TestCallsThatGoOnAreReadInOneWay(t *testing.T) {
	s := newStage(t)
	s.Say(s.Client, callLine("1", `{"a":"\ud800"}`))
	s.Read(s.ToServer, callLine("1", `{"a":"\ufffd"}`))
	s.Say(s.Server, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}`)
	s.Next(s.ToClient)
	again := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{"a":"\ud800"},"requestState":"s"}}`
	s.Say(s.Client, again)
	s.Read(s.ToServer, strings.Replace(again, "d800", "fffd", 1))
}

// The result of a call is not taken for the answer to a request whose id is the same number in
// other digits: servers answer with the number that they read.
func TestIDsThatAreOneNumber(t *testing.T) {
	for _, ids := range [][3]string{{"1e0", "1", "1"}, {"9007199254740993", "9007199254740992", "9007199254740992"}, {"-0", "0.0", "0"}} {
		s := newStage(t, dialogue.HookOn(protocol.ToolCallEnd, func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.BlockReply("secret"), nil
		}))
		s.Say(s.Client, callLine(ids[0], `{}`))
		s.Next(s.ToServer)
		s.Say(s.Client, `{"jsonrpc":"2.0","id":`+ids[1]+`,"method":"ping"}`)
		if got := s.Next(s.ToClient); !strings.Contains(got, "has no answer yet") {
			t.Errorf("%s: %s", ids[1], got)
		}
		s.Say(s.Server, `{"jsonrpc":"2.0","id":`+ids[2]+`,"result":{"content":[{"type":"text","text":"key"}]}}`)
		if got := s.Next(s.ToClient); !strings.Contains(got, `"text":"secret"`) {
			t.Errorf("%s: %s", ids[2], got)
		}
	}
}

// The conversations of real hosts pass byte for byte, calls that nobody judges included.
func TestConversationsOfHosts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newStage(t)
			calls := 0
			for line := range strings.Lines(string(text)) {
				message := string(jsonspan.Get([]byte(line), "m"))
				if jsonspan.Text(jsonspan.Get([]byte(line), "dir")) == "client>server" {
					s.Say(s.Client, message)
					s.Read(s.ToServer, message)
					if strings.Contains(message, `"tools/call"`) {
						calls++
					}
					continue
				}
				s.Say(s.Server, message)
				s.Read(s.ToClient, message)
			}
			s.End(proxied.ErrClosed) // in one recording in the middle of a call
			s.Done <- <-s.Done
			if decided := len(s.decided()); calls == 0 || decided != 2*calls {
				t.Errorf("%d events of %d calls: %q", decided, calls, s.decided())
			}
		})
	}
}

// Many calls leave no goroutine and no memory in use.
func TestManyCalls(t *testing.T) {
	count := 500
	if given, err := strconv.Atoi(os.Getenv("CALLS")); err == nil {
		count = given // CALLS=10000 go test ./executor/mcpproxy -run ManyCalls
	}
	s := newStage(t)
	go func() {
		for i := 1; i <= count; i++ {
			if s.Next(s.ToServer) == "EOF" {
				return
			}
			fmt.Fprintf(s.Server, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}`+"\n", i, strings.Repeat("x", 1000))
		}
	}()
	heap := func() uint64 {
		s.mu.Lock()
		s.events = nil
		s.mu.Unlock()
		return dialogue.Heap()
	}
	before := uint64(0)
	for i := 1; i <= count; i++ {
		s.Say(s.Client, callLine(fmt.Sprint(i), `{"text":"`+strings.Repeat("y", 1000)+`"}`))
		if got := s.Next(s.ToClient); !strings.HasPrefix(got, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, i)) {
			t.Fatal(got)
		}
		if i == count/5 {
			before = heap()
		}
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("%d calls left %d bytes", count*4/5, after-before)
	}
}
