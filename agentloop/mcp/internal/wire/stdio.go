package wire

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio is the SDK's transport and connection over the pipes of a program. The SDK's own
// ends with the first banner line and blocks while a server does not read.
type Stdio struct {
	in      io.Writer
	out     io.Reader
	options StdioOptions
	pending *pendingRequests
	stray   strayText
	probe   probe

	incoming inbox
	outgoing chan []byte
	closed   chan struct{}
	closing  sync.Once
	working  sync.WaitGroup
	flushed  chan struct{} // closed when nothing more is written
}

// StdioOptions bound what a server may do.
type StdioOptions struct {
	Limit      int           // bytes of a message
	ProbeLimit time.Duration // how long it may be silent on the first question of the newest revision
	Report     Report
}

// inbox holds what was read until the SDK takes it.
type inbox struct {
	messages chan jsonrpc.Message // closed when reading has ended

	mu  sync.Mutex
	end error // why it ended
}

func (b *inbox) close(end error) {
	b.mu.Lock()
	b.end = end
	b.mu.Unlock()
	close(b.messages)
}

func (b *inbox) ended() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.end
}

// NewStdio returns a connection that writes to a program's stdin and reads its stdout.
func NewStdio(in io.Writer, out io.Reader, o StdioOptions) *Stdio {
	s := &Stdio{
		in: in, out: out, options: o, pending: newPendingRequests(o.Report),
		stray:    strayText{limit: o.Limit, report: o.Report},
		incoming: inbox{messages: make(chan jsonrpc.Message)}, outgoing: make(chan []byte, 16),
		closed: make(chan struct{}), flushed: make(chan struct{}),
	}
	s.probe.refusal = make(chan jsonrpc.Message, 1)
	return s
}

// Connect implements the SDK's transport.
func (s *Stdio) Connect(context.Context) (sdk.Connection, error) {
	s.working.Go(s.read)
	s.working.Go(s.write)
	return s, nil
}

// SessionID implements the SDK's connection; there is none.
func (s *Stdio) SessionID() string { return "" }

func (s *Stdio) read() {
	lines := newLineReader(s.out, s.options.Limit, s.stray.add)
	for {
		list, err := lines.next()
		for i := range list {
			if err == nil {
				err = s.pass(&list[i])
			}
		}
		if err != nil {
			if s.isClosed() {
				err = io.EOF // we closed the pipe ourselves
			}
			s.incoming.close(err)
			return
		}
	}
}

// pass hands a message of the server to the SDK.
func (s *Stdio) pass(e *message) error {
	if e.Version == nil { // without its tag it is a message only if somebody waits for it
		if !s.pending.has(e.ID) {
			return s.stray.add([]byte(`{"id":` + string(e.ID) + `, …}`))
		}
		return fmt.Errorf("wrote a message without \"jsonrpc\":\"2.0\": {\"id\":%s, …}", idText(e.ID))
	}
	s.stray.bytes = 0
	if !e.isAnswer() {
		request, err := e.request()
		if err != nil {
			return err
		}
		return s.hand(request)
	}
	for _, response := range s.pending.resolve(e, 0) {
		s.probe.answered(response.ID)
		if err := s.hand(response); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stdio) hand(m jsonrpc.Message) error {
	select {
	case s.incoming.messages <- m:
		return nil
	case <-s.closed:
		return io.EOF
	}
}

// write is the only one that writes, so that a server that does not read blocks
// nobody else.
func (s *Stdio) write() {
	defer close(s.flushed)
	for {
		select {
		case line := <-s.outgoing:
			if _, err := s.in.Write(line); err != nil {
				return // the end of its stdout says why
			}
		case <-s.closed:
			for {
				select {
				case line := <-s.outgoing:
					if _, err := s.in.Write(line); err != nil {
						return
					}
				default:
					return
				}
			}
		}
	}
}

// Read implements the SDK's connection.
func (s *Stdio) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m, more := <-s.incoming.messages:
		if !more {
			return nil, s.incoming.ended()
		}
		return m, nil
	case m := <-s.probe.refusal:
		return m, nil
	case <-s.closed:
		return nil, io.EOF
	}
}

// Write implements the SDK's connection. It returns when the message is on its
// way, without waiting for the server to read it.
func (s *Stdio) Write(ctx context.Context, m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	request, is := m.(*jsonrpc.Request)
	if is && request.IsCall() {
		s.expect(ctx, request)
	}
	select {
	case s.outgoing <- append(line, '\n'):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.flushed:
		return io.ErrClosedPipe
	case <-s.closed:
		return io.ErrClosedPipe
	}
}

func (s *Stdio) expect(ctx context.Context, request *jsonrpc.Request) {
	id, is := request.ID.Raw().(int64)
	if !is {
		return // the SDK counts its requests
	}
	s.pending.expect(ctx, id, request.Method)
	if request.Method == "server/discover" {
		s.probe.begin(id, s.options.ProbeLimit, s.pending)
	}
}

// probe is the first question of the newest revision. A server of an older revision may
// stay silent on what it does not know, which means the same as a refusal (MCP
// 2026-07-28, transports): it is then refused in the server's place.
type probe struct {
	refusal chan jsonrpc.Message

	mu    sync.Mutex
	timer *time.Timer
	id    int64
}

// begin waits for the answer. It is asked at most twice, and one after the other: see the
// SDK's Connect.
func (p *probe) begin(id int64, limit time.Duration, pending *pendingRequests) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id = id
	p.timer = time.AfterFunc(limit, func() {
		if refusal := pending.abandon(id, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no answer"}); refusal != nil {
			p.refusal <- refusal
		}
	})
}

func (p *probe) answered(id jsonrpc.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil && id == numberID(p.id) {
		p.timer.Stop()
	}
}

func (p *probe) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
}

// Close implements the SDK's connection, which calls it under its own lock: it
// only says that it is over.
func (s *Stdio) Close() error {
	s.closing.Do(func() { close(s.closed) })
	return nil
}

func (s *Stdio) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// flushTimeout is how long what was to be written has to leave.
const flushTimeout = 100 * time.Millisecond

// End closes the connection, calls end, which must end the program and its pipes, and
// returns when nothing works any more.
func (s *Stdio) End(end func()) {
	s.Close()
	select {
	case <-s.flushed:
	case <-time.After(flushTimeout):
	}
	end()
	s.working.Wait()
	s.probe.stop()
}

// Failure returns why the server cannot be talked with any more, nil if it just ended its
// stdout.
func (s *Stdio) Failure() error {
	if err := s.incoming.ended(); err != io.EOF {
		return err
	}
	return nil
}

// FirstStrayLine returns the first line of its stdout that was no message, "" without
// one.
func (s *Stdio) FirstStrayLine() string { return s.stray.firstLine() }
