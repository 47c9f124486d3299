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

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookd-dev/hookd/protocol"
)

// live is one connection with a server, from its start to its end.
type live struct {
	server  *Server
	options *Options
	odd     func(kind, text string) // see host.odd

	life   context.Context // of everything on the way to the server
	cut    context.CancelCauseFunc
	calls  context.Context // of the calls, which end a little earlier
	hangUp context.CancelCauseFunc
	stdio  *stdio // nil over HTTP
	pool   *http.Transport
	speak  *sdk.ClientSession
	change chan struct{} // holds one item when the list of tools has changed
	ended  chan struct{} // closed when nothing of it is left
	ending Ending        // of its program; stands when ended is closed

	mu       sync.Mutex
	kept     sdk.Connection
	progress map[string]*progress // by token
	tokens   int
}

var (
	errSlow   = errors.New("it was not ready in time")
	errClosed = errors.New("the run is over")
)

// newestLegacy is the newest revision that begins with initialize.
const newestLegacy = "2025-11-25"

// open connects with a server. The caller calls close, also after an error.
// legacy leaves the question of the newest revision out, as some older servers
// end at it.
func (o *Options) open(ctx context.Context, server *Server, legacy bool, odd func(kind, text string)) (*live, error) {
	l := &live{server: server, options: o, odd: odd, change: make(chan struct{}, 1), ended: make(chan struct{}), progress: map[string]*progress{}}
	l.life, l.cut = context.WithCancelCause(ctx)
	l.calls, l.hangUp = context.WithCancelCause(l.life)
	slow := time.AfterFunc(o.StartLimit, func() { l.cut(fmt.Errorf("%w (%s)", errSlow, o.StartLimit)) })
	defer slow.Stop()
	transport, err := l.transport()
	if err != nil {
		return l, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "hookd", Version: "1"}, &sdk.ClientOptions{
		//lint:ignore SA1019 roots are deprecated for later versions of the protocol, and what servers of today ask for
		Capabilities:                &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{}},
		Logger:                      slog.New(slog.DiscardHandler),
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { l.changed() },
		ProgressNotificationHandler: l.progressed,
	})
	if o.Project != "" {
		address := url.URL{Scheme: "file", Path: filepath.ToSlash(o.Project)}
		//lint:ignore SA1019 roots are deprecated for later versions of the protocol, and what servers of today ask for
		client.AddRoots(&sdk.Root{URI: address.String(), Name: filepath.Base(o.Project)})
	}
	var session sdk.ClientSessionOptions
	if legacy {
		session.ProtocolVersion = newestLegacy
	}
	err = l.guard(func() (err error) {
		l.speak, err = client.Connect(l.life, keeper{transport, l}, &session)
		return err
	})
	return l, err
}

func (l *live) transport() (sdk.Transport, error) {
	if l.server.Command == "" {
		under := l.options.Web
		if under == nil {
			l.pool = http.DefaultTransport.(*http.Transport).Clone()
			under = l.pool
		}
		return l.options.webTransport(l.life, l.server, under, l.odd), nil
	}
	if l.options.Start == nil {
		return nil, errors.New("programs cannot be started here")
	}
	argv := append([]string{l.server.Command}, l.server.Args...)
	// It is close that ends the program, gently first; its context does not.
	process, err := l.options.Start(context.WithoutCancel(l.life), Program{Server: l.server.Name, Argv: argv, Dir: l.server.Dir, Env: l.server.environment()})
	if err != nil {
		return nil, err
	}
	l.stdio = newStdio(process, l.options, l.odd)
	return l.stdio, nil
}

// keeper remembers the connection that the SDK makes: one whose handshake fails
// in the middle is not always closed by it.
type keeper struct {
	sdk.Transport
	live *live
}

func (k keeper) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := k.Transport.Connect(ctx)
	k.live.mu.Lock()
	defer k.live.mu.Unlock()
	k.live.kept = c
	return c, err
}

func (l *live) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept != nil {
		l.kept.Close()
	}
}

// guard runs something of the SDK's and returns when it is done or the
// connection's life is over, which the SDK does not heed everywhere. What a
// server sends must not bring this process down.
func (l *live) guard(do func() error) error {
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
		if err != nil && l.life.Err() != nil {
			return context.Cause(l.life)
		}
		return err
	case <-l.life.Done():
	}
	l.drop()
	<-done
	return context.Cause(l.life)
}

func (l *live) changed() {
	select {
	case l.change <- struct{}{}:
	default: // one look is due already
	}
}

// most bounds what a server may list.
const (
	mostPages = 100
	mostTools = 1000
)

// list asks for the server's tools, all pages.
func (l *live) list() ([]listed, error) {
	ctx, cancel := context.WithTimeoutCause(l.life, l.options.StartLimit, fmt.Errorf("%w: its list of tools", errSlow))
	defer cancel()
	var tools []listed
	cursor := ""
	for range mostPages {
		page, err := l.page(ctx, cursor)
		if err != nil {
			return nil, err
		}
		tools = append(tools, page.Tools...)
		if len(tools) > mostTools {
			return nil, fmt.Errorf("it lists more than %d tools", mostTools)
		}
		if cursor = page.NextCursor; cursor == "" {
			return tools, nil
		}
	}
	return nil, fmt.Errorf("its list of tools has more than %d pages", mostPages)
}

// listed is a tool as a server lists it. What it says of its own harmlessness
// (annotations) is not read: only hooks and people decide that.
type listed struct {
	Name        string              `json:"name"`
	Title       string              `json:"title"`
	Description string              `json:"description"`
	Schema      protocol.RawMessage `json:"inputSchema"`
}

type toolPage struct {
	Tools      []listed `json:"tools"`
	NextCursor string   `json:"nextCursor"`
}

// lenient reads what servers write, which is not always strict JSON.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func (l *live) page(ctx context.Context, cursor string) (page toolPage, err error) {
	ctx, kept := withCapture(ctx)
	var typed *sdk.ListToolsResult
	err = l.guard(func() (err error) {
		typed, err = l.speak.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		return err
	})
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return page, err
	}
	raw, _ := kept.take()
	if raw == nil {
		if raw, err = json.Marshal(typed); err != nil {
			return page, err
		}
	}
	if err := json.Unmarshal(raw, &page, lenient); err != nil {
		return page, fmt.Errorf("its list of tools cannot be read: %w", err)
	}
	return page, nil
}

// wait returns when the connection is over, with why if that is known.
func (l *live) wait() error {
	over := make(chan error, 1)
	go func() { over <- l.speak.Wait() }()
	exited := (<-chan struct{})(nil)
	if l.stdio != nil {
		exited = l.stdio.process.Done
	}
	select {
	case err := <-over:
		return err
	case <-l.life.Done():
		return context.Cause(l.life)
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
func (l *live) close(why error) {
	l.hangUp(why)
	defer close(l.ended)
	goodbye := make(chan struct{})
	go func() {
		defer close(goodbye)
		if l.speak != nil {
			l.speak.Close()
		}
	}()
	within(goodbye, patience) // over HTTP this tells the server
	l.cut(why)
	l.drop()
	if l.stdio != nil {
		l.ending = l.stdio.end()
	}
	if l.pool != nil {
		l.pool.CloseIdleConnections()
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
