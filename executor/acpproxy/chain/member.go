package chain

import (
	"cmp"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Options say what a member does.
type Options struct {
	// Note is told what a person should know. It may be called from several goroutines. nil:
	// nobody is told.
	Note  func(text string)
	Limit int64 // bytes of a message, default 32 MiB
}

// Member is a proxy's place in a chain.
type Member struct {
	in    io.Reader
	out   io.Writer
	left  <-chan struct{}
	limit int64
	notes *proxied.Notes

	says     [2]*queue // what the client and the successor say
	received received
	sent     sent
	dialect  atomic.Pointer[dialect] // nil: the chain has not begun
	writing  sync.Mutex              // one line at a time

	ends *ends
}

// ends is the end of the connection.
type ends struct {
	once sync.Once
	done chan struct{}
	how  string // once done is closed
}

// envelopeSize is how much longer a message may be in its envelope.
const envelopeSize = 1 << 10

// Join makes the two sides of a connection to a conductor.
func Join(conductor relay.Stream, o Options) *Member {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	m := &Member{
		in: conductor.In, out: conductor.Out, left: conductor.Left,
		limit:    cmp.Or(o.Limit, rpc.DefaultLimit) + envelopeSize,
		notes:    proxied.NewNotes("the conductor", o.Note),
		says:     [2]*queue{newQueue(), newQueue()},
		received: received{open: map[string]receivedRequest{}},
		sent:     sent{open: map[string]sentRequest{}, byID: map[sentKey]json.RawMessage{}},
		ends:     &ends{done: make(chan struct{})},
	}
	go m.read()
	return m
}

func (m *Member) note(why string, line []byte) { m.notes.Line(relay.Server, why, line) }

// Client is the side that the conductor speaks for without envelopes.
func (m *Member) Client() relay.Stream {
	return relay.Stream{In: &client{m}, Out: &writer{m, relay.Client}, Left: m.left}
}

// client is what the client says. Closing it ends the reading of the conductor.
type client struct{ member *Member }

func (c *client) Read(p []byte) (int, error) { return c.member.says[relay.Client].Read(p) }

// Close stops the reading, where it can be stopped: the stdin of a process ends with it.
func (c *client) Close() error {
	c.member.says[relay.Client].drop()
	if d, ok := c.member.in.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Unix(1, 0)) == nil {
		return nil
	}
	if closer, ok := c.member.in.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// Successor is the side of the envelopes, as a program that ends with the connection.
func (m *Member) Successor() *proxied.Process {
	return &proxied.Process{
		In: &writer{m, relay.Server}, Out: &successor{m}, Done: m.ends.done,
		End: func(time.Duration) {
			m.ends.end("hookd has left the chain")
			m.says[relay.Server].drop()
		},
		Ended: func() string { return m.ends.how },
	}
}

// successor is what the successor says.
type successor struct{ member *Member }

func (s *successor) Read(p []byte) (int, error) { return s.member.says[relay.Server].Read(p) }

func (s *successor) Close() error {
	s.member.says[relay.Server].drop()
	return nil
}

// finish ends both sides when the conductor says no more. The successor ends as a program does:
// after the proxy has told it all that the client has said.
func (m *Member) finish() {
	m.says[relay.Client].finish()
	m.ends.end("the conductor has closed the connection")
}

func (e *ends) end(how string) {
	e.once.Do(func() {
		e.how = how
		close(e.done)
	})
}
