package acpproxy

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
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
	Silence  time.Duration // after which a person is told that the agent has not answered at all, default 15 s
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

// initialize decides the first request of a client. A version that is newer than the one
// hookd can guard is offered to the agent as that one: agents speak older versions, too.
func (g *guard) initialize(m *relay.Message) (line []byte, err error) {
	p, err := readParams(m, "protocolVersion", "clientCapabilities")
	if err != nil {
		return nil, err
	}
	if notices := jsonspan.Find(p.raw, "/clientCapabilities/session/notices"); !isNothing(notices) && string(notices) != "false" {
		g.notices.Store(true)
	}
	offered := p.get("protocolVersion")
	if version, err := strconv.ParseFloat(string(offered), 64); err == nil && version > acp.Version {
		g.options.note(fmt.Sprintf("the editor offers version %s of ACP: hookd offers version %d to the agent, which it can guard", offered, acp.Version))
		return m.With("params", relay.Replace(p.raw, "protocolVersion", []byte(strconv.Itoa(acp.Version)))), nil
	}
	return p.line(m), nil
}

// initialized takes the agent's answer. What it says in a version that hookd does not know
// is not guarded, and so it is not passed on.
func (g *guard) initialized(m *relay.Message, r *request) relay.Decision {
	if m.Error != nil {
		return relay.Pass(m.Line)
	}
	if version := jsonspan.Get(m.Result, "protocolVersion"); !jsonspan.SameValue(version, []byte(strconv.Itoa(acp.Version))) || !m.Strict {
		problem := fmt.Sprintf("the agent answers with version %.20s of ACP, and hookd can guard version %d only: nothing is passed on", cmp.Or(string(version), "(none)"), acp.Version)
		g.unguarded.Store(&problem)
		g.options.note(problem)
		return relay.Pass(relay.ErrorLine(r.ID, codeInternal, "hookd: "+problem))
	}
	name := strings.ToLower(jsonspan.Text(jsonspan.Find(m.Result, "/agentInfo/name")))
	for _, agent := range agents {
		if strings.Contains(name, agent) {
			g.vocabulary.Store(&agent)
			break
		}
	}
	return relay.Pass(m.Line)
}

// defaultSilence is longer than an agent takes that a package runner fetches first.
const defaultSilence = 15 * time.Second

// noteSilence tells a person of an agent that does not answer initialize before ctx ends: the
// editor shows nothing then, and many agents speak ACP only where an argument says so.
func noteSilence(ctx context.Context, o *Options) {
	silence := cmp.Or(o.Silence, defaultSilence)
	select {
	case <-ctx.Done():
	case <-time.After(silence):
		o.note(fmt.Sprintf("the agent has not answered for %v: is it one that speaks ACP, and does its command have the argument for that, such as --acp?", silence))
	}
}

// agents are those whose names of tools hookd knows, by what their agentInfo.name contains.
var agents = []string{"claude", "codex", "gemini", "qwen", "copilot", "opencode", "openhands", "cursor", "goose", "crush", "kiro", "cline", "hermes", "kodelet", "hookd", "factory"}
