package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
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
	awaited *awaited
	apart   bool // answers do not come on the request's own way (the transport sse)
}

// statusError is an answer that says who is asked and not what is wrong.
type statusError struct{ code int }

func (e *statusError) Error() string {
	return fmt.Sprintf("it answered %d %s", e.code, http.StatusText(e.code))
}

// refusedError is an answer that is not taken: a redirection that is not
// followed, or a page in the place of a message.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }

func (o *Options) webTransport(life context.Context, server *Server, under http.RoundTripper, odd func(kind, text string)) sdk.Transport {
	w := &web{life: life, under: under, headers: http.Header{}, limit: o.Message, awaited: newAwaited(odd)}
	if address, err := url.Parse(server.URL); err == nil { // else no request leaves
		w.origin = originOf(address)
	}
	for name, value := range server.Headers {
		w.headers.Set(name, value)
	}
	client := &http.Client{Transport: w, CheckRedirect: sameOrigin}
	if server.Type == "sse" {
		w.apart = true
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
		return &refusedError{"it redirects to another server, " + originOf(next.URL) + ", which is not followed"}
	case next.Method != first.Method:
		return &refusedError{"it redirects so that the message is lost, to " + next.URL.Path}
	case len(before) >= 5:
		return &refusedError{"it redirects without end"}
	}
	return nil
}

func originOf(address *url.URL) string { return address.Scheme + "://" + address.Host }

// RoundTrip implements http.RoundTripper.
func (w *web) RoundTrip(request *http.Request) (*http.Response, error) {
	if originOf(request.URL) != w.origin { // over SSE a server says where messages go
		return nil, &refusedError{"it wants its messages at another server, " + originOf(request.URL)}
	}
	id := w.expect(request)
	if w.apart {
		id = 0
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
	body := &webBody{from: response.Body, limit: w.limit, awaited: w.awaited, only: id, release: func() { stop(); cancel() }}
	if err := body.understand(response); err != nil {
		body.Close()
		return nil, err
	}
	response.Body = body
	return response, nil
}

// expect notes the call that a request carries, and returns its id, 0 if it
// carries none.
func (w *web) expect(request *http.Request) int64 {
	if request.Method != http.MethodPost || request.GetBody == nil {
		return 0
	}
	copied, err := request.GetBody()
	if err != nil {
		return 0
	}
	defer copied.Close()
	text, err := io.ReadAll(copied)
	if err != nil {
		return 0
	}
	var sent envelope
	if json.Unmarshal(text, &sent, lenient) != nil || sent.isAnswer() {
		return 0
	}
	id, is := idOf(sent.ID)
	if !is {
		return 0
	}
	var method string
	_ = json.Unmarshal(sent.Method, &method) // the SDK wrote it
	w.awaited.expect(request.Context(), id, method)
	return id
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
