package mcp

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio is the SDK's transport and connection over the pipes of a program. The
// SDK's own ends with the first banner line and blocks while a server does not
// read.
type stdio struct {
	process *Process
	limit   int           // bytes of a message
	probe   time.Duration // ProbeLimit

	incoming chan jsonrpc.Message
	refusal  chan jsonrpc.Message // see refuse
	outgoing chan []byte
	closed   chan struct{}
	closing  sync.Once
	working  sync.WaitGroup
	flushed  chan struct{} // closed when nothing more is written
	awaited  *awaited
	chatter  chatter // of the goroutine that reads

	mu      sync.Mutex
	broken  error // why reading ended
	noise   string
	probing *time.Timer
	probed  int64
}

// newStdio talks with a program. odd is told what it does that it should not,
// which is no reason to end it.
func newStdio(p *Process, o *Options, odd func(kind, text string)) *stdio {
	s := &stdio{
		process: p, limit: o.Message, probe: o.ProbeLimit, awaited: newAwaited(odd),
		incoming: make(chan jsonrpc.Message), refusal: make(chan jsonrpc.Message, 1), outgoing: make(chan []byte, 16),
		closed: make(chan struct{}), flushed: make(chan struct{}),
	}
	s.chatter = chatter{limit: o.Message, told: func(first string) {
		s.mu.Lock()
		s.noise = first
		s.mu.Unlock()
		odd("chatter", "writes other text than messages to its stdout, which is passed over: "+first)
	}}
	return s
}

// Connect implements the SDK's transport.
func (s *stdio) Connect(context.Context) (sdk.Connection, error) {
	s.working.Go(s.read)
	s.working.Go(s.write)
	return s, nil
}

// SessionID implements the SDK's connection; there is none.
func (s *stdio) SessionID() string { return "" }

func (s *stdio) read() {
	defer close(s.incoming)
	lines := newLineReader(s.process.Out, s.limit, s.chatter.line)
	for {
		list, err := lines.next()
		for i := range list {
			if err == nil {
				err = s.pass(&list[i])
			}
		}
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.broken = err; s.isClosed() {
				s.broken = io.EOF // it is us who closed the pipe
			}
			return
		}
	}
}

// pass hands a message of the server to the SDK.
func (s *stdio) pass(e *envelope) error {
	if e.Version == nil { // without its tag it is a message only if somebody waits for it
		if !s.awaited.has(e.ID) {
			return s.chatter.line([]byte(`{"id":` + string(e.ID) + `, …}`))
		}
		return fmt.Errorf("wrote a message without \"jsonrpc\":\"2.0\": {\"id\":%s, …}", idText(e.ID))
	}
	s.chatter.bytes = 0
	if !e.isAnswer() {
		request, err := e.request()
		if err != nil {
			return err
		}
		return s.hand(request)
	}
	for _, response := range s.awaited.settle(e, 0) {
		s.mu.Lock()
		if s.probing != nil && response.ID == numberID(s.probed) {
			s.probing.Stop()
		}
		s.mu.Unlock()
		if err := s.hand(response); err != nil {
			return err
		}
	}
	return nil
}

func (s *stdio) hand(m jsonrpc.Message) error {
	select {
	case s.incoming <- m:
		return nil
	case <-s.closed:
		return io.EOF
	}
}

// write is the only one that writes, so that a server that does not read blocks
// nobody else.
func (s *stdio) write() {
	defer close(s.flushed)
	for {
		select {
		case line := <-s.outgoing:
			if _, err := s.process.In.Write(line); err != nil {
				return // the end of its stdout says why
			}
		case <-s.closed:
			for {
				select {
				case line := <-s.outgoing:
					if _, err := s.process.In.Write(line); err != nil {
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
func (s *stdio) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m, more := <-s.incoming:
		if !more {
			s.mu.Lock()
			defer s.mu.Unlock()
			return nil, s.broken
		}
		return m, nil
	case m := <-s.refusal:
		return m, nil
	case <-s.closed:
		return nil, io.EOF
	}
}

// Write implements the SDK's connection. It returns when the message is on its
// way, without waiting for the server to read it.
func (s *stdio) Write(ctx context.Context, m jsonrpc.Message) error {
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

func (s *stdio) expect(ctx context.Context, request *jsonrpc.Request) {
	id, is := request.ID.Raw().(int64)
	if !is {
		return // the SDK counts its requests
	}
	s.awaited.expect(ctx, id, request.Method)
	if request.Method == "server/discover" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.probed = id // asked at most twice, and not at once: see the SDK's Connect
		s.probing = time.AfterFunc(s.probe, func() { s.refuse(id) })
	}
}

// refuse answers the first question of the newest revision in a server's place.
// One of an older revision may stay silent on what it does not know, which means
// the same as a refusal (MCP 2026-07-28, transports).
func (s *stdio) refuse(id int64) {
	if refusal := s.awaited.abandon(id, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no answer"}); refusal != nil {
		s.refusal <- refusal
	}
}

// Close implements the SDK's connection, which calls it under its own lock: it
// only says that it is over.
func (s *stdio) Close() error {
	s.closing.Do(func() { close(s.closed) })
	return nil
}

func (s *stdio) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// end ends the program and all that serves it. What was to be written has a
// moment to leave.
func (s *stdio) end() Ending {
	s.Close()
	within(s.flushed, 100*time.Millisecond)
	ending := s.process.End(patience)
	s.working.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.probing != nil {
		s.probing.Stop()
	}
	return ending
}

// failure is why the server cannot be talked with any more, nil if it just ended
// its stdout.
func (s *stdio) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == io.EOF {
		return nil
	}
	return s.broken
}

// banner is the first line of its stdout that was no message, "" without one.
func (s *stdio) banner() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noise
}
