package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/internal/text"
)

// The limits of an answer. A server that reads a long prompt on a slow machine
// is silent for minutes before its first byte; one that has begun to answer is
// not.
const (
	firstByteLimit = 10 * time.Minute // from the request to the head of the answer, and to its first byte
	idleLimit      = 3 * time.Minute  // between two pieces of an answer
	maxAnswer      = 64 << 20         // bytes of one answer, what wraps each piece of it included
	maxRefuse      = 64 << 10         // bytes that are read of an answer that is an error
)

// Options say how to reach a server.
type Options struct {
	Provider  string        // for messages: "Anthropic"
	Headers   http.Header   // sent with each request; they replace those that the provider sets
	Secrets   []string      // never shown in an error, even if the server repeats them
	KeyName   string        // for messages: where the key comes from
	FirstByte time.Duration // 0: [firstByteLimit]
	Idle      time.Duration // 0: [idleLimit]
}

// Client sends requests to one provider. Its requests go through the proxy that
// the environment names. It follows a redirect only to the same host: neither
// keys nor conversations go anywhere else.
type Client struct {
	options Options
	http    *http.Client
}

// NewClient returns a client. It connects on the first request.
func NewClient(options Options) *Client {
	options.FirstByte = cmp.Or(options.FirstByte, firstByteLimit)
	options.Idle = cmp.Or(options.Idle, idleLimit)
	for _, values := range options.Headers {
		options.Secrets = append(options.Secrets, values...)
	}
	return &Client{options: options, http: &http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			first := via[0]
			same := next.URL.Scheme == first.URL.Scheme && next.URL.Host == first.URL.Host && next.Method == first.Method
			if !same || len(via) > 5 {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// Do sends a request. It returns a stream of events, or a [*model.Error], or the
// cause of the request's context. The body of the answer fails in the same ways.
func (c *Client) Do(request *http.Request) (*http.Response, error) {
	for name, values := range c.options.Headers {
		request.Header[name] = values
	}
	caller := request.Context()
	ctx, cancel := context.WithCancelCause(caller)
	silence := time.AfterFunc(c.options.FirstByte, func() {
		cancel(fmt.Errorf("the server did not begin to answer within %s", c.options.FirstByte))
	})
	watched := &body{caller: caller, ctx: ctx, cancel: cancel, silence: silence, client: c}
	response, err := c.http.Do(request.WithContext(ctx))
	if err != nil {
		defer watched.Close()
		return nil, watched.failure(err)
	}
	watched.from = response.Body
	response.Body = watched
	if err := c.accept(response); err != nil {
		watched.Close()
		return nil, err
	}
	return response, nil
}

// accept refuses what is not a stream of events.
func (c *Client) accept(response *http.Response) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case response.StatusCode/100 == 2 && kind != "text/html" && kind != "application/json":
		return nil // some servers call a stream text/plain, or nothing
	case response.StatusCode/100 == 3:
		where := response.Header.Get("Location")
		if to, err := response.Location(); err == nil {
			where = to.Scheme + "://" + to.Host
		}
		return &model.Error{Status: response.StatusCode, Err: fmt.Errorf("the server sends requests on to %s; that is not followed, since the key is not meant for it; if it is right, set agent.baseUrl to it", text.Shorten(where, 200))}
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxRefuse))
	if err != nil && len(text) == 0 {
		if response.StatusCode/100 == 2 {
			return err
		}
		text = nil // the status says enough
	}
	return c.Refusal(response.StatusCode, response.Header, kind, text)
}

// Close gives up the connections that are kept for the next request.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// body is the answer while it arrives.
type body struct {
	from    io.ReadCloser
	caller  context.Context
	ctx     context.Context
	cancel  context.CancelCauseFunc
	silence *time.Timer
	client  *Client
	read    int64
	event   int  // bytes of the event so far
	inLine  bool // the line so far is not empty
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if n > 0 {
		idle := b.client.options.Idle
		if b.read == 0 {
			b.silence.Stop()
			b.silence = time.AfterFunc(idle, func() {
				b.cancel(fmt.Errorf("the server sent nothing for %s in the middle of an answer", idle))
			})
		} else {
			b.silence.Reset(idle)
		}
	}
	if b.read += int64(n); b.read > maxAnswer {
		return n, &model.Error{Err: fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)}
	}
	if b.watch(p[:n]); b.event > maxEvent {
		return n, tooLong()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.failure(err)
	}
	return n, err
}

// watch counts the bytes since the last empty line: the reader that puts an event together,
// ours or that of an SDK, keeps that much in memory.
func (b *body) watch(p []byte) {
	for _, c := range p {
		switch b.event++; c {
		case '\n':
			if !b.inLine {
				b.event = 0
			}
			b.inLine = false
		case '\r':
		default:
			b.inLine = true
		}
	}
}

func (b *body) Close() error {
	b.silence.Stop()
	var err error
	if b.from != nil {
		err = b.from.Close()
	}
	b.cancel(nil)
	return err
}

// failure says why a request got no answer, or no whole one.
func (b *body) failure(err error) error {
	if b.caller.Err() != nil {
		return context.Cause(b.caller)
	}
	if known := new(model.Error); errors.As(err, &known) {
		return known
	}
	if cause := context.Cause(b.ctx); cause != nil {
		return &model.Error{Retryable: true, Err: cause}
	}
	failed := b.unreached(err)
	if said := failed.Err.Error(); b.client.withoutSecrets(said) != said { // such as those of a proxy's address
		failed.Err = errors.New(b.client.withoutSecrets(said))
	}
	return failed
}

// unreached says why the server was not reached, or was lost.
func (b *body) unreached(err error) *model.Error {
	failed := &model.Error{Retryable: true}
	where := "the server"
	if u := new(url.Error); errors.As(err, &u) {
		if parsed, e := url.Parse(u.URL); e == nil {
			where = parsed.Scheme + "://" + parsed.Host
		}
		err = u.Err
	}
	nobody := new(net.DNSError)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED): // it may be starting
		failed.Err = fmt.Errorf("no server answers at %s: %w; is it running, and is agent.baseUrl right?", where, syscall.ECONNREFUSED)
	case errors.As(err, &nobody) && nobody.IsNotFound:
		failed.Retryable = false
		failed.Err = fmt.Errorf("there is no host of that name: %s: %w; is agent.baseUrl right?", where, err)
	case strings.Contains(err.Error(), "certificate"), strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		failed.Retryable = false
		failed.Err = fmt.Errorf("no safe connection to %s: %w", where, err)
	case b.read > 0:
		failed.Err = fmt.Errorf("the connection was lost in the middle of an answer: %w", err)
	default:
		failed.Err = fmt.Errorf("the connection to %s was lost: %w", where, err)
	}
	return failed
}
