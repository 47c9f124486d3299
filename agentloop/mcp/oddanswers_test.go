package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// oddly answers a call in a way that servers do answer: the line that it
// returns, ID in place of the request's id.
var oddly = map[string]string{
	"logs text":             "[INFO] ready\n" + `{"jsonrpc":"2.0","id":ID,"result":RESULT}`,
	"logs JSON":             `{"level":"info","msg":"called","id":7}` + "\n" + `{"jsonrpc":"2.0","id":ID,"result":RESULT}`,
	"logs a list":           `["a",{"b":1}]` + "\n" + `{"jsonrpc":"2.0","id":ID,"result":RESULT}`,
	"logs half an object":   `{"level":"info",` + "\n" + `{"jsonrpc":"2.0","id":ID,"result":RESULT}`,
	"logs what it sends":    `[DEBUG] -> {"jsonrpc":"2.0","id":ID}` + "\n" + `{"jsonrpc":"2.0","id":ID,"result":RESULT}`,
	"an id of another kind": `{"id":"job-1","result":"done","level":"info"}` + "\n" + `{"jsonrpc":"2.0","id":ID,"result":RESULT}`,
	"blank lines and a BOM": "\n \r\n\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":ID,"result":RESULT}` + "\r",
	"two in a line":         `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}} {"jsonrpc":"2.0","id":ID,"result":RESULT}`,
	"a string for its id":   `{"jsonrpc":"2.0","id":"ID","result":RESULT}`,
	"a float for its id":    `{"jsonrpc":"2.0","id":ID.0,"result":RESULT}`,
	"another id":            `{"jsonrpc":"2.0","id":"abc","result":RESULT}`,
	"an id to come":         `{"jsonrpc":"2.0","id":987654,"result":RESULT}`,
	"no id, an error":       `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`,
	"no member id":          `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`,
	"an error that is text": `{"jsonrpc":"2.0","id":ID,"error":"broken"}`,
	"neither":               `{"jsonrpc":"2.0","id":ID}`,
	"both":                  `{"jsonrpc":"2.0","id":ID,"result":null,"error":{"code":3,"message":"no"}}`,
	"twice":                 `{"jsonrpc":"2.0","id":ID,"result":RESULT}` + "\n" + `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"late"}]}}`,
	"no tag":                `{"id":ID,"result":RESULT}`,
	"an old tag":            `{"jsonrpc":"1.0","id":ID,"result":RESULT}`,
	"half a message":        `{"jsonrpc":"2.0","id":ID,"res`,
	"a message and more":    `{"jsonrpc":"2.0","id":ID,"result":RESULT}[INFO] sent`,
}

// odd is a server that answers calls of its only tool oddly.
func odd(kind string) func(request) string {
	return func(r request) string {
		line := legacy("2025-06-18")(r)
		switch {
		case r.Method == "tools/call":
			line = strings.ReplaceAll(oddly[kind], "ID", string(r.ID))
			return strings.ReplaceAll(line, "RESULT", `{"content":[{"type":"text","text":"seen"}]}`)
		case line == "" && len(r.ID) > 0:
			return `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"unknown"}}`
		}
		return line
	}
}

// TestOddAnswers: what a server writes besides messages does not end it, and no
// call waits for an answer that has come already: it is found or refused at
// once. A person is told once.
func TestOddAnswers(t *testing.T) {
	const ended = "failed: the MCP server t gave no result: "
	chatter := func(text string) string {
		return "t writes other text than messages to its stdout, which is passed over: " + text
	}
	for kind, want := range map[string]struct{ answer, told string }{
		"logs text":             {"seen", chatter("[INFO] ready")},
		"logs JSON":             {"seen", chatter(`{"level":"info"`)},
		"logs a list":           {"seen", chatter(`["a",{"b":1}]`)},
		"logs half an object":   {"seen", chatter(`{"level":"info",`)},
		"logs what it sends":    {"seen", chatter(`[DEBUG] -> {"jsonrpc"`)},
		"an id of another kind": {"seen", chatter(`{"id":"job-1", …}`)},
		"blank lines and a BOM": {"seen", ""},
		"two in a line":         {"seen", ""},
		"a string for its id":   {"seen", ""},
		"a float for its id":    {"seen", ""},
		"another id":            {`failed: the MCP server t refused the call: its answer has the id "abc", and the request had `, ""},
		"an id to come":         {`failed: the MCP server t refused the call: its answer has the id 987654, and the request had `, ""},
		"no id, an error":       {"failed: the MCP server t refused the call: Parse error (code -32700)", ""},
		"no member id":          {"failed: the MCP server t refused the call: Parse error (code -32700)", ""},
		"an error that is text": {`failed: the MCP server t refused the call: "broken" (code -32603)`, ""},
		"neither":               {"failed: the MCP server t refused the call: its answer has neither a result nor an error (code -32603)", ""},
		"both":                  {"failed: the MCP server t refused the call: no (code 3)", ""},
		"twice":                 {"seen", "t answers a request twice (id "},
		"no tag":                {ended + `it wrote a message without "jsonrpc":"2.0": {"id":`, "t has ended: "},
		"an old tag":            {ended + `it wrote a line that is no message of MCP (jsonrpc is "1.0", not "2.0")`, "t has ended: "},
		"half a message":        {ended + "it wrote a line that is no message of MCP (", "t has ended: "},
		"a message and more":    {ended + "it wrote a line that is no message of MCP (", "t has ended: "},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newSetUp(t)
			call := find(t, s.connect(t, itself(t, "odd:"+kind)), "mcp__t__old")
			for range 2 {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if got := text(t, call, ctx, `{}`); !strings.HasPrefix(got, want.answer) {
					t.Errorf("%q, want %q", got, want.answer)
				}
				if strings.HasPrefix(want.answer, ended) {
					break // it is started again
				}
			}
			if want.told != "" {
				s.told.await(t, want.told)
			}
			if told := s.told.all(); !strings.HasPrefix(want.answer, ended) && len(told) > 1 || want.told == "" && len(told) > 0 {
				t.Errorf("told: %q", told)
			}
		})
	}
}

// TestOddAnswersOverTheWeb: the same over each way of HTTP.
func TestOddAnswersOverTheWeb(t *testing.T) {
	for kind, want := range map[string]string{
		"a string for its id": "seen",
		"another id":          `failed: the MCP server w refused the call: its answer has the id "abc", and the request had `,
		"no id, an error":     "failed: the MCP server w refused the call: Parse error (code -32700)",
		"neither":             "failed: the MCP server w refused the call: its answer has neither a result nor an error",
	} {
		for way, handler := range map[string]struct {
			serve  func() string
			server Server
		}{
			"json":   {func() string { return serveWeb(t, handWeb(odd(kind), false)) }, Server{Name: "w"}},
			"events": {func() string { return serveWeb(t, handWeb(odd(kind), true)) }, Server{Name: "w"}},
			"sse":    {func() string { return serveWeb(t, handSSE(odd(kind))) + "/sse" }, Server{Name: "w", Type: "sse"}},
		} {
			t.Run(kind+"/"+way, func(t *testing.T) {
				s := newSetUp(t)
				handler.server.URL = handler.serve()
				call := find(t, s.connect(t, handler.server), "mcp__w__old")
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				if got := text(t, call, ctx, `{}`); !strings.HasPrefix(got, want) {
					t.Errorf("%q, want %q; told: %q", got, want, s.told.all())
				}
			})
		}
	}
}

// TestManyCallsOneServer: of many calls at once, of which some are never
// answered, some twice, some with an error, and at whose end the server dies,
// each ends once, with its own answer.
func TestManyCallsOneServer(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	call := find(t, s.connect(t, itself(t, "crowd")), "mcp__t__old")
	got := make([]string, 40)
	var calls sync.WaitGroup
	for i := range got {
		calls.Go(func() { got[i] = text(t, call, t.Context(), fmt.Sprintf(`{"n":%d}`, i)) })
	}
	done := make(chan struct{})
	go func() { calls.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("a call has no end")
	}
	for i, answer := range got {
		want := fmt.Sprintf("answer %d", i)
		switch {
		case i%4 == 2:
			want = fmt.Sprintf("failed: the MCP server t refused the call: no %d (code 1)", i)
		case i%4 == 3:
			want = "failed: the MCP server t gave no result: exit code 9"
		}
		if !strings.HasPrefix(answer, want) {
			t.Errorf("call %d: %q, want %q", i, answer, want)
		}
	}
	s.told.await(t, "t answers a request twice")
	s.told.await(t, "t has ended: exit code 9")
}

// crowd answers 40 calls in the reverse order: each fourth twice, each fourth
// with an error, each fourth never; then it crashes.
func crowd() func(request) string {
	var held []request
	return func(r request) string {
		if r.Method != "tools/call" {
			return odd("")(r)
		}
		if held = append(held, r); len(held) < 40 {
			return ""
		}
		for i := range held {
			r := held[len(held)-1-i]
			var args struct {
				Arguments struct{ N int }
			}
			if err := json.Unmarshal(r.Params, &args); err != nil {
				panic(err)
			}
			n := args.Arguments.N
			line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"answer %d"}]}}`, r.ID, n)
			switch n % 4 {
			case 1:
				fmt.Println(line)
			case 2:
				line = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"no %d"}}`, r.ID, n)
			case 3:
				continue
			}
			fmt.Println(line)
		}
		os.Exit(9)
		return ""
	}
}
