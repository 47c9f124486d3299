package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// served is a running server with an in-memory stdio and an in-memory listener.
type served struct {
	t        *testing.T
	server   *Server
	opener   *opener
	stdio    *peerEnd
	listener *memoryListener
	cancel   context.CancelCauseFunc
	ended    chan error
}

var errSignal = errors.New("signal: terminated")

// serve starts a server. The test is to end it, by the method shutdown, the end
// of stdin, or cancel.
func serve(t *testing.T, opt Options, o *opener) *served {
	if o == nil {
		o = &opener{}
	}
	if opt.Open == nil {
		opt.Open = o.open
	}
	s := &served{t: t, server: New(opt), opener: o, listener: newMemoryListener(), ended: make(chan error, 1)}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s.stdio = newPeerEnd(fromServer, toServer)
	ctx, cancel := context.WithCancelCause(context.Background())
	s.cancel = cancel
	go func() { s.ended <- s.server.Serve(ctx, rpc.NewConn(in, out, opt.Limits.Line), s.listener) }()
	return s
}

// end waits for the server to end, at most limit.
func (s *served) end(limit time.Duration) {
	s.t.Helper()
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Errorf("the server ended with %v", err)
		}
	case <-time.After(limit):
		s.t.Errorf("the server did not end within %v", limit)
		s.server.Abort()
		<-s.ended
	}
	s.cancel(nil)
	s.stdio.close()
}

// dial connects another client.
func (s *served) dial() *peerEnd {
	here, there := net.Pipe()
	s.listener.conns <- there
	return newPeerEnd(here, here)
}

// peerEnd is the client's end of a connection.
type peerEnd struct {
	w     io.WriteCloser
	lines chan string
	read  sync.WaitGroup
}

func newPeerEnd(r io.Reader, w io.WriteCloser) *peerEnd {
	p := &peerEnd{w: w, lines: make(chan string, 20_000)}
	p.read.Go(func() {
		defer close(p.lines)
		reader := rpc.NewReader(r, 1<<30)
		for {
			line, err := reader.Next()
			if err != nil {
				return
			}
			p.lines <- string(line)
		}
	})
	return p
}

func (p *peerEnd) send(lines ...string) error {
	for _, l := range lines {
		if _, err := io.WriteString(p.w, l+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// close ends both directions and waits for the reader.
func (p *peerEnd) close() {
	_ = p.w.Close()
	for range p.lines {
	}
	p.read.Wait()
}

// received is an answer or notification, as a test looks at it.
type received struct {
	ID     protocol.RawMessage `json:"id"`
	Method string              `json:"method"`
	Params protocol.RawMessage `json:"params"`
	Result protocol.RawMessage `json:"result"`
	Error  *rpc.Error          `json:"error"`
}

func (r received) code() rpc.Code {
	if r.Error == nil {
		return 0
	}
	return r.Error.Code
}

// next returns the next message, or fails after a while.
func (p *peerEnd) next(t *testing.T) received {
	t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			t.Fatal("the server has closed the connection")
		}
		var r received
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return r
	case <-time.After(20 * time.Second):
		t.Fatal("no message came")
	}
	return received{}
}

// answer returns the next message with an id, and fails unless it is that one.
func (p *peerEnd) answer(t *testing.T, id string) received {
	t.Helper()
	for {
		r := p.next(t)
		if r.Method != "" {
			continue
		}
		if string(r.ID) != id {
			t.Fatalf("answer to %s came, expected one to %s: %s %v", r.ID, id, r.Result, r.Error)
		}
		return r
	}
}

// memoryListener is a net.Listener of net.Pipe ends.
type memoryListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *memoryListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }
