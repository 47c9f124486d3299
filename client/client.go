package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Options configure a client. The zero value is useful: it can carry out
// nothing but observe, block, modify and stop, and is told nothing.
type Options struct {
	Name, Version string // of the agent: agent.host of its events unless they say otherwise
	Capabilities  Capabilities

	// OnNotify gets the daemon's notifications, one at a time and in order. It
	// may call the client. While it is 1024 notifications behind, later ones are
	// dropped.
	OnNotify func(method string, params protocol.RawMessage)

	Limit int64 // longest answer in bytes, default 128 MiB

	Dir    string    // for Start: working directory of the daemon
	Env    []string  // for Start: its environment, nil for our own
	Stderr io.Writer // for Start: default our stderr

	// Executable, for Dial, is the program file that the daemon must run from.
	// The default is the hookd on PATH, the one that Start would start.
	// [AnyExecutable] leaves the check out.
	Executable string
}

// Capabilities are what the agent can carry out of an outcome, and what it
// wants to be told. What it does not name it cannot do: an ask is then a block,
// the others are lost and a notice says so.
type Capabilities struct {
	Ask           bool     `json:"ask"`                    // let a person decide
	Callback      bool     `json:"callback"`               // run a recipe
	Continue      bool     `json:"continue"`               // go on with a step or run that would end
	Notifications []string `json:"notifications,omitzero"` // hook/started hook/finished log
}

// ErrLost is wrapped by every error of a client whose daemon is gone.
var ErrLost = errors.New("the daemon is gone")

// Client is a connection to a daemon. It is safe for concurrent use.
type Client struct {
	lines   *rpc.Conn
	opt     Options
	end     func() error  // what Close does besides closing the connection
	send    chan []byte   // lines for the writer
	slots   chan struct{} // requests in flight
	notes   chan rpc.Message
	done    chan struct{} // closed when nothing is read any more
	closing sync.Once
	closed  error
	wg      sync.WaitGroup

	mu      sync.Mutex
	next    int64
	waiting map[string]chan<- answer
	lost    error // set when done is closed
}

type answer struct {
	result protocol.RawMessage
	err    error
}

// inFlight is how many requests may be unanswered. It keeps a cancellation from
// standing behind more than the daemon reads ahead.
const inFlight = 256

const defaultLimit = 128 << 20

// newClient serves a connection and introduces itself on it.
func newClient(ctx context.Context, lines *rpc.Conn, opt Options) (*Client, error) {
	c := &Client{
		lines: lines, opt: opt,
		send:    make(chan []byte, 4*inFlight), // requests, and cancellations of them and of earlier ones
		slots:   make(chan struct{}, inFlight),
		notes:   make(chan rpc.Message, 1024),
		done:    make(chan struct{}),
		waiting: map[string]chan<- answer{},
	}
	c.wg.Go(c.read)
	c.wg.Go(c.write)
	c.wg.Go(c.notify)
	return c, c.initialize(ctx)
}

func (c *Client) initialize(ctx context.Context) error {
	var result struct {
		Version int `json:"version"`
	}
	params := struct {
		Version      int               `json:"version"`
		Client       map[string]string `json:"client"`
		Capabilities Capabilities      `json:"capabilities"`
	}{protocol.Version, map[string]string{"name": c.opt.Name, "version": c.opt.Version}, c.opt.Capabilities}
	if err := c.call(ctx, "initialize", params, &result); err != nil {
		return err
	}
	if result.Version != protocol.Version {
		return fmt.Errorf("the daemon speaks version %d of the protocol, and this client version %d", result.Version, protocol.Version)
	}
	return nil
}

// List returns the hooks of a project in running order, as hookd list --json
// prints them.
func (c *Client) List(ctx context.Context, project string) (protocol.RawMessage, error) {
	var listing protocol.RawMessage
	return listing, c.call(ctx, "hooks/list", map[string]string{"project": project}, &listing)
}

// Reload makes the daemon read the hooks of a project anew, and returns them.
func (c *Client) Reload(ctx context.Context, project string) (protocol.RawMessage, error) {
	var listing protocol.RawMessage
	return listing, c.call(ctx, "hooks/reload", map[string]string{"project": project}, &listing)
}

// Ping returns when the daemon has answered.
func (c *Client) Ping(ctx context.Context) error {
	return c.call(ctx, "ping", struct{}{}, nil)
}

// Done is closed when the daemon is gone or the client is closed.
func (c *Client) Done() <-chan struct{} { return c.done }

// Close ends the connection. A daemon that [Start] started is shut down: its
// events come to an end, observers are waited for, and no process is left. The
// error says when it had to be killed.
func (c *Client) Close() error {
	c.closing.Do(func() {
		if c.end != nil {
			c.closed = c.end()
		}
		_ = c.lines.Close()
		c.wg.Wait()
	})
	return c.closed
}

// call sends a request and waits for its answer. When ctx ends first the daemon
// is told to abort the request, and the error is the cause of that end.
func (c *Client) call(ctx context.Context, method string, params, result any) error {
	encoded, err := protocol.Marshal(params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.done:
		return c.lost
	case c.slots <- struct{}{}:
	}
	id, arrived, err := c.post(method, encoded)
	if err != nil {
		<-c.slots
		return err
	}
	select {
	case a := <-arrived:
		if a.err != nil || result == nil {
			return a.err
		}
		if err := json.Unmarshal(a.result, result); err != nil {
			return fmt.Errorf("%s: the answer cannot be read: %w", method, err)
		}
		return nil
	case <-ctx.Done():
		c.enqueue(rpc.AppendRequest(nil, nil, "$/cancelRequest", protocol.RawMessage(`{"id":`+id+`}`)))
		return context.Cause(ctx)
	}
}

// post sends a request. Its slot is free again when the answer has come, also
// when nobody waits for it any more.
func (c *Client) post(method string, params protocol.RawMessage) (id string, _ <-chan answer, _ error) {
	arrived := make(chan answer, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return "", nil, c.lost
	}
	c.next++
	id = fmt.Sprint(c.next)
	c.waiting[id] = arrived
	c.enqueue(rpc.AppendRequest(nil, protocol.RawMessage(id), method, params))
	return id, arrived, nil
}

// enqueue hands a line to the writer. The channel has room for all lines there
// can be, so it waits only in a client that is being closed.
func (c *Client) enqueue(line []byte) {
	select {
	case c.send <- line:
	case <-c.done:
	}
}

func (c *Client) write() {
	for {
		select {
		case line := <-c.send:
			if c.lines.Send(line) != nil {
				_ = c.lines.Close() // which ends the reading
				return
			}
		case <-c.done:
			return
		}
	}
}

func (c *Client) read() {
	err := c.readAll()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = ErrLost
	if err != nil {
		c.lost = fmt.Errorf("%w: %w", ErrLost, err)
	}
	for id, arrived := range c.waiting {
		arrived <- answer{err: c.lost}
		delete(c.waiting, id)
	}
	close(c.done)
}

func (c *Client) readAll() error {
	for {
		line, err := c.lines.Recv()
		var long *rpc.TooLongError
		if errors.As(err, &long) {
			// Whose answer it was is not known, so none may be waited for.
			return err
		}
		if err != nil {
			return err
		}
		m, failure := rpc.Parse(line)
		if failure != nil {
			return fmt.Errorf("what it sent cannot be read: %w", failure)
		}
		c.take(m)
	}
}

func (c *Client) take(m rpc.Message) {
	switch {
	case m.Invalid != nil:
	case m.Method != "":
		select {
		case c.notes <- m:
		default:
		}
	default:
		c.mu.Lock()
		arrived := c.waiting[m.Key()]
		delete(c.waiting, m.Key())
		c.mu.Unlock()
		if arrived == nil {
			return
		}
		<-c.slots
		a := answer{result: m.Result}
		if m.Error != nil {
			a.err = m.Error
		}
		arrived <- a
	}
}

func (c *Client) notify() {
	for {
		select {
		case m := <-c.notes:
			if c.opt.OnNotify != nil {
				c.opt.OnNotify(m.Method, m.Params)
			}
		case <-c.done:
			return
		}
	}
}
