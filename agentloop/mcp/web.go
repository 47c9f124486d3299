package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// web is how a server is reached over HTTP: with its headers, at its address
// only, with bounded answers, and no longer than life lasts.
type web struct {
	life    context.Context
	under   http.RoundTripper
	origin  string
	headers http.Header
	limit   int
}

// statusError is an answer that says who is asked and not what is wrong.
type statusError struct{ code int }

func (e *statusError) Error() string {
	return fmt.Sprintf("it answered %d %s", e.code, http.StatusText(e.code))
}

// redirectError is a redirection that is not followed.
type redirectError struct{ text string }

func (e *redirectError) Error() string { return e.text }

func (o *Options) webTransport(life context.Context, server *Server, under http.RoundTripper) sdk.Transport {
	w := &web{life: life, under: under, headers: http.Header{}, limit: o.Message}
	if address, err := url.Parse(server.URL); err == nil { // else no request leaves
		w.origin = originOf(address)
	}
	for name, value := range server.Headers {
		w.headers.Set(name, value)
	}
	client := &http.Client{Transport: w, CheckRedirect: sameOrigin}
	if server.Type == "sse" {
		return &sdk.SSEClientTransport{Endpoint: server.URL, HTTPClient: client, MaxEventSize: o.Message}
	}
	return &sdk.StreamableClientTransport{Endpoint: server.URL, HTTPClient: client, MaxEventSize: o.Message}
}

// sameOrigin follows redirections within the server's own origin only: the
// headers of the settings hold keys.
func sameOrigin(next *http.Request, before []*http.Request) error {
	first := before[0]
	switch {
	case originOf(next.URL) != originOf(first.URL):
		return &redirectError{"it redirects to another server, " + originOf(next.URL) + ", which is not followed"}
	case next.Method != first.Method:
		return &redirectError{"it redirects so that the message is lost, to " + next.URL.Path}
	case len(before) >= 5:
		return &redirectError{"it redirects without end"}
	}
	return nil
}

func originOf(address *url.URL) string { return address.Scheme + "://" + address.Host }

// RoundTrip implements http.RoundTripper.
func (w *web) RoundTrip(request *http.Request) (*http.Response, error) {
	if originOf(request.URL) != w.origin { // over SSE a server says where messages go
		return nil, &redirectError{"it wants its messages at another server, " + originOf(request.URL)}
	}
	ctx, cancel := context.WithCancel(request.Context())
	stop := context.AfterFunc(w.life, cancel)
	request = request.Clone(ctx)
	for name, values := range w.headers {
		request.Header[name] = values
	}
	response, err := w.under.RoundTrip(request)
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	if response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden {
		response.Body.Close()
		stop()
		cancel()
		return nil, &statusError{response.StatusCode}
	}
	body := &webBody{ReadCloser: response.Body, limit: w.limit, release: func() { stop(); cancel() }}
	if response.StatusCode < 300 {
		body.keep = captureOf(request.Context())
	}
	body.events = strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream")
	response.Body = body
	return response, nil
}

// webBody bounds an answer, and keeps the result in it for whoever wants it. In
// a stream of events the SDK bounds each, and each is looked at by itself.
type webBody struct {
	io.ReadCloser
	limit   int
	events  bool
	keep    *capture
	release func()

	total int
	line  bytes.Buffer // what has come of a line of a stream
	data  bytes.Buffer // of the event, or the whole answer
}

func (b *webBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.total += n; !b.events && b.total > b.limit {
		return n, fmt.Errorf("its answer is over %d bytes", b.limit)
	}
	if b.keep != nil {
		b.look(p[:n], err == io.EOF)
	}
	return n, err
}

func (b *webBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

func (b *webBody) look(piece []byte, end bool) {
	if !b.events {
		b.data.Write(piece)
		piece = nil
	}
	for len(piece) > 0 {
		before, after, whole := bytes.Cut(piece, []byte("\n"))
		if b.line.Len() <= b.limit { // the SDK refuses a longer one
			b.line.Write(before)
		}
		if piece = after; whole {
			b.endLine()
		}
	}
	if end {
		b.take()
	}
}

// endLine takes in a line of a stream.
func (b *webBody) endLine() {
	line := bytes.TrimRight(b.line.Bytes(), "\r")
	data, is := bytes.CutPrefix(line, []byte("data:"))
	switch {
	case is && b.data.Len()+len(data) <= b.limit: // else the SDK refuses the event
		b.data.Write(bytes.TrimPrefix(data, []byte(" ")))
		b.data.WriteByte('\n')
	case len(line) == 0:
		b.take()
	}
	b.line.Reset()
}

// take keeps the result of a message that is an answer.
func (b *webBody) take() {
	var message struct {
		Method string         `json:"method"`
		Result jsontext.Value `json:"result"`
	}
	if b.data.Len() > 0 && json.Unmarshal(b.data.Bytes(), &message, lenient) == nil && message.Method == "" {
		b.keep.set(message.Result)
	}
	b.data.Reset()
}

// withoutAddress is what went wrong on the way to a server, without the address,
// which may hold a key.
func withoutAddress(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
