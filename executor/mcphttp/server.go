package mcphttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/lines"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Options say how a server is reached.
type Options struct {
	URL     string
	Headers http.Header       // sent with everything, to the origin of the URL only
	Via     http.RoundTripper // nil: the usual one
	Limit   int64             // bytes of a message, default 32 MiB
	Note    func(text string) // what a person should know; nil: nobody is told

	// Pause is how long to wait before a stream that has broken is taken up again, where the
	// server does not say: default 1 s, and longer each time.
	Pause time.Duration
}

// server is a server that is reached over HTTP.
type server struct {
	options Options
	client  *http.Client
	life    context.Context
	end     context.CancelCauseFunc
	in      *io.PipeWriter
	out     *io.PipeReader
	said    *output
	done    chan struct{}

	state     state
	requests  sync.WaitGroup // that wait for their answers
	listening listening
	tooLong   sync.Once // a person is told of messages that were left out
}

// listening is for what the server says by itself.
type listening struct {
	sync.WaitGroup
	stop func()
}

// output is what the server says, a line each.
type output struct {
	mu sync.Mutex
	to *io.PipeWriter
}

func (o *output) line(text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = o.to.Write(append(text, '\n')) // it fails once nobody reads
}

var errEnd = errors.New("the connection has ended")

// gone is why a connection cannot go on.
type gone struct{ text string }

func (g *gone) Error() string { return g.text }

// Start returns a server as a process that runs. Nothing is sent before the first line. The
// error says what is wrong with the address or the headers.
func Start(o Options) (*proxied.Process, error) {
	address, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the address cannot be read: %w", withoutAddress(err))
	case address.Scheme != "http" && address.Scheme != "https" || address.Host == "":
		return nil, errors.New("the address is none of http or https")
	}
	for name, values := range o.Headers {
		for _, value := range values {
			if err := CheckHeader(name, value); err != nil {
				return nil, fmt.Errorf("the header %s: %w", text.Line(name), err)
			}
		}
	}
	o.Limit, o.Pause = cmp.Or(o.Limit, rpc.DefaultLimit), cmp.Or(o.Pause, time.Second)
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	s := &server{
		options: o, client: &http.Client{Transport: o.Via, CheckRedirect: sameOrigin},
		in: in, out: out, said: &output{to: outWrite}, done: make(chan struct{}),
		state:     state{open: map[string]*request{}, bindings: map[string][]binding{}},
		listening: listening{stop: func() {}},
	}
	s.life, s.end = context.WithCancelCause(context.Background())
	go s.run(inRead)
	return &proxied.Process{In: in, Out: out, Done: s.done, End: s.close, Ended: s.how}, nil
}

// run sends each line, and ends the session when no more come and all are answered.
func (s *server) run(in io.Reader) {
	defer close(s.done)
	reader := lines.NewReader(in, lines.Options{})
	defer reader.Release()
	for {
		line, _, err := reader.Next()
		if err != nil {
			break
		}
		if m, fault := relay.Read(line); fault == nil {
			s.send(m)
		}
	}
	s.state.endSubscriptions()
	s.requests.Wait()
	s.end(errEnd)
	s.listening.Wait()
	s.leave()
	s.said.to.Close()
}

// close ends the session, after the time that open requests have for their answers.
func (s *server) close(patience time.Duration) {
	s.in.Close()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-s.done:
		return
	case <-timer.C:
	}
	s.end(errEnd)
	s.out.Close() // nobody reads any more
	<-s.done
}

// how says how the connection has ended.
func (s *server) how() string {
	if why := (*gone)(nil); errors.As(context.Cause(s.life), &why) {
		return why.text
	}
	return ""
}

// note tells a person something.
func (s *server) note(text string) {
	if s.options.Note != nil {
		s.options.Note(text)
	}
}

// leaveTime bounds the farewell.
const leaveTime = 2 * time.Second

// leave tells the server that its session is not used any more.
func (s *server) leave() {
	session, _ := s.state.session()
	if why := (*gone)(nil); session == "" || errors.As(context.Cause(s.life), &why) {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), leaveTime)
	defer stop()
	if response, err := s.do(ctx, http.MethodDelete, nil, nil); err == nil {
		response.Body.Close()
	}
}

// sameOrigin follows redirections to the same origin only, and only those that keep the
// message.
func sameOrigin(next *http.Request, before []*http.Request) error {
	first := before[0]
	switch {
	case !isSameServer(first.URL, next.URL):
		return fmt.Errorf("it redirects to another server, %s://%s, which is not followed", next.URL.Scheme, next.URL.Host)
	case next.Method != first.Method:
		return errors.New("it redirects so that the message is lost")
	case len(before) >= 5:
		return errors.New("it redirects without end")
	}
	return nil
}

// isSameServer reports whether two addresses have the same origin, however they are written.
func isSameServer(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// withoutAddress returns what went wrong without the address, which may hold a key.
func withoutAddress(err error) error {
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
