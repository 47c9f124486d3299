package relay

import (
	"cmp"
	"io"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/crew"
)

// Side is one of the two programs.
type Side int

const (
	Client Side = iota
	Server
)

func (s Side) other() Side { return 1 - s }

// Stream is how one side is reached.
type Stream struct {
	In  io.Reader // what it writes
	Out io.Writer // what it reads; closed after the last line if it is an io.Closer

	// Left is closed when nobody reads Out any more. nil: that shows when a write fails.
	Left <-chan struct{}
}

// Options say what a relay does.
type Options struct {
	Client, Server Stream

	// FromClient and FromServer decide what becomes of the messages of a side. Each is
	// called for one message after the other, in the order in which they came, and must
	// return at once.
	FromClient, FromServer func(*Message) Decision

	// ServerEnded is called when the server has said its last message and all of them are
	// decided, before the client's stream ends: a call that still waits can be answered with
	// Relay.Send. nil: nobody is.
	ServerEnded func()

	// Batches reports whether the client may send batches now. nil: never.
	Batches func() bool

	// Note is told of lines that are no messages and were not passed on. It must return
	// quickly. nil: nobody is told.
	Note func(from Side, text string, line []byte)

	Limit int64 // bytes of a line, default 32 MiB
	Code  int   // of the error in place of an answer that is too long, default CodeServer
}

func (o *Options) decide(from Side) func(*Message) Decision {
	decide := o.FromServer
	if from == Client {
		decide = o.FromClient
	}
	if decide == nil {
		return func(m *Message) Decision { return Pass(m.Line) }
	}
	return decide
}

// Relay is the two directions between a client and a server.
type Relay struct {
	options Options
	boxes   [2]*outbox // for the client, for the server
	goneOf  [2]*gone
	crew    crew.Crew // decides messages
	done    chan struct{}
}

// gone is closed when a side says or reads nothing more.
type gone struct {
	once sync.Once
	c    chan struct{}
}

func (g *gone) end() { g.once.Do(func() { close(g.c) }) }

// New returns a relay, which [Relay.Run] sets to work.
func New(o Options) *Relay {
	o.Limit, o.Code = cmp.Or(o.Limit, rpc.DefaultLimit), cmp.Or(o.Code, CodeServer)
	r := &Relay{options: o, done: make(chan struct{})}
	for side := range r.boxes {
		r.boxes[side], r.goneOf[side] = newOutbox(), &gone{c: make(chan struct{})}
	}
	return r
}

// Run relays until the server has said its last message and the client has read all, or
// cannot be written to any more. It does not wait for what cannot be ended: a client that
// says nothing and does not close its stream.
func (r *Relay) Run() {
	defer close(r.done)
	defer r.crew.End()
	var working sync.WaitGroup
	working.Go(func() { r.write(Client, r.options.Client.Out) })
	working.Go(func() { r.write(Server, r.options.Server.Out) })
	clientDone := make(chan struct{})
	go func() {
		defer close(clientDone)
		r.way(Client, r.options.Client.In).run()
		r.boxes[Server].close()
	}()
	r.way(Server, r.options.Server.In).run()
	if r.options.ServerEnded != nil {
		r.options.ServerEnded()
	}
	r.boxes[Client].close()
	<-r.boxes[Client].done
	r.boxes[Server].abandon() // nobody would answer
	stopReading(r.options.Client.In, clientDone)
	working.Wait()
}

func (r *Relay) way(from Side, in io.Reader) *way {
	return &way{from: from, in: in, out: r.boxes[from.other()], back: r.boxes[from], relay: r, held: newHeld(), lanes: map[string][]*place{}}
}

// write writes what a side reads, and closes its stream at the end.
func (r *Relay) write(to Side, out io.Writer) {
	if r.boxes[to].write(out) != nil {
		r.goneOf[to].end()
	}
	if closer, ok := out.(io.Closer); ok {
		closer.Close()
	}
}

// Done is closed when Run has returned.
func (r *Relay) Done() <-chan struct{} { return r.done }

// Gone is closed when a side has said its last message, or cannot be written to.
func (r *Relay) Gone(side Side) <-chan struct{} { return r.goneOf[side].c }

// Left is closed when the client is known to read nothing more.
func (r *Relay) Left() <-chan struct{} { return r.options.Client.Left }

// Send sends a line of the relay's own to a side.
func (r *Relay) Send(to Side, line []byte) { r.boxes[to].put(line) }

// Abandon gives up what a side has not read yet.
func (r *Relay) Abandon(side Side) { r.boxes[side].abandon() }

func (r *Relay) note(from Side, text string, line []byte) {
	if r.options.Note != nil {
		r.options.Note(from, text, line)
	}
}

// stopReading makes a reader return, if that can be done, and waits a moment for that: the
// stdin of a process cannot be interrupted everywhere, and ends with the process.
func stopReading(in io.Reader, stopped <-chan struct{}) {
	if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Unix(1, 0)) == nil {
		<-stopped
		return
	}
	if closer, ok := in.(io.Closer); ok {
		closer.Close()
	}
	select {
	case <-stopped:
	case <-time.After(50 * time.Millisecond):
	}
}
