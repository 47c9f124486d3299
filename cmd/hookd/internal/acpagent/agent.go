package acpagent

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
)

// Options are what an agent needs of its command.
type Options struct {
	Opener    *engine.Opener
	Flags     conversation.Flags // of every session
	Terminals bool               // the client shows commands in its terminals, if it has some
	Version   string             // of hookd
	Note      string             // what each session tells first, "": nothing
	In        io.Reader
	Out       io.Writer
}

// Agent is one connection to a client.
type Agent struct {
	options Options
	peer    *peer.Peer
	ctx     context.Context // of all sessions
	end     context.CancelCauseFunc

	client   atomic.Pointer[acp.InitializeParams] // what the client said first; nil: nothing yet
	hooks    clientHooks
	sessions sessions
	opening  sync.Mutex // what opens a conversation is shared
	work     sync.WaitGroup
}

// lastWords is how long the end waits for a client to read what was said to it.
const lastWords = time.Second

// errGone is why the sessions of a client that has gone end.
var errGone = errors.New("the client has gone")

// Serve obeys a client until it closes its side, or ctx ends. All sessions have ended when it
// returns.
func Serve(ctx context.Context, options Options) error {
	a := &Agent{options: options, hooks: clientHooks{observing: make(chan struct{}, mostObserving)}}
	a.sessions.open = map[string]*session{}
	a.ctx, a.end = context.WithCancelCause(context.WithoutCancel(ctx))
	defer a.end(nil)
	if _, err := options.Opener.Processes.Start(true); err != nil {
		return err
	}
	a.peer = peer.New(options.In, options.Out, peer.Options{Cancel: acp.CancelRequest, Receive: a.receive})
	err := a.peer.Run(ctx)
	if interrupt := context.Cause(ctx); errors.Is(interrupt, signals.ErrInterrupted) {
		a.end(interrupt)
		a.closeAll("interrupted")
	} else {
		a.end(errGone)
		a.closeAll("exit")
	}
	a.work.Wait()
	_ = a.peer.Close(lastWords) // the client may have gone
	return err
}

// receive obeys one message, in the order of their arrival.
func (a *Agent) receive(r *peer.Request) {
	m := methodByName(r.Method)
	switch {
	case r.IsNotification() && (m == nil || m.name != acp.SessionCancel):
		return // of a newer protocol, or a request whose answer nobody waits for: what it opens nobody would know
	case m == nil:
		r.Fail(rpc.Errorf(rpc.MethodNotFound, "hookd has no method %.100q", r.Method))
	case a.client.Load() == nil && m.name != acp.Initialize:
		r.Fail(rpc.Errorf(rpc.InvalidRequest, "initialize comes first"))
	default:
		m.obey(a, r)
	}
}

// update sends a session's update to the client.
func (a *Agent) update(ctx context.Context, session string, updates ...any) {
	for _, u := range updates {
		_ = a.peer.Notify(ctx, acp.SessionUpdate, acp.UpdateParams{SessionID: session, Update: u}) // a client that has gone ends the command by itself
	}
}
