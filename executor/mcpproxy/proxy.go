package mcpproxy

import (
	"cmp"
	"context"
	"time"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Options say what a proxy does.
type Options struct {
	Hooks   proxied.Hooks
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

	// ReadSchema reads the schema that the server states for the args of a tool. nil: args
	// that hooks change are left to the server, and a person is told so once.
	ReadSchema func(written []byte) (ArgSchema, error)

	AskTimeout time.Duration // for the person's answer to a question, default 10 min

	server *proxied.Process
}

// ArgSchema is the schema of a tool's args.
type ArgSchema interface {
	Check(args []byte) error      // why args do not fit
	Unchecked(args []byte) string // why args are not compared with it, "" if they are
}

func (o *Options) note(text string) {
	if o.Note != nil {
		o.Note(text)
	}
}

// Run carries messages between the client and the server until one of them ends or ctx does,
// and ends the server. The error is that of ctx.
func Run(ctx context.Context, client relay.Stream, server *proxied.Process, options Options) error {
	options.server = server
	life, end := context.WithCancelCause(ctx)
	defer end(proxied.ErrClosed)
	options.AskTimeout = cmp.Or(options.AskTimeout, defaultAskTimeout)
	g := newGuard(life, &options)
	var r *relay.Relay
	g.questions.send = func(line []byte) { r.Send(relay.Client, line) }
	r = relay.New(relay.Options{
		Client: client, Server: relay.Stream{In: server.Out, Out: server.In},
		FromClient: g.fromClient, FromServer: g.fromServer, Batches: g.batches,
		ServerEnded: func() { g.serverEnded(func(line []byte) { r.Send(relay.Client, line) }) },
		Note:        proxied.NewNotes("the server", options.note).Line,
		Limit:       options.Limit,
	})
	c := &proxied.Connection{
		Relay: r, Process: server, Patience: options.Patience,
		Waiting: func() bool { return g.pending.Count() > 0 }, Ending: func() { end(proxied.ErrClosed) },
	}
	c.Run(ctx)
	for _, tell := range g.events.CloseCalls(life, proxied.Aborted("the connection has ended before the result was read")) {
		g.background.Go(func() { _, _ = tell() })
	}
	g.background.Wait()
	return context.Cause(ctx)
}
