package mcp

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// goodHandler serves goodServer over streamable HTTP, of the revision that began
// it (with sessions) or of the newest (without).
func goodHandler(t *testing.T, stateless bool) http.Handler {
	server := goodServer()
	t.Cleanup(func() { // a session that its client has lost stays open
		for session := range server.Sessions() {
			session.Close()
		}
	})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: stateless})
}

func serveWeb(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func TestWebCalls(t *testing.T) {
	for name, handler := range map[string]http.Handler{
		"streamable": goodHandler(t, false),
		"stateless":  goodHandler(t, true),
		"sse":        sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return goodServer() }, nil),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetUp(t)
			seen := make(chan string, 1)
			address := serveWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				select {
				case seen <- r.Header.Get("Authorization"):
				default:
				}
				handler.ServeHTTP(w, r)
			}))
			server := Server{Name: "w", URL: address, Headers: map[string]string{"authorization": "Bearer key"}}
			if name == "sse" {
				server.Type = "sse"
			}
			servers := s.connect(t, server)
			tests := map[string]string{
				"echo": `{"text":"x"}`, "fails": "error: no such branch",
				"refuses": "badArgs: the MCP server w refused the args: count must be odd",
			}
			if name != "sse" { // there the SDK's types stand between
				tests["structured"] = `{"z":12345678901234567890,"a":[]}`
			}
			for tool, want := range tests {
				if got := text(t, find(t, servers, "mcp__w__"+tool), t.Context(), `{"text":"x"}`); got != want {
					t.Errorf("%s: %q, want %q", tool, got, want)
				}
			}
			if got := <-seen; got != "Bearer key" {
				t.Errorf("authorization: %q", got)
			}
			if told := s.told.all(); len(told) > 0 {
				t.Errorf("told: %q", told)
			}
		})
	}
}

// TestWebRefusals: what a web server may do instead of answering.
func TestWebRefusals(t *testing.T) {
	elsewhere := serveWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the key went to another server: %v", r.Header)
	}))
	host := strings.TrimPrefix(elsewhere, "http://")
	tests := map[string]struct {
		handler http.HandlerFunc
		told    string
	}{
		"401": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "w does not start: it answered 401 Unauthorized;"},
		"redirect elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
		},
			"w does not start: it redirects to another server, http://" + host + ", which is not followed;"},
		"redirect that loses the message": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/x" {
				http.Redirect(w, r, "/x", http.StatusFound)
			}
		}, "w does not start: it redirects so that the message is lost, to /x;"},
		"500": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "Internal Server Error"},
		"a page": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>welcome") },
			"w is given up after 5 attempts: it answered with text/html where a message of MCP must be (status 200); is the address right?"},
		"nothing": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) },
			"w is given up after 5 attempts: it answered with no content where a message of MCP must be (status 202)"},
		"never ending": {func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // only then is it seen that the client has gone
			<-r.Context().Done()
		}, "it was not ready in time"},
		"no bound": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for piece := strings.Repeat(" ", 1<<16); ; {
				if _, err := io.WriteString(w, piece); err != nil {
					return
				}
			}
		}, "its answer is over 1000000 bytes"},
		"garbage": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0",`)
		}, "failed to decode response"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSetUp(t)
			s.StartLimit, s.Message = time.Second, 1_000_000
			address := serveWeb(t, test.handler)
			s.connect(t, Server{Name: "w", URL: address + "/?key=SECRET", Headers: map[string]string{"X-Key": "SECRET"}})
			s.told.await(t, test.told)
			if told := fmt.Sprint(s.told.all()); strings.Contains(told, "SECRET") {
				t.Errorf("a key is told: %s", told)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		s := newSetUp(t)
		gone := httptest.NewServer(nil)
		gone.Close()
		s.connect(t, Server{Name: "w", URL: gone.URL})
		s.told.await(t, "connection refused")
	})
}

// TestWebCut: an answer that ends in the middle is an error, at once, and the
// next call works.
func TestWebCut(t *testing.T) {
	s := newSetUp(t)
	inner, cut := goodHandler(t, true), atomic.Bool{}
	servers := s.connect(t, Server{Name: "w", URL: serveWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !cut.Load() {
			inner.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))})
	echo := find(t, servers, "mcp__w__echo")
	cut.Store(true)
	began := time.Now()
	got := text(t, echo, t.Context(), `{"text":"x"}`)
	if !strings.HasPrefix(got, "failed: the MCP server w gave no result: ") || time.Since(began) > 2*time.Second {
		t.Errorf("%q after %s", got, time.Since(began))
	}
	cut.Store(false)
	eventually(t, "good call", func() bool { return text(t, echo, t.Context(), `{"text":"x"}`) == `{"text":"x"}` })
}

// TestWebDeath: a server that goes away is noticed and found again.
func TestWebDeath(t *testing.T) {
	s := newSetUp(t)
	inner, gone := atomic.Value{}, atomic.Bool{}
	inner.Store(goodHandler(t, false))
	servers := s.connect(t, Server{Name: "w", URL: serveWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		inner.Load().(http.Handler).ServeHTTP(w, r)
	}))})
	echo := find(t, servers, "mcp__w__echo")
	gone.Store(true)
	if got := text(t, echo, t.Context(), `{"text":"x"}`); !strings.HasPrefix(got, "failed: the MCP server w ") {
		t.Errorf("%q", got)
	}
	s.told.await(t, "w has ended: ")
	gone.Store(false)
	s.told.await(t, "w runs again")
	if got := text(t, echo, t.Context(), `{"text":"x"}`); got != `{"text":"x"}` {
		t.Errorf("%q", got)
	}
}
