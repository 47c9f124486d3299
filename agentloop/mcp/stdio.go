package mcp

import (
	"context"
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
	lines    *lineReader   // the reading goroutine's, until broken is set

	mu      sync.Mutex
	broken  error // why reading ended
	noise   string
	wanted  map[jsonrpc.ID]wanted
	probing *time.Timer
	probed  jsonrpc.ID
}

// wanted is a request whose result somebody wants as the server wrote it.
type wanted struct {
	method string
	keep   *capture
}

func newStdio(p *Process, o *Options) *stdio {
	return &stdio{
		process: p, limit: o.Message, probe: o.ProbeLimit,
		incoming: make(chan jsonrpc.Message), refusal: make(chan jsonrpc.Message, 1), outgoing: make(chan []byte, 16),
		closed: make(chan struct{}), flushed: make(chan struct{}),
		wanted: map[jsonrpc.ID]wanted{},
	}
}

// Connect implements the SDK's transport.
func (s *stdio) Connect(context.Context) (sdk.Connection, error) {
	s.lines = newLineReader(s.process.Out, s.limit)
	s.working.Go(s.read)
	s.working.Go(s.write)
	return s, nil
}

// SessionID implements the SDK's connection; there is none.
func (s *stdio) SessionID() string { return "" }

func (s *stdio) read() {
	defer close(s.incoming)
	for {
		messages, err := s.lines.next()
		s.mu.Lock()
		s.noise = s.lines.first
		if err != nil {
			s.broken = err
			if s.isClosed() {
				s.broken = io.EOF // it is us who closed the pipe
			}
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
		for _, m := range messages {
			s.note(m)
			select {
			case s.incoming <- m:
			case <-s.closed:
				s.mu.Lock()
				s.broken = io.EOF
				s.mu.Unlock()
				return
			}
		}
	}
}

// note keeps what somebody waits for, before the SDK reads it.
func (s *stdio) note(m jsonrpc.Message) {
	response, is := m.(*jsonrpc.Response)
	if !is {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.probing != nil && response.ID == s.probed {
		s.probing.Stop()
	}
	if w, is := s.wanted[response.ID]; is {
		w.keep.set(response.Result)
		response.Result = stand(w.method, response.Result)
		delete(s.wanted, response.ID)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	id := request.ID
	if c := captureOf(ctx); c != nil {
		s.wanted[id] = wanted{request.Method, c}
		context.AfterFunc(ctx, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.wanted, id)
		})
	}
	if request.Method == "server/discover" {
		s.probed = id // asked at most twice, and not at once: see the SDK's Connect
		s.probing = time.AfterFunc(s.probe, func() { s.refuse(id) })
	}
}

// refuse answers the first question of the newest revision in a server's place.
// One of an older revision may stay silent on what it does not know, which means
// the same as a refusal (MCP 2026-07-28, transports).
func (s *stdio) refuse(id jsonrpc.ID) {
	s.refusal <- &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no answer"}}
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

// chatter is the first line of its stdout that was no message, "" without one.
func (s *stdio) chatter() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noise
}
