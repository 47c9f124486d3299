package mcphttp

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// The transport of the revision 2024-11-05, HTTP with SSE, has one stream for all that the server
// says. The first event of the stream is the address that messages are posted to; what answers a post
// means nothing. A server that has only this does not take the first message where the newer one is.

// otherRefusals are those that say nothing of the transport.
var otherRefusals = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooManyRequests}

// isOlder reports whether the server has refused to begin as one does that has only the older
// transport, and has that.
func (s *server) isOlder(m *relay.Message, response *http.Response) bool {
	if m.Method != "initialize" || response.StatusCode < 400 || response.StatusCode >= 500 || slices.Contains(otherRefusals, response.StatusCode) {
		return false
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "application/json" {
		body, err := io.ReadAll(io.LimitReader(response.Body, s.options.Limit))
		response.Body.Close()
		response.Body = io.NopCloser(bytes.NewReader(body)) // for the one who reads it next
		line := jsonspan.OneLine(bytes.TrimSpace(body))
		if answer, _ := relay.Read(line); err != nil || errorOf(line, answer) != nil {
			return false
		}
	}
	return s.reachOlder()
}

// reachOlder opens the stream, and reports whether its first event is an address.
func (s *server) reachOlder() bool {
	ctx, stop := context.WithCancel(s.life)
	limit := time.AfterFunc(acceptTime, stop)
	response, _ := s.takeUp(ctx, &stream{})
	if response == nil {
		stop()
		return false
	}
	began := make(chan bool, 1)
	s.listening.Go(func() {
		defer stop()
		defer response.Body.Close()
		events, first, older := &stream{limit: s.options.Limit, awaits: "endpoint"}, true, false
		_ = events.read(response.Body, func(message []byte, long *tooLong) bool {
			if first {
				first, events.awaits = false, "" // the address stays
				older = events.name == "endpoint" && long == nil && s.postTo(string(message))
				limit.Stop()
				began <- older
				return older
			}
			if message = s.kept(message, long); len(message) > 0 {
				s.pass(nil, message)
			}
			return true
		})
		if first {
			began <- false
		}
		if older && s.life.Err() == nil {
			s.endWith("its stream has ended: a client that starts hookd mcp again gets another one")
		}
	})
	return <-began
}

// postTo has messages posted to an address from now on. It reports false of one that is another
// server's: keys are in the headers.
func (s *server) postTo(address string) bool {
	base, _ := url.Parse(s.options.URL)
	to, err := base.Parse(address)
	if err != nil || !isSameServer(base, to) {
		s.note("the MCP server wants messages posted to another server, which is not done")
		return false
	}
	to.User = base.User // which is sent as a header
	s.state.setPosts(to.String())
	return true
}

// askOlder sends a request whose answer comes with the stream.
func (s *server) askOlder(ctx context.Context, m *relay.Message) {
	response, err := s.do(ctx, http.MethodPost, m, nil)
	if err != nil {
		s.unreached(ctx, m, err)
		return
	}
	response.Body.Close()
	if response.StatusCode >= 300 {
		s.refusedWith(ctx, m, response)
		return
	}
	<-ctx.Done() // it is answered, given up, or nothing comes any more
	s.unanswered(ctx, m, "")
}
