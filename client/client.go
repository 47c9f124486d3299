package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Options configure a client. The zero value is useful: the agent can then carry out
// only observe, block, modify and stop, and gets no notifications.
type Options struct {
	Name, Version string // of the agent: agent.host of its events unless they say otherwise
	Capabilities  Capabilities

	// OnNotify gets the daemon's notifications, one at a time and in order. It
	// may call the client. While 1024 notifications wait for it, later ones are
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
	conn    *connection
	opt     Options
	end     func() error // called by Close after the connection is closed
	closing sync.Once
	closed  error
}

const defaultLimit = 128 << 20

// newClient serves a connection and introduces itself on it.
func newClient(ctx context.Context, lines *rpc.Conn, opt Options) (*Client, error) {
	c := &Client{conn: newConnection(lines, opt.OnNotify), opt: opt}
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
	if err := c.conn.call(ctx, "initialize", params, &result); err != nil {
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
	return listing, c.conn.call(ctx, "hooks/list", map[string]string{"project": project}, &listing)
}

// Reload makes the daemon read the hooks of a project anew, and returns them.
func (c *Client) Reload(ctx context.Context, project string) (protocol.RawMessage, error) {
	var listing protocol.RawMessage
	return listing, c.conn.call(ctx, "hooks/reload", map[string]string{"project": project}, &listing)
}

// Ping returns when the daemon has answered.
func (c *Client) Ping(ctx context.Context) error {
	return c.conn.call(ctx, "ping", struct{}{}, nil)
}

// Done is closed when the daemon is gone or the client is closed.
func (c *Client) Done() <-chan struct{} { return c.conn.done }

// Close ends the connection. A daemon that [Start] started is shut down: its
// events come to an end, observers are waited for, and no process is left. The
// error says when it had to be killed.
func (c *Client) Close() error {
	c.closing.Do(func() {
		if c.end != nil {
			c.closed = c.end()
		}
		c.conn.close()
	})
	return c.closed
}
