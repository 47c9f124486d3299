package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/lines"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Options say how a peer works.
type Options struct {
	Limit int64 // bytes of a line; 0: [rpc.DefaultLimit]

	// Cancel is the notification with which either side says that it does not wait for a
	// request's answer any more: its params have the member requestId. "" for none.
	Cancel string

	// Receive is called for each request and notification, in order. It must return soon:
	// nothing else is read meanwhile.
	Receive func(*Request)
}

// ErrEnded is why a call fails when the connection has ended.
var ErrEnded = errors.New("the connection has ended")

// Peer is one end of a connection.
type Peer struct {
	options Options
	in      io.Reader
	out     *outbox

	mu       sync.Mutex
	lastID   int64
	calls    map[string]*Pending // of this side, by the key of their id
	requests map[string]*Request // of the other side, that have no answer yet
	ended    bool
}

// New returns a peer on two streams.
func New(in io.Reader, out io.Writer, options Options) *Peer {
	if options.Limit <= 0 {
		options.Limit = rpc.DefaultLimit
	}
	return &Peer{
		options: options, in: in, out: newOutbox(out),
		calls: map[string]*Pending{}, requests: map[string]*Request{},
	}
}

// line is what one read came to.
type line struct {
	text []byte
	long *lines.TooLongError // it was too long to be kept
	was  rpc.Overlong        // that one
	err  error
}

// Run reads until the other side has said its last message, which is no error, or ctx ends. It
// returns why it could not read on. No request is handed over after it has returned.
func (p *Peer) Run(ctx context.Context) error {
	defer p.end()
	read := make(chan line)
	stop := make(chan struct{})
	defer close(stop)
	go p.read(read, stop) // a read of a pipe cannot be taken back
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.out.failed:
			return fmt.Errorf("write: %w", p.out.failure())
		case l := <-read:
			switch {
			case l.long != nil:
				p.takeOverlong(&l)
			case len(l.text) > 0:
				p.take(ctx, l.text)
			}
			switch {
			case errors.Is(l.err, io.EOF):
				return nil
			case l.err != nil:
				return fmt.Errorf("read: %w", l.err)
			}
		}
	}
}

// read reads lines until there are no more, or nobody wants them.
func (p *Peer) read(to chan<- line, stop <-chan struct{}) {
	var l line
	reader := lines.NewReader(p.in, lines.Options{Limit: p.options.Limit, Skipped: func(piece []byte) { l.was.Add(piece) }})
	defer reader.Release()
	for {
		p.out.waitForAnswers()
		l = line{}
		l.text, _, l.err = reader.Next()
		if long, is := errors.AsType[*lines.TooLongError](l.err); is {
			l.long, l.err = long, nil
		}
		l.text = bytes.TrimSpace(l.text)
		select {
		case to <- l:
		case <-stop:
			return
		}
		if l.err != nil {
			return
		}
	}
}

// takeOverlong answers a request that was too long to be kept, and the call of an answer that was.
func (p *Peer) takeOverlong(l *line) {
	failure := rpc.Errorf(rpc.InvalidRequest, "%v", l.long)
	switch m, known := l.was.Message(); {
	case known && m.Method == "":
		m.Error = failure
		p.takeAnswer(&m)
	case known:
		if m.ID != nil {
			p.answer(m.ID, nil, failure)
		}
	default:
		p.answer(nil, nil, failure)
	}
}

// take hands over the message of a line.
func (p *Peer) take(ctx context.Context, text []byte) {
	m, failure := rpc.Parse(text)
	switch {
	case failure != nil:
		p.answer(nil, nil, failure)
	case m.Method == "" && p.takeAnswer(&m):
	case m.Invalid != nil:
		p.answer(m.ID, nil, m.Invalid)
	case m.ID == nil && m.Method == p.options.Cancel && m.Method != "":
		p.cancelRequest(m.Params)
	default:
		p.takeRequest(ctx, &m)
	}
}

func (p *Peer) takeRequest(ctx context.Context, m *rpc.Message) {
	r := &Request{Method: m.Method, Params: m.Params, id: m.ID, peer: p}
	if m.ID == nil {
		r.ctx, r.cancel = ctx, func(error) {}
		p.options.Receive(r)
		return
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	p.mu.Lock()
	twice := p.requests[m.Key()] != nil
	if !twice {
		p.requests[m.Key()] = r
	}
	p.mu.Unlock()
	if twice {
		r.cancel(nil)
		p.answer(m.ID, nil, rpc.Errorf(rpc.InvalidRequest, "another request with the id %s waits for its answer", m.ID))
		return
	}
	r.key = m.Key()
	p.options.Receive(r)
}

// ErrCancelled is the cause of the context of a request that the other side has taken back.
var ErrCancelled = errors.New("the request was cancelled")

func (p *Peer) cancelRequest(params []byte) {
	id := jsonspan.Get(params, "requestId")
	if id == nil {
		return
	}
	p.mu.Lock()
	r := p.requests[(&rpc.Message{ID: id}).Key()]
	p.mu.Unlock()
	if r != nil {
		r.cancel(ErrCancelled)
	}
}

// answer sends a response. It does not wait for the other side to read.
func (p *Peer) answer(id, result []byte, failure *rpc.Error) {
	if failure != nil {
		p.out.put(rpc.AppendError(nil, id, failure))
		return
	}
	p.out.put(rpc.AppendResult(nil, id, result))
}

// takeAnswer hands an answer to the call that waits for it, and reports whether the message is one:
// it has a result or an error, or the id of a call. An answer that JSON-RPC does not allow is no
// answer that could be counted on, whatever it says: the call has failed.
func (p *Peer) takeAnswer(m *rpc.Message) bool {
	p.mu.Lock()
	call := p.calls[m.Key()]
	delete(p.calls, m.Key())
	p.mu.Unlock()
	switch {
	case call == nil: // or of a call that nobody waits for any more
		return m.Result != nil || m.Error != nil
	case m.Invalid != nil:
		call.answer <- answer{err: rpc.Errorf(rpc.InvalidRequest, "the answer is not one of JSON-RPC: %s", m.Invalid.Message)}
	case m.Error != nil:
		call.answer <- answer{err: m.Error}
	default:
		call.answer <- answer{result: m.Result}
	}
	return true
}

// end ends what waits on either side.
func (p *Peer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for key, call := range p.calls {
		delete(p.calls, key)
		call.answer <- answer{err: ErrEnded}
	}
	for _, r := range p.requests {
		r.cancel(ErrEnded)
	}
}

// nextID returns the id of a call of this side. The lock must be held.
func (p *Peer) nextID() []byte {
	p.lastID++
	return strconv.AppendInt(nil, p.lastID, 10)
}

// Decode reads params or a result into a value. The error says which member is wrong.
func Decode(text []byte, into any) *rpc.Error { return decode(text, into) }

// DecodeStrictly does what [Decode] does, and takes no member that is not known.
func DecodeStrictly(text []byte, into any) *rpc.Error {
	return decode(text, into, json.RejectUnknownMembers(true))
}

func decode(text []byte, into any, options ...json.Options) *rpc.Error {
	if text == nil {
		text = []byte("{}")
	}
	err := json.Unmarshal(text, into, options...)
	if err == nil {
		return nil
	}
	failure := rpc.Errorf(rpc.InvalidParams, "%v", err)
	if semantic, is := errors.AsType[*json.SemanticError](err); is {
		failure = rpc.Errorf(rpc.InvalidParams, "%s: no %s belongs here", orParams(string(semantic.JSONPointer)), semantic.JSONKind)
		if semantic.Err != nil {
			failure = rpc.Errorf(rpc.InvalidParams, "%s: %v", orParams(string(semantic.JSONPointer)), semantic.Err)
		}
		failure = failure.With("path", string(semantic.JSONPointer))
	}
	return failure
}

func orParams(pointer string) string {
	if pointer == "" {
		return "params"
	}
	return pointer
}
