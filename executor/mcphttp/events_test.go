package mcphttp

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// Events are read whatever ends their lines, wherever the stream is cut, and with a byte order mark
// at its beginning.
func TestEvents(t *testing.T) {
	for text, want := range map[string]string{
		"data: a\n\ndata: b\n\n":                                                     "a|b",
		"data: a\r\n\r\ndata: b\r\n\r\n":                                             "a|b",
		"data: a\r\rdata: b\r\r":                                                     "a|b",
		"data: {\r\"a\":\rdata:1}\n\r\ndata: b\r\n\n":                                `{1}|b`,
		": c\revent: message\r\nid: 4\rdata: [\ndata: 1]\r\r":                        "[1]",
		"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n":                             "a",
		"\xef\xbb\xbf\ndata: a\r\n\n":                                                "a",
		"event: ping\ndata: now\n\nevent: endpoint\ndata: /x\n\nevent:\ndata: a\n\n": "a",
		"event: ping\ndata: " + strings.Repeat("l", 100) + "\n\ndata: a\n\n":         "a",
		"data\n\ndata:\n\nid: 1\n\n: c\n\ndata: cut":                                 "|",
		"data: a\r":              "",
		"retry: 0\rdata:a\r\n\r": "a",
		":" + strings.Repeat("c", 100) + "\ndata: a\n\n":                                           "a",
		"data: " + strings.Repeat("l", 100) + "\ndata: a\n\ndata: b\n\n":                           "long|b",
		"data: a\ndata: " + strings.Repeat("l", 60) + "\ndata:" + strings.Repeat("m", 30) + "\n\n": "long",
		`data: {"id":7,"result":"` + strings.Repeat("l", 100) + "\"}\r\n\r\ndata: b\n\n":           "long 7|b",
		`data: {"id":7,"method":"` + strings.Repeat("l", 100) + "\"}\n\n":                          "long",
	} {
		for _, from := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			s, got := &stream{limit: 80}, []string{}
			err := s.read(from, func(message []byte, long *tooLong) bool {
				if long != nil {
					message = []byte(strings.TrimSpace("long " + string(long.answers)))
				}
				got = append(got, string(message))
				return true
			})
			if strings.Join(got, "|") != want || err == nil {
				t.Errorf("%q: %q, want %q (%v)", text, got, want, err)
			}
		}
	}
}

// A message that is too long is left out, and told; those after it pass. One that is an answer is
// answered.
func TestMessagesThatAreTooLong(t *testing.T) {
	long := strings.Repeat("x", 1<<17)
	b := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		asEvents(w, `data: {"jsonrpc":"2.0","method":"notifications/message","params":"`+long+`"}`)
		if strings.Contains(body, `"id":1`) {
			asEvents(w, `data: {"jsonrpc":"2.0","id":1,"result":{}}`)
			return
		}
		asEvents(w, `data: {"jsonrpc":"2.0","id":2,"result":"`+long+`"}`)
		<-r.Context().Done()
	})
	b.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	b.reads(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	b.say(`{"jsonrpc":"2.0","id":2,"method":"m"}`)
	b.reads(`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"hookd: the answer was left out: line of 131`)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.notes) != 1 || !strings.Contains(b.notes[0], "was left out") {
		t.Errorf("%q", b.notes)
	}
}

// An answer that is to nothing leaves no request without one.
func TestAnswersToOtherRequests(t *testing.T) {
	for answer, want := range map[string][]string{
		`{"jsonrpc":"2.0","id":9,"result":{}}`:                         {`"id":9`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"hookd: what the MCP server sent is no answer"}}`},
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`: {`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`},
		`[]`:                                     {"is no answer"},
		`[{"jsonrpc":"2.0","id":9,"result":{}}]`: {`{"jsonrpc":"2.0","id":9,"result":{}}`, "is no answer"},
		`[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":1,"result":{}}]`:         {`{"jsonrpc":"2.0","method":"n"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"the relay"}}`: {`"message":"the relay"`},
		`{"jsonrpc":"2.0","method":"notifications/n"}`:                                  {"notifications/n", "is no answer"},
	} {
		b := serve(t, func(w http.ResponseWriter, r *http.Request, body string) { asJSON(w, 200, answer) })
		b.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		for _, text := range want {
			b.reads(text)
		}
		b.process.In.Close()
		b.reads("")
	}
}

// An answer that comes on the stream of another request ends its own stream, and is the only one.
func TestAnswersOnOtherStreams(t *testing.T) {
	ended := make(chan struct{})
	b := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if strings.Contains(body, `"id":1`) {
			asEvents(w, ": begins")
			<-r.Context().Done()
			close(ended)
			return
		}
		asEvents(w, `data: {"jsonrpc":"2.0","id":1.0,"result":{}}`, `data: {"jsonrpc":"2.0","id":2,"result":{}}`)
	})
	b.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	b.sees(`"id":1`)
	b.say(`{"jsonrpc":"2.0","id":2,"method":"m"}`)
	b.reads(`{"jsonrpc":"2.0","id":1.0,"result":{}}`)
	b.reads(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	<-ended
	b.process.In.Close()
	b.reads("")
}

// A client that begins again is heard by one stream, and a server that ends each at once, and wants
// no pause, is not asked without end.
func TestListening(t *testing.T) {
	b := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case r.Method == http.MethodGet && r.Header.Get("Mcp-Session-Id") == "s3":
			asEvents(w, "retry: 0\nid: x")
		case r.Method == http.MethodGet:
			asEvents(w, `data: {"jsonrpc":"2.0","method":"notifications/`+r.Header.Get("Mcp-Session-Id")+`"}`)
			<-r.Context().Done()
		case strings.Contains(body, `"initialize"`):
			w.Header().Set("Mcp-Session-Id", "s"+body[len(body)-3:len(body)-2])
			asJSON(w, 200, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}`)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	begin := func(n int) {
		b.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"n":%d}}`, n))
		b.reads("protocolVersion")
		b.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	for n := 1; n < 3; n++ {
		begin(n)
		b.reads(fmt.Sprintf("notifications/s%d", n))
	}
	begin(3)
	b.sees("Mcp-Session-Id=s3", "Last-Event-Id=x")
	time.Sleep(2 * shortPause)
	b.mu.Lock()
	asked := strings.Count(strings.Join(b.seen, "\n"), "Last-Event-Id=x")
	b.mu.Unlock()
	if asked > 5 {
		t.Errorf("the stream was asked for %d times", asked)
	}
	b.process.In.Close()
	b.reads("")
}

// Headers that could not be sent, or that HTTP itself needs, are refused in front of everything.
func TestHeaders(t *testing.T) {
	for header, fine := range map[[2]string]bool{
		{"Authorization", "Bearer a\tb ü"}: true, {"x-_.~key", ""}: true,
		{"mcp-name", "x"}: false, {"accept", "x"}: false, {"Host", "x"}: false, {"content-length", "3"}: false, {"Last-Event-ID", "3"}: false,
		{"a b", "x"}: false, {"", "x"}: false, {"é", "x"}: false, {"a", "b\r\nc: d"}: false, {"a", "\x00"}: false, {"a\n", "x"}: false, {"a", "\x7f"}: false,
	} {
		process, err := Start(Options{URL: "http://127.0.0.1:1", Headers: http.Header{header[0]: {header[1]}}})
		if fine != (err == nil) {
			t.Errorf("%q: %v", header, err)
		}
		if err == nil {
			process.End(0)
		}
	}
}

// What a server lists is bounded: of a name that is too long nothing is kept.
func TestListsOfTools(t *testing.T) {
	s, long := &state{bindings: map[string][]binding{}}, strings.Repeat("x", mostName+1)
	tool := func(name, property, header string) string {
		return fmt.Sprintf(`{"name":%q,"inputSchema":{"properties":{%q:{"x-mcp-header":%q}}}}`, name, property, header)
	}
	s.learn([]byte(`{"tools":[` + tool(long, "a", "A") + "," + tool("b", long, "A") + "," + tool("c", "a", long) + "," + tool("d", "a", "A") + `]}`))
	if len(s.bindings) != 1 || len(s.bindings["d"]) != 1 {
		t.Errorf("%d tools are kept", len(s.bindings))
	}
	s.learn([]byte(`{"tools":[{"name":"d"}]}`))
	if len(s.bindings) != 0 {
		t.Error("what a tool had before counts")
	}
}
