package mcphttp

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor/proxied"
)

// box is a server of the test and a connection to it.
type box struct {
	t       *testing.T
	web     *httptest.Server
	process *proxied.Process
	said    *bufio.Reader

	mu    sync.Mutex
	seen  []string // method, headers that matter, body
	notes []string
}

// matter are the headers that the server notes.
var matter = []string{"Authorization", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-City", "Last-Event-Id"}

// serve starts a server that answers as its handler says. body is what was posted.
func serve(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, body string)) *box {
	t.Helper()
	b := &box{t: t}
	b.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := r.Method
		for _, name := range matter {
			if value := r.Header.Get(name); value != "" {
				text += " " + name + "=" + value
			}
		}
		b.mu.Lock()
		b.seen = append(b.seen, text+" "+string(body))
		b.mu.Unlock()
		handle(w, r, string(body))
	}))
	var err error
	b.process, err = Start(Options{
		URL: b.web.URL + "/mcp", Headers: http.Header{"authorization": {"Bearer key"}}, Limit: 1 << 16, Pause: time.Millisecond,
		Note: func(text string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.notes = append(b.notes, text)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.said = bufio.NewReader(b.process.Out)
	t.Cleanup(func() {
		b.process.End(0)
		b.web.CloseClientConnections()
		b.web.Close()
	})
	return b
}

func (b *box) say(line string) {
	b.t.Helper()
	if _, err := io.WriteString(b.process.In, line+"\n"); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) reads(want string) {
	b.t.Helper()
	line := make(chan string, 1)
	go func() {
		text, err := b.said.ReadString('\n')
		if err != nil {
			text = err.Error()
		}
		line <- strings.TrimSuffix(text, "\n")
	}()
	select {
	case got := <-line:
		if !strings.Contains(got, want) || want == "" && got != "EOF" {
			b.t.Fatalf("got  %s\nwant %s", got, want)
		}
	case <-time.After(5 * time.Second):
		b.t.Fatal("no line came")
	}
}

// sees waits until the server has seen a request that has all texts.
func (b *box) sees(texts ...string) {
	b.t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		b.mu.Lock()
		seen := strings.Join(b.seen, "\n")
		for _, request := range b.seen {
			all := true
			for _, text := range texts {
				all = all && strings.Contains(request, text)
			}
			if all {
				b.mu.Unlock()
				return
			}
		}
		b.mu.Unlock()
		if time.Now().After(end) {
			b.t.Fatalf("no request with %q:\n%s", texts, seen)
		}
	}
}

func asJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

func asEvents(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range events {
		io.WriteString(w, event+"\n\n")
		w.(http.Flusher).Flush()
	}
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`

// A session of the older revisions: its id and version go with each message, the server speaks
// by itself, and is told of the end.
func TestSession(t *testing.T) {
	b := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-Id") == "":
			asEvents(w, "id: 7\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata:  \"method\":\"ping\"}", ": nothing", "data:\ndata: ")
		case r.Method == http.MethodGet:
			asEvents(w, `data: {"jsonrpc":"2.0","method":"notifications/again"}`)
			<-r.Context().Done()
		case r.Method == http.MethodDelete:
		case strings.Contains(body, `"initialize"`):
			w.Header().Set("Mcp-Session-Id", "s1")
			asJSON(w, 200, "{\n \"jsonrpc\": \"2.0\", \"id\":0,\n\"result\":{\"protocolVersion\":\"2025-06-18\",\"x\":12345678901234567890}}\n")
		case strings.Contains(body, `"tools/call"`):
			asEvents(w, `data: {"jsonrpc":"2.0","method":"notifications/progress"}`, `data: {"jsonrpc":"2.0","id":2,"result":{"a":1.0}}`, `data: {"never":"read"}`)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	b.say(initialize)
	b.reads(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","x":12345678901234567890}}`)
	b.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	b.sees("POST Authorization=Bearer key Mcp-Session-Id=s1 Mcp-Protocol-Version=2025-06-18 {", "notifications/initialized")
	b.reads(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	b.sees("GET Authorization=Bearer key Mcp-Session-Id=s1 Mcp-Protocol-Version=2025-06-18 Last-Event-Id=7")
	b.reads(`notifications/again`)
	b.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	b.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`)
	b.sees("POST", `"id":1,"result":{}`)
	b.reads(`{"jsonrpc":"2.0","method":"notifications/progress"}`)
	b.reads(`{"jsonrpc":"2.0","id":2,"result":{"a":1.0}}`)
	b.process.In.Close()
	b.reads("")
	<-b.process.Done
	b.sees("DELETE Authorization=Bearer key Mcp-Session-Id=s1")
	if how := b.process.How(); how != "" {
		t.Error(how)
	}
}

// A stream that breaks before the answer is taken up again where the server numbers its
// events, and answered with an error where it does not.
func TestBrokenStreams(t *testing.T) {
	b := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-Id") == "a1":
			asEvents(w, "id: a2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/two\"}")
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-Id") == "a2":
			asEvents(w, `data: {"jsonrpc":"2.0","id":1,"result":{}}`)
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-Id") == "c1":
			asEvents(w) // nothing, each time
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case strings.Contains(body, `"id":1`):
			asEvents(w, "retry: 1\nid: a1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/one\"}")
		case strings.Contains(body, `"id":2`):
			asEvents(w, `data: {"jsonrpc":"2.0","method":"notifications/one"}`, `data: {"jsonrpc":"2.0","id":2,"res`)
		case strings.Contains(body, `"id":3`):
			asEvents(w, "id: c1\ndata:")
		case strings.Contains(body, `"id":4`):
			asEvents(w, "id: d1\ndata:")
		}
	})
	b.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	b.reads("notifications/one")
	b.reads("notifications/two")
	b.reads(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	b.say(`{"jsonrpc":"2.0","id":2,"method":"m"}`)
	b.reads("notifications/one")
	b.reads(`{"jsonrpc":"2.0","id":2,"res`) // no message: the relay says so
	b.reads(`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"hookd: the connection to the MCP server ended before the answer came"}}`)
	for _, id := range []string{"3", "4"} {
		b.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"m"}`)
		b.reads(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32000,`)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if tries := strings.Count(strings.Join(b.seen, "\n"), "Last-Event-Id=c1"); tries != mostTries {
		t.Errorf("%d tries", tries)
	}
}

// Whatever the server answers, a request has an answer, and people read why.
func TestAnswersThatAreNone(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	long := strings.Repeat("x", 1<<16)
	for name, test := range map[string]struct {
		handle http.HandlerFunc
		want   string
	}{
		"an error of the protocol": {func(w http.ResponseWriter, _ *http.Request) {
			asJSON(w, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m","data":{"supported":["x"]}}}`)
		}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m","data":{"supported":["x"]}}}`},
		"the same without an id": {func(w http.ResponseWriter, _ *http.Request) {
			asJSON(w, 404, `{"jsonrpc":"2.0","error":{"code":-32601,"message":"m"}}`)
		}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"m"}}`},
		"no rights":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "401 Unauthorized: check the headers"},
		"a page":         {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }, "answered 200 OK with text/html"},
		"out of order":   {func(w http.ResponseWriter, _ *http.Request) { asJSON(w, 503, "no JSON") }, "answered 503 Service Unavailable"},
		"only accepted":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) }, "answered 202 Accepted"},
		"no answer":      {func(w http.ResponseWriter, _ *http.Request) { asJSON(w, 200, `{"a":1}`) }, "what the MCP server sent is no answer"},
		"too long":       {func(w http.ResponseWriter, _ *http.Request) { asJSON(w, 200, `{"`+long+`":1}`) }, "has more than 65536 bytes"},
		"too long event": {func(w http.ResponseWriter, _ *http.Request) { asEvents(w, "data: "+long) }, "has more than 65536 bytes"},
		"broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			asJSON(w, 200, `{"jsonrpc"`)
		}, "broke off"},
		"another server": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, "redirects to another server"},
		"a lost message": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }, "the message is lost"},
		"hung up":        {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			b := serve(t, func(w http.ResponseWriter, r *http.Request, _ string) { test.handle(w, r) })
			b.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
			b.reads(test.want)
			b.process.In.Close()
			b.reads("")
		})
	}
	for url, want := range map[string]string{"ftp://x": "none of http", "http://": "none of http", "http://a b": "cannot be read", "x": "none of http"} {
		if _, err := Start(Options{URL: url}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := Start(Options{URL: "http://x", Headers: http.Header{"mcp-name": {"x"}}}); err == nil {
		t.Error("a header of the protocol was taken")
	}
}

// A session that the server has forgotten ends the connection, however the server says so.
func TestForgottenSession(t *testing.T) {
	for body, want := range map[string]string{
		"": "answered 404 Not Found",
		`{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`: `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Session not found"}}`,
	} {
		forgets(t, body, want)
	}
}

func forgets(t *testing.T, answer, want string) {
	t.Helper()
	b := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if strings.Contains(body, `"initialize"`) {
			w.Header().Set("Mcp-Session-Id", "s1")
			asJSON(w, 200, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}`)
			return
		}
		if answer != "" {
			asJSON(w, 404, answer)
			return
		}
		w.WriteHeader(404)
	})
	b.say(initialize)
	b.reads("protocolVersion")
	b.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	b.reads(want)
	b.reads("")
	<-b.process.Done
	if how := b.process.How(); !strings.Contains(how, "its session has ended") {
		t.Error(how)
	}
}

// The newest revision has no session: headers repeat what a message says, as hooks left it, and
// a request is given up by closing its stream.
func TestNewestRevision(t *testing.T) {
	given := make(chan struct{})
	b := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case strings.Contains(body, "tools/list"):
			asJSON(w, 200, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"weather","inputSchema":{"properties":{"where":{"properties":{"city":{"type":"string","x-mcp-header":"City"}}}}}},{"name":"b","inputSchema":{"properties":{"a":{"x-mcp-header":"a b"}}}}]}}`)
		case strings.Contains(body, "hang"):
			asEvents(w)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			close(given)
		default:
			asJSON(w, 200, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		}
	})
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	b.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`)
	b.reads(`"weather"`)
	b.sees("Mcp-Protocol-Version=2026-07-28 Mcp-Method=tools/list {")
	b.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"weather","arguments":{"where":{"city":"Zürich"}},` + meta + `}}`)
	b.reads(`"id":2`)
	b.sees("Mcp-Method=tools/call Mcp-Name=weather Mcp-Param-City==?base64?WsO8cmljaA==?=")
	b.say(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///a",` + meta + `}}`)
	b.reads(`"id":2`)
	b.sees("Mcp-Method=resources/read Mcp-Name=file:///a")
	b.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hang",` + meta + `}}`)
	b.sees(`"hang"`)
	b.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3.0}}`)
	select {
	case <-given:
	case <-time.After(5 * time.Second):
		t.Error("the stream was not closed")
	}
	b.process.In.Close()
	b.reads("") // and no answer
	b.mu.Lock()
	defer b.mu.Unlock()
	if all := strings.Join(b.seen, "\n"); strings.Contains(all, "cancelled") || strings.Contains(all, "DELETE") {
		t.Error(all)
	}
}

// Messages arrive in their order, although requests do not wait for each other's answers.
func TestOrder(t *testing.T) {
	const count = 40
	hold := make(chan struct{})
	b := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if strings.Contains(body, `"id"`) {
			<-hold
			asJSON(w, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
	for i := range count {
		if i%10 == 0 {
			b.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m%d"}`, i, i))
			continue
		}
		b.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"m%d"}`, i))
	}
	b.sees(fmt.Sprintf(`"m%d"`, count-1))
	close(hold)
	b.mu.Lock()
	defer b.mu.Unlock()
	last := -1
	for _, seen := range b.seen {
		n := -1
		fmt.Sscanf(seen[strings.Index(seen, `"m`)+2:], "%d", &n)
		if strings.Contains(seen, `"id"`) {
			continue // the server may take it up a moment later
		}
		if n < last {
			t.Fatalf("%q after %d", seen, last)
		}
		last = n
	}
}

// A connection ends in time, whatever the server does.
func TestEnds(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	b := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		select { // it neither answers nor looks whether anybody waits
		case <-stop:
		case <-r.Context().Done():
		}
	})
	b.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	b.say(`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen"}`)
	b.sees("subscriptions/listen")
	began := time.Now()
	b.process.End(50 * time.Millisecond)
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
	<-b.process.Done
}

// A client that has nothing more to say waits for answers, and not for a subscription, which
// has none.
func TestSubscriptionsEndWithTheClient(t *testing.T) {
	b := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if strings.Contains(body, "slow") {
			time.Sleep(100 * time.Millisecond)
			asJSON(w, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`)
			return
		}
		asEvents(w)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	b.say(`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen"}`)
	b.say(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
	b.process.In.Close()
	b.reads(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	b.reads("")
}

// What a server floods is not kept for a client that does not read it.
func TestFloodOfEvents(t *testing.T) {
	sent := make(chan int, 1)
	b := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		asEvents(w)
		event, n := "data: {\"jsonrpc\":\"2.0\",\"method\":\""+strings.Repeat("x", 60_000)+"\"}\n\n", 0
		for ; n < 10_000 && r.Context().Err() == nil; n++ {
			if _, err := io.WriteString(w, event); err != nil {
				break
			}
		}
		sent <- n
	})
	b.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	b.reads("xxx")
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	b.process.End(0)
	if n := <-sent; n > 1000 || time.Since(began) > 2*time.Second { // of 60 MB, what the system's buffers hold
		t.Errorf("%d events were taken; it ended after %v", n, time.Since(began))
	}
}
