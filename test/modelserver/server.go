// Package modelserver is a server of models for tests. It speaks the stream of
// Anthropic's Messages and that of OpenAI's chat completions, and does what
// servers and the network do to them: split anywhere, stall, cut, refuse, and
// talk nonsense.
package modelserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Answer is what the server does with one request.
type Answer struct {
	Status  int               // 0: 200
	Header  map[string]string // Content-Type is text/event-stream if not given
	Body    string
	Endless string        // sent again and again after Body, until the client goes
	Piece   int           // bytes that are sent at a time; 0: all at once
	Pause   time.Duration // between two pieces
	Silent  bool          // nothing is sent, not even the head, until the client goes
	Stall   bool          // after Body the server is silent until the client goes
	Cut     bool          // after Body the connection is closed without an end
}

// Request is what the server was asked.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         string
}

// Server answers requests in their order.
type Server struct {
	URL string

	mu       sync.Mutex
	answers  []Answer
	requests []Request
	gone     int // clients that went away in the middle
}

// New starts a server on this machine that ends with the test. A request after
// the last answer is refused and fails the test.
func New(t testing.TB, answers ...Answer) *Server {
	s := &Server{answers: answers}
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := s.next(r)
		if !ok {
			t.Errorf("model server: more requests than the %d answers", len(answers))
			http.Error(w, `{"error":{"message":"the test has no more answers"}}`, http.StatusBadRequest)
			return
		}
		if answer.play(w, r, ended) {
			s.mu.Lock()
			s.gone++
			s.mu.Unlock()
		}
	}))
	s.URL = server.URL
	t.Cleanup(func() {
		close(ended)
		server.CloseClientConnections()
		server.Close()
	})
	return s
}

func (s *Server) next(r *http.Request) (Answer, bool) {
	body, _ := io.ReadAll(r.Body) // what is missing is missed by the test
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, r.Header.Clone(), string(body)})
	if len(s.answers) == 0 {
		return Answer{}, false
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	return answer, true
}

// Requests are the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Gone waits up to two seconds until n clients have gone away in the middle of
// an answer, and reports whether they have.
func (s *Server) Gone(n int) bool {
	for range 200 {
		s.mu.Lock()
		gone := s.gone
		s.mu.Unlock()
		if gone >= n {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// play reports whether the client went away before the end.
func (a Answer) play(w http.ResponseWriter, r *http.Request, ended <-chan struct{}) bool {
	wait := func() bool {
		select {
		case <-r.Context().Done():
			return true
		case <-ended:
			return false
		}
	}
	if a.Silent {
		return wait()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	flush := http.NewResponseController(w).Flush
	piece := a.Piece
	if piece <= 0 {
		piece = max(len(a.Body), 1)
	}
	for body := a.Body; body != ""; body = body[min(piece, len(body)):] {
		if _, err := io.WriteString(w, body[:min(piece, len(body))]); err != nil || flush() != nil {
			return true
		}
		if a.Pause > 0 {
			time.Sleep(a.Pause)
		}
	}
	for a.Endless != "" {
		if _, err := io.WriteString(w, a.Endless); err != nil || flush() != nil {
			return true
		}
	}
	if a.Stall {
		_ = flush() // the client may have gone
		return wait()
	}
	if a.Cut {
		panic(http.ErrAbortHandler)
	}
	return false
}
