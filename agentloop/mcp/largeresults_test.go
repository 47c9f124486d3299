package mcp

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// handWeb serves what a server by hand answers over streamable HTTP, as JSON or
// as a stream of events.
func handWeb(do func(request) string, events bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked request
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || json.Unmarshal(body, &asked) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		line := do(asked)
		if line == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		line = strings.Replace(line, `"id":ID`, `"id":`+string(asked.ID), 1)
		w.Header().Set("Content-Type", "application/json")
		if events {
			w.Header().Set("Content-Type", "text/event-stream")
			line = "event: message\ndata: " + line + "\n\n"
		}
		if _, err := io.WriteString(w, line); err != nil {
			return // the client is gone
		}
	})
}

// TestLargeResults: two large results at once arrive over each transport, and the
// model reads their beginning.
func TestLargeResults(t *testing.T) {
	twoAtOnce(t, "giant", 2_000_000, 10*time.Second)
}

func twoAtOnce(t *testing.T, kind string, size int, limit time.Duration) {
	for name, server := range map[string]Server{
		"stdio":  itself(t, kind),
		"json":   {Name: "t", URL: serveWeb(t, handWeb(giant(size), false))},
		"events": {Name: "t", URL: serveWeb(t, handWeb(giant(size), true))},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetUp(t)
			tool := find(t, s.connect(t, server), "mcp__t__old")
			began := time.Now()
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					got := text(t, tool, t.Context(), `{}`)
					if !strings.HasPrefix(got, "a line of a log, \"quoted\"\n") || len(got) > 110<<10 || !strings.HasSuffix(got, "bytes of the result's text left out]") {
						t.Errorf("%.300s", got)
					}
				})
			}
			both.Wait()
			took := time.Since(began)
			if t.Logf("took %s", took); took > limit {
				t.Errorf("took %s, want at most %s", took, limit)
			}
		})
	}
}

// handSSE serves what a server by hand answers over the transport sse: what it
// says comes on a stream of its own.
func handSSE(do func(request) string) http.Handler {
	lines := make(chan string, 10)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			say := func(event, data string) {
				io.WriteString(w, "event: "+event+"\ndata: "+data+"\n\n")
				w.(http.Flusher).Flush()
			}
			say("endpoint", "/messages")
			for {
				select {
				case line := <-lines:
					say("message", line)
				case <-r.Context().Done():
					return
				}
			}
		}
		var asked request
		if body, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(body, &asked) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if line := do(asked); line != "" {
			lines <- strings.ReplaceAll(line, `"id":ID`, `"id":`+string(asked.ID))
		}
		w.WriteHeader(http.StatusAccepted)
	})
}
