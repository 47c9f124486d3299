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

// connection sends requests and hands their answers to the callers. One goroutine reads,
// one writes, and one calls OnNotify.
type connection struct {
	lines    *rpc.Conn
	onNotify func(method string, params protocol.RawMessage)
	send     chan []byte   // lines for the writer
	slots    chan struct{} // requests in flight
	notes    chan rpc.Message
	done     chan struct{} // closed when nothing is read any more
	wg       sync.WaitGroup

	mu      sync.Mutex
	next    int64
	waiting map[string]chan<- answer
	lost    error // set when done is closed
}

type answer struct {
	result protocol.RawMessage
	err    error
}

// inFlight is how many requests may be unanswered. It is small enough that the daemon
// still reads a cancellation that comes after all of them.
const inFlight = 256

func newConnection(lines *rpc.Conn, onNotify func(string, protocol.RawMessage)) *connection {
	c := &connection{
		lines: lines, onNotify: onNotify,
		send:    make(chan []byte, 4*inFlight), // requests, and cancellations of them and of earlier ones
		slots:   make(chan struct{}, inFlight),
		notes:   make(chan rpc.Message, 1024),
		done:    make(chan struct{}),
		waiting: map[string]chan<- answer{},
	}
	c.wg.Go(c.read)
	c.wg.Go(c.write)
	c.wg.Go(c.notify)
	return c
}

// close returns when the connection is closed and its goroutines have ended.
func (c *connection) close() {
	_ = c.lines.Close()
	c.wg.Wait()
}

// call sends a request and waits for its answer. When ctx ends first the daemon
// is told to abort the request, and the error is the cause of that end.
func (c *connection) call(ctx context.Context, method string, params, result any) error {
	encoded, err := protocol.Marshal(params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // a select would choose at random between this and a free slot
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
			return fmt.Errorf("%s: the answer cannot be read: %w", method, protocol.PlainError(err))
		}
		return nil
	case <-ctx.Done():
		c.enqueue(rpc.AppendRequest(nil, nil, "$/cancelRequest", protocol.RawMessage(`{"id":`+id+`}`)))
		return context.Cause(ctx)
	}
}

// post sends a request. Its slot is free again when the answer has come, even if the
// caller has stopped waiting for it.
func (c *connection) post(method string, params protocol.RawMessage) (id string, _ <-chan answer, _ error) {
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
func (c *connection) enqueue(line []byte) {
	select {
	case c.send <- line:
	case <-c.done:
	}
}

func (c *connection) write() {
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

func (c *connection) read() {
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

func (c *connection) readAll() error {
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

func (c *connection) take(m rpc.Message) {
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

func (c *connection) notify() {
	for {
		select {
		case m := <-c.notes:
			if c.onNotify != nil {
				c.onNotify(m.Method, m.Params)
			}
		case <-c.done:
			return
		}
	}
}
