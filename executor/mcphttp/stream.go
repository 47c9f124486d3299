package mcphttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/lines"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

const (
	mostTries = 5                // to take up a stream again that brings nothing
	longPause = 30 * time.Second // the longest before that
)

// stream reads server-sent events, and remembers where it is.
type stream struct {
	limit int64
	last  string        // the id of the last event, "" if they have none
	pause time.Duration // before the stream is taken up again
}

// read calls take with the data of each event until the events end or take returns false.
func (s *stream) read(body io.Reader, take func(data []byte) bool) error {
	reader := lines.NewReader(body, lines.Options{Limit: s.limit})
	defer reader.Release()
	var data []byte
	has := false
	for {
		line, ended, err := reader.Next()
		if err != nil || !ended { // an event that has not ended does not count
			if err == nil || errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			if has && !take(data) {
				return nil
			}
			data, has = nil, false
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data":
			if has {
				data = append(data, '\n')
			}
			if data, has = append(data, value...), true; int64(len(data)) > s.limit {
				return &lines.TooLongError{Size: int64(len(data)), Limit: s.limit}
			}
		case "id":
			if bytes.IndexByte(value, 0) < 0 && len(value) <= 1024 {
				s.last = string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				s.pause = min(time.Duration(ms)*time.Millisecond, longPause)
			}
		}
	}
}

// follow passes on the events that answer a request. A stream that breaks before the answer
// is taken up again where the server numbers its events.
func (s *server) follow(ctx context.Context, m *relay.Message, body io.Reader) {
	events := &stream{limit: s.options.Limit, pause: s.options.Pause}
	answered, came := false, false
	take := func(data []byte) bool {
		came = true
		if line := jsonspan.OneLine(bytes.TrimSpace(data)); len(line) > 0 {
			answered = s.pass(m, line)
		}
		return !answered
	}
	err := events.read(body, take)
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
		err = events.read(again.Body, take)
		again.Body.Close()
		if came {
			tries = -1
		}
	}
	if answered {
		return
	}
	problem := "the connection to the MCP server ended before the answer came"
	if long := (*lines.TooLongError)(nil); errors.As(err, &long) {
		problem = fmt.Sprintf("the answer of the MCP server has more than %d bytes", long.Limit)
	}
	s.unanswered(ctx, m, problem)
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
func (s *server) listen() {
	events := &stream{limit: s.options.Limit, pause: s.options.Pause}
	for pause := time.Duration(0); wait(s.life, pause); {
		began := time.Now()
		response, again := s.takeUp(s.life, events)
		if response == nil && !again {
			return // it has none, which it may
		}
		if response != nil {
			err := events.read(response.Body, func(data []byte) bool {
				if line := jsonspan.OneLine(bytes.TrimSpace(data)); len(line) > 0 {
					s.said.line(line)
				}
				return true
			})
			response.Body.Close()
			if long := (*lines.TooLongError)(nil); errors.As(err, &long) {
				s.note("a message of the MCP server was left out: " + text.Line(long.Error()))
			}
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
