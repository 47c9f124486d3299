package mcphttp

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

const (
	mostTries = 5                // to take up a stream again that brings nothing
	longPause = 30 * time.Second // the longest before that

	// shortPause is the shortest, whatever a server says: one that ends each stream at once would
	// be asked without end.
	shortPause = 100 * time.Millisecond
)

// follow passes on the events that answer a request. A stream that breaks before the answer
// is taken up again where the server numbers its events.
func (s *server) follow(ctx context.Context, m *relay.Message, body io.Reader) {
	events := &stream{limit: s.options.Limit, pause: s.options.Pause}
	answered, came := false, false
	take := func(message []byte, long *tooLong) bool {
		came = true
		if message = s.kept(message, long); len(message) > 0 {
			answered = s.pass(m, message)
		}
		return !answered
	}
	_ = events.read(body, take) // however it ended
	for tries := 0; !answered && ctx.Err() == nil && events.last != "" && tries < mostTries; tries++ {
		if !wait(ctx, events.pause) {
			break
		}
		came = false
		again, taken := s.takeUp(ctx, events)
		if again == nil {
			if !taken {
				break
			}
			continue
		}
		_ = events.read(again.Body, take)
		again.Body.Close()
		if came {
			tries = -1
		}
	}
	if answered {
		return
	}
	problem := "the connection to the MCP server ended before the answer came"
	if events.lost {
		problem = fmt.Sprintf("the answer of the MCP server has more than %d bytes", events.limit)
	}
	s.unanswered(ctx, m, problem)
}

// kept returns the message of an event. In place of an answer that was too long it is an error;
// of any other message a person is told.
func (s *server) kept(message []byte, long *tooLong) []byte {
	switch {
	case long == nil:
		return message
	case long.answers != nil:
		return (&relay.Fault{Answers: long.answers, Text: long.Error()}).InPlace(relay.CodeServer)
	}
	s.tooLong.Do(func() {
		s.note("a message of the MCP server was left out, and more like it are not told: " + text.Line(long.Error()))
	})
	return nil
}

// takeUp asks for the events after the last one. again reports, without a response, whether
// another try makes sense.
func (s *server) takeUp(ctx context.Context, events *stream) (response *http.Response, again bool) {
	headers := http.Header{}
	if events.last != "" {
		headers.Set("Last-Event-ID", events.last)
	}
	response, err := s.do(ctx, http.MethodGet, nil, headers)
	if err != nil {
		return nil, true
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode == http.StatusOK && kind == "text/event-stream" {
		return response, true
	}
	response.Body.Close()
	return nil, response.StatusCode >= 500
}

// listen passes on what the server says by itself, where it has a stream for that.
func (s *server) listen(ctx context.Context) {
	events := &stream{limit: s.options.Limit, pause: s.options.Pause}
	for pause := time.Duration(0); wait(ctx, pause); {
		began := time.Now()
		response, again := s.takeUp(ctx, events)
		if response == nil && !again {
			return // it has none, which it may
		}
		if response != nil {
			_ = events.read(response.Body, func(message []byte, long *tooLong) bool {
				if message = s.kept(message, long); len(message) > 0 {
					s.pass(nil, message)
				}
				return true
			})
			response.Body.Close()
		}
		if pause = max(events.pause, min(2*pause, longPause)); time.Since(began) > longPause {
			pause = events.pause
		}
	}
}

// wait reports whether a time has passed, and ctx has not ended.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
