package mcpproxy

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// withholds is a hook that withholds what it reads a secret in.
func withholds(event protocol.EventName) protocol.GoHook {
	return dialogue.HookOn(event, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		if strings.Contains(string(ev.Data), "SECRET") {
			return protocol.BlockReply("that is a secret"), nil
		}
		return protocol.Reply{}, nil
	})
}

// A result that some client could take for another one than hooks read is withheld.
func TestResultsThatHideAnother(t *testing.T) {
	const hidden = `[{"type":"text","text":"SECRET"}]`
	s := newStage(t, withholds(protocol.ToolCallEnd))
	for _, rest := range []string{
		`"result":{"content":[]},"error":{"code":1,"message":"SECRET"}`,
		`"result":{"content":` + hidden + `},"error":null`,
		`"error":null,"result":{"content":` + hidden + `}`,
		`"result":{"resultType":"input_required","content":` + hidden + `}`,
		`"result":{"resultType":"input_required","structuredContent":{"a":"SECRET"}}`,
		`"result":{"resultType":"input_required","resultType":"complete","content":` + hidden + `}`,
		`"result":{"resultType":"later","output":` + hidden + `}`,
		`"result":{"resultType":"later","content":[],"output":` + hidden + `}`,
		`"result":{"resultType":"Task","taskId":"q","output":` + hidden + `}`,
		`"result":{"resultType":7,"output":` + hidden + `}`,
		`"result":{"resultType":["task"],"taskId":"q","output":` + hidden + `}`,
		`"result":{"resultType":"task","taskId":"q","content":` + hidden + `}`,
		`"result":{"resultType":"task","taskId":"q","toolResult":"SECRET"}`,
		`"result":{"resultType":"task","taskId":"q","status":"completed","result":{"content":` + hidden + `}}`,
		`"result":{"resultType":"task","taskId":"q","status":"completed","Result":{"content":` + hidden + `}}`,
		`"result":{"task":{"taskId":"z"},"structuredContent":{"a":"SECRET"}}`,
		`"result":{"Content":` + hidden + `}`,
		`"result":{"\u0063ontent":` + hidden + `}`,
		`"result":{"content\u0000":` + hidden + `}`,
		`"result":{"content":[],"StructuredContent":{"a":"SECRET"}}`,
		`"result":{"content":[],"toolResult":"SECRET"}`,
		`"result":{"content":"SECRET"}`,
		`"result":{"content":{"type":"text","text":"SECRET"}}`,
		`"result":"SECRET"`,
		`"result":["SECRET"]`,
		`"result":{"content":["SECRET"]}`,
		`"result":{"content":[{"type":"text","text":"a","Text":"SECRET"}]}`,
		`"result":{"content":[{"type":"text","text":"a","blob":"SECRET"}]}`,
		`"result":{"content":[{"type":"image","data":"","mimeType":"image/png","text":"SECRET"}]}`,
		`"result":{"content":[{"type":"resource","resource":{"uri":"a","text":"a","blob":"SECRET"}}]}`,
		`"result":{"content":[{"type":"resource","resource":{"uri":"a","text":"a","Text":"SECRET"}}]}`,
		`"result":{"content":[{"type":"resource","text":"SECRET","resource":{"uri":"a","text":"a"}}]}`,
	} {
		s.run("1", `{"jsonrpc":"2.0","id":1,`+rest+`}`)
		if got := s.Next(s.ToClient); strings.Contains(got, "SECRET") || !strings.Contains(got, `"isError":true`) && !strings.Contains(got, `"error":{`) {
			t.Errorf("%s: %s", rest, got)
		}
	}
}

// What older, newer and careless servers write all the same passes as it is.
func TestResultsThatHideNothing(t *testing.T) {
	s := newStage(t, withholds(protocol.ToolCallEnd))
	for _, rest := range []string{
		`"result":{"content":null,"structuredContent":null,"isError":false}`,
		`"result":{"content":[{"type":"text","text":"a","data":{"n":1},"mimeType":"text/plain","annotations":{}}],"x":1.0},"error":null`,
		`"result":{"content":[{"type":"resource","resource":{"uri":"a","blob":"YQ==","text":null}},{"type":"Text","Text":"a"},7]}`,
		`"result":{"resultType":"input_required","content":[],"inputRequests":{}}`,
		`"result":{"resultType":"task","taskId":"q","content":[],"result":null,"error":null}`,
		`"result":{"resultType":null,"content":[{"type":"text","text":"a"}]}`,
		`"result":{"resultType":"complete","content":[{"type":"text","text":"a"}]}`,
		`"result":{"task":{"taskId":"q"},"content":[]}`,
		`"result":{"task":null,"content":[{"type":"text","text":"a"}],"toolResult":null}`,
	} {
		s.run("1", `{"jsonrpc":"2.0","id":1,`+rest+`}`)
		s.Read(s.ToClient, `{"jsonrpc":"2.0","id":1,`+rest+`}`)
	}
}

// What hooks change of an error that could be read in two ways takes its place.
func TestErrorsThatHideAnother(t *testing.T) {
	s := newStage(t, dialogue.HookOn(protocol.ToolCallError, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		return protocol.ModifyData(ev, func(data *protocol.ToolCallErrorData) error {
			if strings.Contains(data.Error.Text, "SECRET") {
				data.Error.Text = "hidden"
			}
			return nil
		})
	}))
	for problem, want := range map[string]string{
		`{"code":7,"message":"SECRET","data":1.0}`:    `{"code":7,"message":"hidden","data":1.0}`,
		`{"code":7,"message":"SECRET \ud800"}`:        `{"code":7,"message":"hidden"}`,
		`{"code":7,"message":"a","message":"SECRET"}`: `{"code":-32000,"message":"hidden"}`,
		`{"code":7,"message":"a","Message":"SECRET"}`: `{"code":-32000,"message":"hidden"}`,
		"{\"code\":7,\"message\":\"SECRET \xff\"}":    `{"code":-32000,"message":"hidden"}`,
		`"SECRET"`:                        `{"code":-32000,"message":"hidden"}`,
		`{"code":7,"message":["SECRET"]}`: `{"code":-32000,"message":"hidden"}`,
		"{\"code\":7,\"message\":\"a \xff\",\"n\":1.0}": "{\"code\":7,\"message\":\"a \xff\",\"n\":1.0}",
	} {
		s.run("1", `{"jsonrpc":"2.0","id":1,"error":`+problem+`}`)
		s.Read(s.ToClient, `{"jsonrpc":"2.0","id":1,"error":`+want+`}`)
	}
}

// A result of a type that hookd does not know passes as it is where no hook judges results.
func TestResultsOfLaterTypes(t *testing.T) {
	s := newStage(t)
	for _, result := range []string{`{"resultType":"later","output":1.0}`, `{"resultType":7,"content":[]}`} {
		s.run("1", `{"jsonrpc":"2.0","id":1,"result":`+result+`}`)
		s.Read(s.ToClient, `{"jsonrpc":"2.0","id":1,"result":`+result+`}`)
	}
}

// An error that comes as the connection ends is withheld from the client where hooks may change such
// errors, or it is as a hook that was still asked has left it.
func TestErrorsThatWereNotJudged(t *testing.T) {
	changes := dialogue.HookOn(protocol.ToolCallError, func(context.Context, *protocol.Event) (protocol.Reply, error) {
		return protocol.Reply{Action: protocol.Modify, Changes: []byte(`{"error":{"text":"changed"}}`)}, nil
	})
	watches := dialogue.HookOn(protocol.ToolCallError, func(context.Context, *protocol.Event) (protocol.Reply, error) {
		return protocol.Reply{}, nil
	})
	watches.Can = protocol.CanObserve
	for _, test := range []struct {
		hook protocol.GoHook
		want []string
	}{
		{changes, []string{`"message":"hookd: the error was withheld: `, `"message":"changed"`}},
		{watches, []string{`"message":"SECRET"`}},
	} {
		e, err := executor.Static(test.hook)
		if err != nil {
			t.Fatal(err)
		}
		life, end := context.WithCancelCause(context.Background())
		g := newGuard(life, &Options{Hooks: dialogue.Gate{Executor: e}, Server: "t", Session: "s", Cwd: "/"})
		read, fault := relay.Read([]byte(callLine("1", "{}")))
		if fault != nil {
			t.Fatal(fault)
		}
		c, err := g.newCall(read, &proxied.Request[kept]{ID: read.ID}, methodOf(read.Method))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.told.Start(life)(); err != nil {
			t.Fatal(err)
		}
		end(proxied.ErrClosed)
		problem := protocol.RawMessage(`{"code":7,"message":"SECRET"}`)
		for range 2 { // before and after the call has ended for hooks
			got := c.judgeError(problem)
			if got == nil {
				got = problem
			}
			if !slices.ContainsFunc(test.want, func(text string) bool { return strings.Contains(string(got), text) }) {
				t.Errorf("%q: %s", test.want, got)
			}
		}
	}
}
