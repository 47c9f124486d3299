//go:build interop && unix

package interop

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// loopback makes a Node server listen on this machine only, whatever it asks for.
const loopback = `const net = require('net'), listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  return typeof port === 'object' || port === undefined ? listen.call(this, port, ...rest)
    : listen.call(this, +port, '127.0.0.1', ...rest.filter(r => typeof r === 'function'));
};
`

// webServer is the real server over streamable HTTP, behind a proxy that sees its
// requests and can forget sessions.
type webServer struct {
	t       *testing.T
	b       *box
	program string
	port    int
	process *exec.Cmd
	proxy   *httptest.Server

	mu       sync.Mutex
	sessions map[string]int // requests by session
	keys     map[string]int // requests by Authorization
	expired  map[string]bool
}

func newWebServer(t *testing.T, b *box) *webServer {
	t.Helper()
	w := &webServer{t: t, b: b, program: program(t, everything), sessions: map[string]int{}, keys: map[string]int{}, expired: map[string]bool{}}
	b.write(t, "loopback.cjs", loopback, 0o600)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	w.start()
	t.Cleanup(w.stop)
	to, err := url.Parse("http://127.0.0.1:" + strconv.Itoa(w.port))
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(to)
	forward.FlushInterval = -1
	forward.ErrorLog = log.New(io.Discard, "", 0)
	w.proxy = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		session := r.Header.Get("Mcp-Session-Id")
		w.mu.Lock()
		w.sessions[session]++
		w.keys[r.Header.Get("Authorization")]++
		gone := w.expired[session]
		w.mu.Unlock()
		if gone {
			http.Error(rw, "session not found", http.StatusNotFound)
			return
		}
		forward.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() {
		w.proxy.CloseClientConnections()
		w.proxy.Close()
	})
	return w
}

func (w *webServer) start() {
	w.t.Helper()
	w.process = exec.Command("node", "--require", w.b.folder+"/loopback.cjs", w.program, "streamableHttp")
	w.process.Dir = w.b.folder
	w.process.Env = append(os.Environ(), "PORT="+strconv.Itoa(w.port))
	if err := w.process.Start(); err != nil {
		w.t.Fatal(err)
	}
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(w.port))
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("the server does not listen: %v", err)
		}
	}
}

func (w *webServer) stop() {
	w.process.Process.Kill()
	w.process.Wait() // killed: its state says nothing
}

// expire has every session so far forgotten.
func (w *webServer) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for session := range w.sessions {
		w.expired[session] = session != ""
	}
}

func (w *webServer) count() (sessions int, keys string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for session := range w.sessions {
		if session != "" {
			sessions++
		}
	}
	for key := range w.keys {
		keys += "[" + key + "]"
	}
	return sessions, keys
}

const echoTwice = `turns:
- expect: [{in: tools, contains: mcp__web__echo}]
  toolCalls: [{id: one, name: mcp__web__echo, args: {message: first}}]
- expect: [{in: "toolResult:one", contains: "Echo: first"}]
  toolCalls: [{id: long, name: mcp__web__trigger-long-running-operation, args: {duration: 1, steps: 4}}]
- expect: [{in: "toolResult:long", contains: completed}]
  text: good
- toolCalls: [{id: lost, name: mcp__web__echo, args: {message: second}}]
- text: noted
- toolCalls: [{id: three, name: mcp__web__echo, args: {message: third}}]
- expect: [{in: "toolResult:three", contains: "Echo: third"}]
  text: good
`

// webTalk has a first turn at work, with progress and headers.
func webTalk(t *testing.T) (*webServer, *talk) {
	b := newBox(t)
	w := newWebServer(t, b)
	b.servers(t, map[string]any{"web": map[string]any{"url": "${WEB_ADDRESS}/mcp", "headers": map[string]string{"Authorization": "Bearer ${WEB_KEY}"}}})
	k := b.talk(t, echoTwice, "WEB_ADDRESS="+w.proxy.URL, "WEB_KEY=s3cret")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		w.mu.Lock()
		asked := 0
		for session, n := range w.sessions {
			if session != "" {
				asked = n
			}
		}
		w.mu.Unlock()
		if asked >= 3 { // initialized, the stream of events, the list
			break
		}
		if time.Now().After(end) {
			t.Fatal("hookd does not connect")
		}
	}
	time.Sleep(500 * time.Millisecond)
	k.say(`{"prompt":"over HTTP"}`)
	k.until("progress", func(s said) bool { return s.Kind == "output" && strings.Contains(s.Text, "/4]") })
	k.result("done")
	return w, k
}

// runsAgain asks twice: the first prompt meets the lost session, the second a new one.
func runsAgain(k *talk) {
	k.say(`{"prompt":"again"}`)
	k.result("done")
	k.awaitTold("MCP server web runs again")
	k.say(`{"prompt":"and again"}`)
	k.result("done")
	k.end()
}

// TestWebExpired: sessions, headers and progress over streamable HTTP, and a session
// that the server has forgotten is begun anew.
func TestWebExpired(t *testing.T) {
	w, k := webTalk(t)
	if sessions, keys := w.count(); sessions != 1 || keys != "[Bearer s3cret]" {
		t.Errorf("%d sessions, headers %s", sessions, keys)
	}
	w.expire()
	runsAgain(k)
	if sessions, keys := w.count(); sessions != 2 || keys != "[Bearer s3cret]" {
		t.Errorf("%d sessions, headers %s", sessions, keys)
	}
}

// TestWebRestart: a server that was restarted knows no session of before, and
// says so with 400 instead of the 404 that the protocol asks for.
func TestWebRestart(t *testing.T) {
	w, k := webTalk(t)
	w.stop()
	w.start()
	runsAgain(k)
}
