package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookd-dev/hookd/agentloop/mcp/internal/wire"
)

// connection is one connection with a server, from its start to its end. After a restart
// there is another one.
type connection struct {
	server  *Server
	options *Options

	life        lifetime
	program     *program        // nil over HTTP
	pool        *http.Transport // over HTTP, if it is our own
	session     *sdk.ClientSession
	opened      openedTransport
	listChanged chan struct{} // holds one item when the list of tools has changed
	progress    progressReports

	ended  chan struct{} // closed when nothing of it is left
	ending Ending        // of its program; valid when ended is closed
}

// program is a server that runs here.
type program struct {
	*Process
	*wire.Stdio
}

// lifetime is the two contexts of a connection.
type lifetime struct {
	context context.Context // of everything on the way to the server
	cancel  context.CancelCauseFunc

	calls       context.Context // of the calls, which end a little earlier
	cancelCalls context.CancelCauseFunc
}

func newLifetime(ctx context.Context) (l lifetime) {
	l.context, l.cancel = context.WithCancelCause(ctx)
	l.calls, l.cancelCalls = context.WithCancelCause(l.context)
	return l
}

var (
	errSlow   = errors.New("it was not ready in time")
	errClosed = errors.New("the run is over")
)

// newestLegacy is the newest revision that begins with initialize.
const newestLegacy = "2025-11-25"

// open connects with a server. The caller must call close, also after an error. legacy
// leaves the question of the newest revision out, as some older servers end at it.
func (o *Options) open(ctx context.Context, server *Server, legacy bool, report wire.Report) (*connection, error) {
	c := &connection{server: server, options: o, life: newLifetime(ctx), listChanged: make(chan struct{}, 1), ended: make(chan struct{})}
	slow := time.AfterFunc(o.StartLimit, func() { c.life.cancel(fmt.Errorf("%w (%s)", errSlow, o.StartLimit)) })
	defer slow.Stop()
	transport, err := c.transport(report)
	if err != nil {
		return c, err
	}
	c.opened.Transport = transport
	client := sdk.NewClient(&sdk.Implementation{Name: "hookd", Version: "1"}, &sdk.ClientOptions{
		//lint:ignore SA1019 roots are deprecated for later versions of the protocol, and what servers of today ask for
		Capabilities:                &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{}},
		Logger:                      slog.New(slog.DiscardHandler),
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { c.noteListChange() },
		ProgressNotificationHandler: c.progress.received,
	})
	//lint:ignore SA1019 roots are deprecated for later versions of the protocol, and what servers of today ask for
	client.AddRoots(o.roots()...)
	var session sdk.ClientSessionOptions
	if legacy {
		session.ProtocolVersion = newestLegacy
	}
	err = c.guard(func() (err error) {
		c.session, err = client.Connect(c.life.context, &c.opened, &session)
		return err
	})
	return c, err
}

// roots are the folders that a server is told of.
//
//lint:ignore SA1019 roots are deprecated for later versions of the protocol, and what servers of today ask for
func (o *Options) roots() (list []*sdk.Root) {
	for _, folder := range append([]string{o.Project}, o.Also...) {
		if folder == "" {
			continue
		}
		address := url.URL{Scheme: "file", Path: filepath.ToSlash(folder)}
		//lint:ignore SA1019 as above
		list = append(list, &sdk.Root{URI: address.String(), Name: filepath.Base(folder)})
	}
	return list
}

func (c *connection) transport(report wire.Report) (sdk.Transport, error) {
	if c.server.Command == "" {
		under := c.options.Web
		if under == nil {
			c.pool = http.DefaultTransport.(*http.Transport).Clone()
			under = c.pool
		}
		return wire.NewWeb(wire.WebOptions{
			Context: c.life.context, URL: c.server.URL, SSE: c.server.Type == "sse", Headers: c.server.Headers,
			Transport: under, Limit: c.options.Message, Report: report,
		}), nil
	}
	if c.options.Start == nil {
		return nil, errors.New("programs cannot be started here")
	}
	argv := append([]string{c.server.Command}, c.server.Args...)
	// close ends the program, gently first; its context does not.
	process, err := c.options.Start(context.WithoutCancel(c.life.context), Program{Server: c.server.Name, Argv: argv, Dir: c.server.Dir, Env: c.server.environment()})
	if err != nil {
		return nil, err
	}
	stdio := wire.NewStdio(process.In, process.Out, wire.StdioOptions{Limit: c.options.Message, ProbeLimit: c.options.ProbeLimit, Report: report})
	c.program = &program{process, stdio}
	return stdio, nil
}

// openedTransport remembers the connection that the SDK makes: the SDK does not always
// close one whose handshake fails in the middle.
type openedTransport struct {
	sdk.Transport

	mu     sync.Mutex
	opened sdk.Connection
}

// Connect implements the SDK's transport.
func (o *openedTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	opened, err := o.Transport.Connect(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.opened = opened
	return opened, err
}

func (o *openedTransport) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.opened != nil {
		o.opened.Close()
	}
}

// guard runs a function of the SDK and returns when it is done or the connection's life
// is over, which the SDK does not heed everywhere. A panic about what a server sends is an
// error.
func (c *connection) guard(do func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("it sent what cannot be read: %v", p)
			}
		}()
		done <- do()
	}()
	select {
	case err := <-done:
		if err != nil && c.life.context.Err() != nil {
			return context.Cause(c.life.context)
		}
		return err
	case <-c.life.context.Done():
	}
	c.opened.close()
	<-done
	return context.Cause(c.life.context)
}

func (c *connection) noteListChange() {
	select {
	case c.listChanged <- struct{}{}:
	default: // one look is due already
	}
}

// wait returns when the connection is over, with why if that is known.
func (c *connection) wait() error {
	over := make(chan error, 1)
	go func() { over <- c.session.Wait() }()
	exited := (<-chan struct{})(nil)
	if c.program != nil {
		exited = c.program.Done
	}
	select {
	case err := <-over:
		return err
	case <-c.life.context.Done():
		return context.Cause(c.life.context)
	case <-exited:
	}
	// A process that it left, and that nothing here can end, may hold its stdout.
	select {
	case err := <-over:
		return err
	case <-time.After(patience):
		return io.EOF
	}
}

// close ends the connection and the program. Calls in flight end with why.
func (c *connection) close(why error) {
	c.life.cancelCalls(why)
	defer close(c.ended)
	goodbye := make(chan struct{})
	go func() {
		defer close(goodbye)
		if c.session != nil {
			c.session.Close()
		}
	}()
	within(goodbye, patience) // over HTTP this tells the server
	c.life.cancel(why)
	c.opened.close()
	if c.program != nil {
		c.program.Stdio.End(func() { c.ending = c.program.Process.End(patience) })
	}
	if c.pool != nil {
		c.pool.CloseIdleConnections()
	}
	within(goodbye, 10*patience)
}

func within(done <-chan struct{}, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
