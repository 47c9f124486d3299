package mcpproxy

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Options say what a proxy does.
type Options struct {
	Hooks   Hooks
	Server  string // name of the server, in the names of its tools
	Session string // id of the session that the events belong to
	Cwd     string // absolute path
	Depth   int    // how many hooks and tools stand above this process

	// Tell is told each decided event, and Note what else a person should know. They may be
	// called from several goroutines. nil: nobody is told.
	Tell func(*protocol.Outcome)
	Note func(text string)

	// Patience is how long a server may take to end after the client has closed its stream:
	// default 2 s. While the client still waits for answers it is five times as long.
	Patience time.Duration
	Limit    int64 // bytes of a message, default 32 MiB

	server *Process
}

func (o *Options) tell(outcome *protocol.Outcome) {
	if o.Tell != nil {
		o.Tell(outcome)
	}
}

func (o *Options) note(text string) {
	if o.Note != nil {
		o.Note(text)
	}
}

// ended says how the server has ended, "" if it has not, or nobody knows.
func (o *Options) ended() string {
	if o.server.Ended == nil {
		return ""
	}
	select {
	case <-o.server.Done:
		return o.server.Ended()
	case <-time.After(exitLag):
		return ""
	}
}

// exitLag is how long the exit of a program may come after the end of its output.
const exitLag = 200 * time.Millisecond

// Process is a running server.
type Process struct {
	In   io.WriteCloser
	Out  io.ReadCloser
	Done <-chan struct{} // closed when it has exited
	// End closes In, gives the program the time to exit, ends its whole tree, and closes
	// Out. It may be called again.
	End func(patience time.Duration)
	// Ended says how it has ended, once Done is closed. nil: nobody knows.
	Ended func() string
}

var errClosed = errors.New("the connection has ended")

// Run carries messages between the client and the server until one of them ends or ctx does,
// and ends the server. The error is that of ctx.
func Run(ctx context.Context, client relay.Stream, server *Process, options Options) error {
	options.Patience = cmp.Or(options.Patience, 2*time.Second)
	options.server = server
	life, end := context.WithCancelCause(ctx)
	defer end(errClosed)
	g := newGuard(life, &options)
	var r *relay.Relay
	r = relay.New(relay.Options{
		Client: client, Server: relay.Stream{In: server.Out, Out: server.In},
		FromClient: g.fromClient, FromServer: g.fromServer, Batches: g.batches,
		ServerEnded: func() { g.serverEnded(func(line []byte) { r.Send(relay.Client, line) }) },
		Note:        newNotes(options.note).line,
		Limit:       options.Limit,
	})
	go r.Run()
	c := &connection{relay: r, server: server, guard: g, options: &options}
	c.await(ctx)
	end(errClosed) // hooks that are still asked about a call are asked in vain
	server.End(0)
	c.finish(ctx)
	g.background.Wait()
	return context.Cause(ctx)
}

// connection waits for the end of both sides.
type connection struct {
	relay   *relay.Relay
	server  *Process
	guard   *guard
	options *Options
}

// await returns when the server is to be ended, or has ended and all is said.
func (c *connection) await(ctx context.Context) {
	select {
	case <-c.relay.Done():
	case <-ctx.Done():
	case <-c.relay.Gone(relay.Client):
		c.awaitServer(ctx)
	case <-c.relay.Gone(relay.Server): // it says no more, or cannot be written to
		c.within(ctx, c.options.Patience)
	case <-c.server.Done: // what it left may hold its output
		c.within(ctx, c.options.Patience)
	}
}

// awaitServer gives the server time to end by itself after the client has closed its stream,
// and to answer what the client still waits for.
func (c *connection) awaitServer(ctx context.Context) {
	const looks = 5 // at how much is still to be answered
	for range looks {
		if c.within(ctx, c.options.Patience) || c.guard.pending.count() == 0 {
			return
		}
	}
}

// within waits for the end of the relay and reports whether it came, or ctx ended.
func (c *connection) within(ctx context.Context, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.relay.Done():
		return true
	case <-ctx.Done():
		return true
	case <-timer.C:
		return false
	}
}

// finish waits until the client has read what is left for it. A client that has gone, or
// does not read although hookd is told to end, is not waited for.
func (c *connection) finish(ctx context.Context) {
	select {
	case <-c.relay.Done():
		return
	case <-ctx.Done():
	case <-c.relay.Gone(relay.Client):
	}
	if !c.within(context.WithoutCancel(ctx), time.Second) {
		c.relay.Abandon(relay.Client)
	}
}
