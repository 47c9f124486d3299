package proxied

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Process is the running program that the proxy guards.
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

// ServerVariable is what the names of variables begin with that hookd mcp hands on to the MCP
// server that it starts, without this beginning, and keeps from itself and its hooks. An editor
// says which variables its servers have, and must not thereby say what hookd does.
const ServerVariable = "HOOKD_SERVER_ENV_"

// exitLag is how long the exit of a program may come after the end of its output.
const exitLag = 200 * time.Millisecond

// How says how the program has ended, "" if it has not, or nobody knows. It waits a moment
// for the exit of a program that has closed its output.
func (p *Process) How() string {
	if p.Ended == nil {
		return ""
	}
	select {
	case <-p.Done:
		return p.Ended()
	case <-time.After(exitLag):
		return ""
	}
}

// DefaultPatience is how long a program may take to end after its client has closed its
// stream.
const DefaultPatience = 2 * time.Second

// ErrClosed is the cause that a context of a connection ends with.
var ErrClosed = errors.New("the connection has ended")

// Connection is the messages between a client and a program, from the first to the end of
// both.
type Connection struct {
	Relay   *relay.Relay
	Process *Process

	// Patience is how long the program may take to end by itself: default DefaultPatience.
	// While the client waits for answers, and reads, it is five times as long. A program whose
	// client reads no more has no more time than Patience from then on.
	Patience time.Duration
	Waiting  func() bool // whether the client still waits for an answer
	// Ending is called once, before the program is ended: hooks that are asked about a
	// message are asked in vain from now on.
	Ending func()
}

// Run carries the messages until one side ends or ctx does, and ends the program.
func (c *Connection) Run(ctx context.Context) {
	c.Patience = cmp.Or(c.Patience, DefaultPatience)
	go c.Relay.Run()
	c.await(ctx)
	c.Ending()
	c.Process.End(0)
	c.finish(ctx)
}

// await returns when the program is to be ended, or has ended and all is said.
func (c *Connection) await(ctx context.Context) {
	select {
	case <-c.Relay.Done():
	case <-ctx.Done():
	case <-c.Relay.Gone(relay.Client):
		c.awaitProgram(ctx)
	case <-c.Relay.Left(): // what it wrote with may be held by another program
		c.Process.End(c.Patience)
	case <-c.Relay.Gone(relay.Server): // it says no more, or cannot be written to
		c.within(ctx, c.Patience, nil)
	case <-c.Process.Done: // what it left may hold its output
		c.within(ctx, c.Patience, nil)
	}
}

// awaitProgram gives the program time to end by itself after the client has closed its
// stream, and to answer what the client still waits for.
func (c *Connection) awaitProgram(ctx context.Context) {
	const looks = 5 // at how much is still to be answered
	for range looks {
		if c.within(ctx, c.Patience, c.Relay.Left()) {
			return
		}
		select {
		case <-c.Relay.Left(): // nobody reads an answer
			c.Process.End(c.Patience)
			return
		default:
		}
		if !c.Waiting() {
			return
		}
		select {
		case <-c.Process.Done: // nobody answers any more
			return
		default:
		}
	}
}

// within waits for the end of the relay and reports whether it came, or ctx ended. It waits no
// longer than until left is closed; nil: that does not matter.
func (c *Connection) within(ctx context.Context, limit time.Duration, left <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.Relay.Done():
		return true
	case <-ctx.Done():
		return true
	case <-timer.C:
		return false
	case <-left:
		return false
	}
}

// finish waits until the client has read what is left for it. A client that has gone, or
// does not read although hookd is told to end, is not waited for.
func (c *Connection) finish(ctx context.Context) {
	select {
	case <-c.Relay.Done():
		return
	case <-ctx.Done():
	case <-c.Relay.Gone(relay.Client):
	}
	if !c.within(context.WithoutCancel(ctx), time.Second, nil) {
		c.Relay.Abandon(relay.Client)
	}
}
