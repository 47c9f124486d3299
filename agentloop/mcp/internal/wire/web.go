package wire

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

// web is how a server is reached over HTTP: with its headers, at its address only, with
// bounded answers, and no longer than the context of its options lasts.
type web struct {
	WebOptions
	origin  string
	headers http.Header
	pending *pendingRequests
}

// WebOptions say how a server is reached.
type WebOptions struct {
	Context   context.Context // every request ends with it
	URL       string
	SSE       bool              // the older transport, whose answers come on a way of their own
	Headers   map[string]string // sent with every request, to this origin only
	Transport http.RoundTripper
	Limit     int // bytes of a message
	Report    Report
}

// StatusError is an answer that refuses the user: 401 or 403.
type StatusError struct{ code int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("it answered %d %s", e.code, http.StatusText(e.code))
}

// NewWeb returns the SDK's transport to a server.
func NewWeb(o WebOptions) sdk.Transport {
	w := &web{WebOptions: o, headers: http.Header{}, pending: newPendingRequests(o.Report)}
	if address, err := url.Parse(o.URL); err == nil { // else no request leaves
		w.origin = originOf(address)
	}
	for name, value := range o.Headers {
		w.headers.Set(name, value)
	}
	client := &http.Client{Transport: w, CheckRedirect: sameOrigin}
	if o.SSE {
		return &sdk.SSEClientTransport{Endpoint: o.URL, HTTPClient: client, MaxEventSize: o.Limit}
	}
	return &sdk.StreamableClientTransport{Endpoint: o.URL, HTTPClient: client, MaxEventSize: o.Limit}
}

// sameOrigin follows redirections within the server's own origin only: the
// headers of the settings hold keys.
func sameOrigin(next *http.Request, before []*http.Request) error {
	first := before[0]
	switch {
	case originOf(next.URL) != originOf(first.URL):
		return &RefusedError{"it redirects to another server, " + originOf(next.URL) + ", which is not followed"}
	case next.Method != first.Method:
		return &RefusedError{"it redirects so that the message is lost, to " + next.URL.Path}
	case len(before) >= 5:
		return &RefusedError{"it redirects without end"}
	}
	return nil
}

func originOf(address *url.URL) string { return address.Scheme + "://" + address.Host }

// RoundTrip implements http.RoundTripper.
func (w *web) RoundTrip(request *http.Request) (*http.Response, error) {
	if originOf(request.URL) != w.origin { // over SSE a server says where messages go
		return nil, &RefusedError{"it wants its messages at another server, " + originOf(request.URL)}
	}
	id := w.expect(request)
	if w.SSE {
		id = 0
	}
	ctx, cancel := context.WithCancel(request.Context())
	stop := context.AfterFunc(w.Context, cancel)
	request = request.Clone(ctx)
	for name, values := range w.headers {
		request.Header[name] = values
	}
	response, err := w.Transport.RoundTrip(request)
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	if response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden {
		response.Body.Close()
		stop()
		cancel()
		return nil, &StatusError{response.StatusCode}
	}
	body := &webBody{from: response.Body, limit: w.Limit, pending: w.pending, only: id, release: func() { stop(); cancel() }}
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
	var sent message
	if json.Unmarshal(text, &sent, Lenient) != nil || sent.isAnswer() {
		return 0
	}
	id, is := idOf(sent.ID)
	if !is {
		return 0
	}
	var method string
	_ = json.Unmarshal(sent.Method, &method) // the SDK wrote it
	w.pending.expect(request.Context(), id, method)
	return id
}

// WithoutAddress returns what went wrong on the way to a server, without the address,
// which may hold a key.
func WithoutAddress(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
