package mcpproxy

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// callLane is the lane of all that hooks judge: it reaches the server in the order in which
// the client sent it, although hooks are asked about several at the same time. All else
// passes at once: a call that runs may need the client's answer to go on.
const callLane = "calls"

// guard decides what becomes of the messages of a connection.
type guard struct {
	options    *Options
	events     *proxied.Events
	prefix     string          // of our names of the server's tools
	life       context.Context // of the connection
	pending    *proxied.Pending[kept]
	unfinished unfinished
	tools      *tools
	questions  *questions
	tasks      *tasks
	background proxied.Background // events that nobody waits for
	version    atomic.Pointer[string]
}

func newGuard(ctx context.Context, o *Options) *guard {
	return &guard{
		options: o, events: proxied.NewEvents(o.Hooks, proxied.Session{Host: Host, ID: o.Session, Cwd: o.Cwd, Depth: o.Depth}, lost, o.Tell), prefix: toolname.PrefixOf(o.Server),
		life: ctx, pending: proxied.NewPending[kept](), unfinished: unfinished{list: map[string]*call{}},
		tools: newTools(o), questions: newQuestions(), tasks: newTasks(),
	}
}

// fromClient decides a message of the client.
func (g *guard) fromClient(m *relay.Message) relay.Decision {
	if d, is := g.misread(m, "client", namesOfMethods); is {
		return d
	}
	switch m.Kind {
	case relay.Notification:
		if m.Method == "notifications/cancelled" {
			return g.cancelled(m)
		}
		if how := methodOf(m.Method); how != nil {
			g.options.note(how.what + " without an id was not passed on: nobody would read its result")
			return relay.Drop()
		}
	case relay.Request:
		return g.request(m)
	case relay.Response:
		if g.questions.answered(m) {
			return relay.Drop()
		}
	}
	return relay.Pass(m.Line)
}

// misread refuses a message whose method some programs take for another one, which hooks judge.
func (g *guard) misread(m *relay.Message, side string, known []string) (d relay.Decision, is bool) {
	problem := proxied.MisreadMethod(m.Method, known...)
	if problem == "" {
		return relay.Decision{}, false
	}
	g.options.note("a message of the " + side + " was not passed on: " + problem)
	if m.Kind == relay.Request {
		return refused(m.ID, relay.CodeNoMethod, problem), true
	}
	return relay.Drop(), true
}

// request decides a request of the client.
func (g *guard) request(m *relay.Message) relay.Decision {
	r := &proxied.Request[kept]{ID: slices.Clone(m.ID), Method: m.Method, Size: len(m.ID) + len(m.Method)}
	if m.Method == "initialize" {
		g.questions.taken.Store(m.Strict && takesForms(jsonspan.Find(m.Params, "/capabilities/elicitation")))
	}
	if strings.HasPrefix(m.Method, "tasks/") {
		id, err := taskAsked(m)
		if err != nil {
			return refused(m.ID, relay.CodeInvalidParams, err.Error())
		}
		r.Call, r.Size = &kept{task: id}, r.Size+len(id)
	}
	how := methodOf(m.Method)
	if how == nil {
		if problem := g.pending.Add(r); problem != "" {
			return refused(m.ID, relay.CodeInvalidRequest, problem)
		}
		return relay.Pass(m.Line)
	}
	c, err := g.newCall(m, r, how)
	if err != nil {
		return refused(m.ID, relay.CodeInvalidParams, err.Error())
	}
	r.Size = len(m.Line)
	before := g.unfinished.take(c)
	if before != nil {
		c.goesOn(before)
	}
	if problem := g.pending.Add(r); problem != "" {
		c.lost(proxied.Aborted(problem))
		if before != nil {
			before.asking.giveUp()
		}
		return refused(m.ID, relay.CodeInvalidRequest, problem)
	}
	return c.begin(m, before)
}

func refused(id protocol.RawMessage, code int, text string) relay.Decision {
	return relay.Answer(relay.ErrorLine(id, code, "hookd: "+text))
}

// cancelled decides a notification that the client gives up a request. A call that has not
// reached the server, or has a result already, ends here.
func (g *guard) cancelled(m *relay.Message) relay.Decision {
	r := (*proxied.Request[kept])(nil)
	if id := jsonspan.Get(m.Params, "requestId"); id != nil {
		r = g.pending.Get(id)
	}
	switch {
	case r == nil:
	case r.Call != nil && r.Call.call != nil:
		if r.Call.call.cancelledByClient() {
			return relay.Drop()
		}
	default:
		g.pending.GiveUp(r) // it may be answered all the same
	}
	return relay.Pass(m.Line)
}

// fromServer decides a message of the server.
func (g *guard) fromServer(m *relay.Message) relay.Decision {
	if m.Kind != relay.Response {
		if d, is := g.misread(m, "server", namesOfNews); is {
			return d
		}
		switch m.Method {
		case "notifications/tools/list_changed":
			g.tools.forget()
		case "notifications/tasks", "notifications/tasks/status":
			return g.told(m)
		}
		return relay.Pass(m.Line)
	}
	if jsonspan.IsNull(m.ID) { // to what it could not read
		return relay.Pass(m.Line)
	}
	r := g.pending.Get(m.ID)
	switch {
	case r == nil && !g.pending.WasCancelled(m.ID):
		g.options.note("an answer of the server to a request that nobody made was not passed on")
		return relay.Drop()
	case r == nil:
		return relay.Drop()
	case r.Call != nil && r.Call.call != nil:
		return r.Call.call.answered(m)
	}
	g.pending.Remove(r)
	if r.Call != nil {
		return g.polled(m, r.Method, r.Call.task)
	}
	switch r.Method {
	case toolsList:
		return g.list(m)
	case "initialize":
		version := jsonspan.Text(jsonspan.Get(m.Result, "protocolVersion"))
		g.version.Store(&version)
	}
	return relay.Pass(m.Line)
}

// batches reports whether the version that both sides agreed on has batches.
func (g *guard) batches() bool {
	version := g.version.Load()
	return version != nil && (*version == "2025-03-26" || *version == "2024-11-05")
}

// serverEnded answers what the client still waits for: nothing else will.
func (g *guard) serverEnded(send func(line []byte)) {
	text := "the MCP server has ended"
	if how := g.options.server.How(); how != "" {
		text += ": " + how
	}
	for _, r := range g.pending.TakeAll() {
		if r.Call != nil && r.Call.call != nil {
			r.Call.call.lost(protocol.CallError{Kind: protocol.CallFailed, Text: text})
		}
		send(relay.ErrorLine(r.ID, relay.CodeServer, "hookd: "+text))
	}
}

// kept is what is kept of a request until its answer comes.
type kept struct {
	call *call  // of what hooks judge
	task string // the id of the task that a request is about
}

// newCall reads a request that hooks judge. What hooks and the server could read in two ways
// is an error.
func (g *guard) newCall(m *relay.Message, r *proxied.Request[kept], how *method) (*call, error) {
	params, err := how.params(m)
	if err != nil {
		return nil, err
	}
	tool, args, err := how.read(g, params)
	if err != nil {
		return nil, err
	}
	c := &call{guard: g, request: r, asked: asked{method: how, params: params, args: args, strict: m.Strict}}
	c.Call = protocol.Call{ToolCallID: callID(params, r.ID), Name: tool, Kind: protocol.KindMCP, Args: args, Server: g.options.Server}
	c.told = g.events.NewCall(c.Call)
	c.asked.modern = jsonspan.Find(params, "/_meta/"+`io.modelcontextprotocol~1protocolVersion`) != nil
	r.Call = &kept{call: c}
	return c, nil
}

// callIDs are where hosts write the id that the model gave to a call.
var callIDs = []string{"claudecode/toolUseId", "callId"}

// callID returns the id of a call in our events: the model's own where the host says it, so
// that the records of the proxy and of the host's own hooks can be laid side by side.
func callID(params, id protocol.RawMessage) string {
	meta := jsonspan.Get(params, "_meta")
	for _, name := range callIDs {
		if text := jsonspan.Text(jsonspan.Get(meta, name)); text != "" && len(text) <= 128 {
			return text
		}
	}
	return strings.Trim(string(id), `"`)
}
