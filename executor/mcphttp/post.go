package mcphttp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// acceptTime bounds how long a message that has no answer waits to be accepted: later ones
// wait for it.
const acceptTime = 10 * time.Second

var (
	errCancelled = errors.New("the client cancelled it")
	errAnswered  = errors.New("the answer came on another stream")
)

// send sends a message. Later ones leave after it.
func (s *server) send(m *relay.Message) {
	if m.Kind != relay.Request {
		s.tell(m)
		return
	}
	ctx, cancel := context.WithCancelCause(s.life)
	r := &request{m: m, key: relay.Key(m.ID), cancel: cancel}
	s.state.add(r)
	left := make(chan struct{})
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) {
		select {
		case <-left:
		default:
			close(left)
		}
	}})
	answered := make(chan struct{})
	s.requests.Go(func() {
		defer close(answered)
		defer cancel(nil)
		defer s.state.remove(r)
		s.ask(ctx, m)
	})
	select {
	case <-left:
	case <-answered:
	}
}

// tell sends a message that has no answer.
func (s *server) tell(m *relay.Message) {
	_, version := s.state.session()
	older := s.state.postsTo() != ""
	if m.Method == "notifications/cancelled" && (version == "" || older) {
		s.state.cancel(jsonspan.Get(m.Params, "requestId"))
		if !older {
			return
		}
	}
	ctx, stop := context.WithTimeout(s.life, acceptTime)
	defer stop()
	response, err := s.do(ctx, http.MethodPost, m, nil)
	if err != nil {
		if s.life.Err() == nil {
			s.note("a message did not reach the MCP server: " + text.Line(err.Error()))
		}
		return
	}
	response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound && version != "":
		s.endWith(sessionEnded)
	case response.StatusCode >= 300:
		s.note("the MCP server did not take a message: it answered " + statusOf(response))
	case m.Method == "notifications/initialized" && !older:
		s.listenAgain()
	}
}

// listenAgain begins to listen, in the session that there is now.
func (s *server) listenAgain() {
	s.listening.stop()
	ctx, stop := context.WithCancel(s.life)
	s.listening.stop = stop
	s.listening.Go(func() { s.listen(ctx) })
}

// do makes a request of HTTP. more are headers of this one.
func (s *server) do(ctx context.Context, method string, m *relay.Message, more http.Header) (*http.Response, error) {
	var body io.Reader
	if m != nil {
		body = bytes.NewReader(m.Line)
	}
	address := s.options.URL
	if method == http.MethodPost {
		address = cmp.Or(s.state.postsTo(), address)
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, withoutAddress(err)
	}
	for _, headers := range []http.Header{s.options.Headers, more} {
		for name, values := range headers {
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	switch method {
	case http.MethodPost:
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	case http.MethodGet:
		r.Header.Set("Accept", "text/event-stream")
	}
	s.state.write(r.Header, m)
	response, err := s.client.Do(r)
	return response, withoutAddress(err)
}

// ask sends a request and passes on what comes back, until it is answered.
func (s *server) ask(ctx context.Context, m *relay.Message) {
	if s.state.postsTo() != "" {
		s.askOlder(ctx, m)
		return
	}
	response, err := s.do(ctx, http.MethodPost, m, nil)
	if err != nil {
		s.unreached(ctx, m, err)
		return
	}
	defer func() { response.Body.Close() }()
	if s.isOlder(m, response) {
		response.Body.Close()
		s.askOlder(ctx, m)
		return
	}
	if m.Method == "initialize" && response.StatusCode == http.StatusOK {
		s.state.agreed(response.Header.Get("Mcp-Session-Id"), "")
	}
	switch kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); {
	case response.StatusCode == http.StatusOK && kind == "text/event-stream":
		s.follow(ctx, m, response.Body)
	case kind == "application/json":
		s.whole(ctx, m, response)
	default:
		s.refusedWith(ctx, m, response)
	}
	if id, _ := s.state.session(); id != "" && response.StatusCode == http.StatusNotFound {
		s.endWith(sessionEnded)
	}
}

func (s *server) unreached(ctx context.Context, m *relay.Message, err error) {
	s.unanswered(ctx, m, "the MCP server cannot be reached: "+text.Line(err.Error()))
}

// whole passes on an answer that comes in one piece.
func (s *server) whole(ctx context.Context, m *relay.Message, response *http.Response) {
	body, err := io.ReadAll(io.LimitReader(response.Body, s.options.Limit+1))
	switch {
	case err != nil:
		s.unanswered(ctx, m, "the answer of the MCP server broke off: "+text.Line(err.Error()))
		return
	case int64(len(body)) > s.options.Limit:
		s.unanswered(ctx, m, fmt.Sprintf("the answer of the MCP server has more than %d bytes", s.options.Limit))
		return
	}
	line := jsonspan.OneLine(bytes.TrimSpace(body))
	answer, fault := relay.Read(line)
	problem := errorOf(line, answer)
	switch failed := response.StatusCode >= 300; {
	case problem != nil && (failed || !has(line, "id")): // some servers leave the id out
		s.pass(m, answerTo(m.ID, problem))
	case failed:
		s.refusedWith(ctx, m, response)
	case fault != nil && fault.Answers == nil && jsonspan.Kind(line) != '[', !s.pass(m, line):
		s.unanswered(ctx, m, "what the MCP server sent is no answer")
	}
}

// errorOf returns the error that an answer is, nil if it is none. answer is nil where the line is
// no message, as one without an id.
func errorOf(line []byte, answer *relay.Message) protocol.RawMessage {
	if answer != nil {
		return answer.Error
	}
	if problem := jsonspan.Get(line, "error"); jsonspan.Valid(line) && jsonspan.Kind(problem) == '{' {
		return problem
	}
	return nil
}

func has(object []byte, member string) bool {
	value := jsonspan.Get(object, member)
	return value != nil && !jsonspan.IsNull(value)
}

func answerTo(id, problem protocol.RawMessage) []byte {
	line := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(append(append(line, `,"error":`...), problem...), '}')
}

// pass passes on what answers a request, or comes before its answer. It reports whether it is
// the answer. m is nil of what comes by itself.
func (s *server) pass(m *relay.Message, line []byte) (answered bool) {
	if jsonspan.Kind(line) == '[' && jsonspan.Valid(line) { // an older server's batch
		for _, element := range jsonspan.Elements(line) {
			answered = s.pass(m, element) || answered
		}
		return answered
	}
	said, fault := relay.Read(line)
	switch {
	case fault != nil && fault.Answers != nil: // the relay answers in its place
		answered = s.answers(m, &relay.Message{ID: fault.Answers})
	case fault == nil && said.Kind == relay.Response:
		answered = s.answers(m, said)
	}
	s.said.line(line)
	return answered
}

// answers takes an answer, which may be to another request than the one on whose stream it comes.
func (s *server) answers(m *relay.Message, said *relay.Message) bool {
	r := s.state.answered(said.ID)
	if r == nil {
		return m != nil && relay.Key(said.ID) == relay.Key(m.ID)
	}
	switch r.m.Method {
	case "initialize":
		id, _ := s.state.session()
		s.state.agreed(id, jsonspan.Text(jsonspan.Get(said.Result, "protocolVersion")))
	case "tools/list":
		if said.Strict {
			s.state.learn(said.Result)
		}
	}
	if r.m != m {
		r.cancel(errAnswered)
	}
	return r.m == m
}

// refusedWith answers a request that the server did not take.
func (s *server) refusedWith(ctx context.Context, m *relay.Message, response *http.Response) {
	problem := "the MCP server answered " + statusOf(response)
	if code := response.StatusCode; code == http.StatusUnauthorized || code == http.StatusForbidden {
		problem += ": check the headers that hookd mcp sends (--header)"
	}
	s.unanswered(ctx, m, problem)
}

func statusOf(response *http.Response) string {
	kind := text.Line(text.Shorten(response.Header.Get("Content-Type"), 60))
	status := fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode))
	if response.StatusCode < 300 && kind != "" {
		return status + " with " + kind
	}
	return status
}

// sessionEnded is why a connection ends whose server knows its session no more: only a client can
// begin another one.
const sessionEnded = "its session has ended at the server: a client that starts hookd mcp again gets another one"

// endWith ends the connection.
func (s *server) endWith(why string) {
	s.end(&gone{why})
	s.in.Close()
}

// unanswered answers a request in the server's place. A client that gave it up, or is gone,
// reads none.
func (s *server) unanswered(ctx context.Context, m *relay.Message, problem string) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errCancelled), errors.Is(cause, errAnswered), errors.Is(cause, errEnd):
		return
	case cause != nil:
		problem = cause.Error()
	}
	s.said.line(relay.ErrorLine(m.ID, relay.CodeServer, "hookd: "+problem))
}
