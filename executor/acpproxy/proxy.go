package acpproxy

import (
	"context"
	"time"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Host is what events of the proxy name as their host.
const Host = "acp"

// Options say what a proxy does.
type Options struct {
	// Open returns the hooks for a session that works in some folders, its working directory
	// first. Links on the way to them are followed already, where they are there.
	Open func(folders []string) (proxied.Hooks, error)
	// Server returns the command line that starts an MCP server so that hooks judge its calls.
	Server func(Server) []string

	Mode  string // id of the session mode that all sessions are kept in, "" for any
	Cwd   string // absolute path of the proxy's working directory
	Depth int    // how many hooks and tools stand above this process

	// Tell is told each decided event, and Note what else a person should know. They may be
	// called from several goroutines. nil: nobody is told.
	Tell func(*protocol.Outcome)
	Note func(text string)

	Patience time.Duration // see [proxied.Connection]
	Limit    int64         // bytes of a message, default 32 MiB
}

func (o *Options) note(text string) {
	if o.Note != nil {
		o.Note(text)
	}
}

// Run carries messages between the client and the agent until one of them ends or ctx does,
// and ends the agent. The error is that of ctx.
func Run(ctx context.Context, client relay.Stream, agent *proxied.Process, options Options) error {
	life, end := context.WithCancelCause(ctx)
	defer end(proxied.ErrClosed)
	g := newGuard(life, &options)
	r := relay.New(relay.Options{
		Client: client, Server: relay.Stream{In: agent.Out, Out: agent.In},
		FromClient: g.fromClient, FromServer: g.fromAgent,
		ServerEnded: func() { g.agentEnded(agent.How()) },
		Note:        proxied.NewNotes("the agent", options.note).Line,
		Limit:       options.Limit,
		Code:        codeInternal,
	})
	g.send = r.Send
	c := &proxied.Connection{
		Relay: r, Process: agent, Patience: options.Patience,
		Waiting: func() bool { return g.asked[relay.Client].Count() > 0 }, Ending: func() { end(proxied.ErrClosed) },
	}
	c.Run(ctx)
	reason := "exit"
	if ctx.Err() != nil {
		reason = "interrupted"
	}
	g.sessions.each(func(s *session) { s.end(reason) })
	g.background.Wait()
	return context.Cause(ctx)
}
