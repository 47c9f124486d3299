package acpproxy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// codeInternal answers what was refused and what could not be done. The codes that begin at
// -32000 have meanings of their own in this protocol.
const codeInternal = -32603

// exchange is what becomes of the answer to a request that one side has made of the other.
type exchange struct {
	lane     string
	answered func(m *relay.Message) relay.Decision // nil: the answer passes
	// gaveUp is called when the one who asked gives the request up. It reports whether the
	// other side need not be told.
	gaveUp func() bool
	// unsent reports whether the other side has not got the request. nil: it has.
	unsent func() bool
	// knownAs is the id by which the other side knows the request now, nil: its own.
	knownAs func() protocol.RawMessage
}

type request = proxied.Request[exchange]

// guard decides what becomes of the messages of a connection.
type guard struct {
	options *Options
	life    context.Context // of the connection
	send    func(to relay.Side, line []byte)

	asked [2]*proxied.Pending[exchange] // requests of the client, of the agent
	own   [2]*ownRequests               // of the proxy's own to the client, to the agent

	sessions   sessions
	background background

	notices    atomic.Bool // the client shows notices
	vocabulary atomic.Pointer[string]
	unguarded  atomic.Pointer[string] // why nothing is passed on any more
}

func newGuard(ctx context.Context, o *Options) *guard {
	g := &guard{options: o, life: ctx, background: background{observing: make(chan struct{}, mostObserved), questions: make(chan struct{}, mostQuestions)}}
	for side := range g.asked {
		g.asked[side] = proxied.NewPending[exchange]()
		g.own[side] = &ownRequests{open: map[string]func(*relay.Message) relay.Decision{}}
	}
	g.sessions.open = map[string]*session{}
	return g
}

// mostObserved bounds the events at once that nobody waits for. Then no more is read.
const mostObserved = 64

// mostQuestions bounds the questions at once whose answers are recorded.
const mostQuestions = 1024

// background is work that nobody waits for before the end of the connection.
type background struct {
	proxied.Background
	observing chan struct{} // holds one for each event that is decided: there are not too many
	questions chan struct{} // holds one for each question that waits for the person
}

// observe has hooks decide an event of which nobody waits for the outcome. finally, if any, is
// called at the end. decide is nil where nothing is to be told.
func (b *background) observe(decide func() (*protocol.Outcome, error), then func(*protocol.Outcome), finally ...func()) {
	if decide == nil {
		return
	}
	b.observing <- struct{}{}
	b.Go(func() {
		defer func() {
			for _, last := range finally {
				last()
			}
			<-b.observing
		}()
		if o, err := decide(); err == nil && then != nil {
			then(o)
		}
	})
}

// lane is that of the messages of a session: none overtakes one that waits for hooks.
func lane(m *relay.Message) string {
	if id := jsonspan.Text(jsonspan.Get(m.Params, "sessionId")); id != "" {
		return laneOf(id)
	}
	return ""
}

func laneOf(session string) string { return "session " + session }

func refused(id protocol.RawMessage, code int, text string) relay.Decision {
	return relay.Answer(relay.ErrorLine(id, code, "hookd: "+text))
}

// judgedOfClient are the requests of a client that are judged, or change what is judged.
var judgedOfClient = []string{acp.SessionNew, acp.SessionLoad, acp.SessionResume, "session/fork", acp.SessionPrompt, acp.SessionSetMode, setConfigOption}

// judgedOfAgent are the requests of an agent that are judged.
var judgedOfAgent = []string{acp.SessionRequestPermission, acp.ReadTextFile, acp.WriteTextFile, terminalCreate}

// misnamed decides a message whose method some programs take for one that is judged. is is false for
// all others.
func misnamed(g *guard, from relay.Side, m *relay.Message) (d relay.Decision, is bool) {
	problem := proxied.MisreadMethod(m.Method, [2][]string{judgedOfClient, judgedOfAgent}[from]...)
	if problem == "" {
		problem = proxied.MisreadMethod(m.Method, acp.Initialize, acp.SessionUpdate)
	}
	if problem == "" {
		return d, false
	}
	g.options.note(fmt.Sprintf("a message of %s was not passed on: %s", [2]string{"the editor", "the agent"}[from], problem))
	if m.Kind != relay.Request {
		return relay.Drop(), true
	}
	return refused(m.ID, relay.CodeNoMethod, problem), true
}

// fromClient decides a message of the client.
func (g *guard) fromClient(m *relay.Message) relay.Decision {
	if problem := g.unguarded.Load(); problem != nil {
		if m.Kind == relay.Request {
			return refused(m.ID, codeInternal, *problem)
		}
		return relay.Drop()
	}
	if d, is := misnamed(g, relay.Client, m); is {
		return d
	}
	switch m.Kind {
	case relay.Response:
		return g.response(relay.Client, m)
	case relay.Notification:
		switch {
		case m.Method == acp.SessionCancel:
			return g.sessionCancel(m)
		case m.Method == acp.CancelRequest:
			return g.cancelRequest(relay.Client, m)
		case slices.Contains(judgedOfClient, m.Method):
			g.options.note("a " + m.Method + " of the editor without an id was not passed on: nobody would read its answer")
			return relay.Drop()
		}
		return relay.PassIn(lane(m), m.Line)
	}
	return g.decide(relay.Client, m, g.request)
}

// decide decides a request of a side. An error of judge refuses it.
func (g *guard) decide(from relay.Side, m *relay.Message, judge func(*relay.Message, *request) (relay.Decision, error)) relay.Decision {
	r := &request{ID: slices.Clone(m.ID), Method: m.Method, Call: &exchange{lane: lane(m)}}
	if g.own[1-from].has(m.ID) {
		return refused(m.ID, relay.CodeInvalidRequest, "hookd itself asks the other side something with this id")
	}
	if problem := g.asked[from].Add(r); problem != "" {
		return refused(m.ID, relay.CodeInvalidRequest, problem)
	}
	d, err := judge(m, r)
	if err != nil {
		g.asked[from].Remove(r)
		return refused(m.ID, relay.CodeInvalidParams, err.Error())
	}
	return d
}

// request decides a request of the client. An error refuses it.
func (g *guard) request(m *relay.Message, r *request) (relay.Decision, error) {
	switch m.Method {
	case acp.Initialize:
		line, err := g.initialize(m)
		if err != nil {
			return relay.Decision{}, err
		}
		ended, end := context.WithCancel(g.life)
		r.Call.answered = func(m *relay.Message) relay.Decision {
			end()
			return g.initialized(m, r)
		}
		g.background.Go(func() { noteSilence(ended, g.options) })
		return relay.Pass(line), nil
	case acp.SessionPrompt:
		return g.prompt(m, r)
	case acp.SessionSetMode, setConfigOption:
		return g.setMode(m, r)
	case acp.SessionClose, acp.SessionDelete:
		return g.closes(m, r)
	}
	if slices.Contains(judgedOfClient, m.Method) || strings.HasPrefix(m.Method, "session/") && jsonspan.Get(m.Params, "mcpServers") != nil {
		return g.opens(m, r)
	}
	return relay.PassIn(r.Call.lane, m.Line), nil
}

// fromAgent decides a message of the agent.
func (g *guard) fromAgent(m *relay.Message) relay.Decision {
	if d, is := misnamed(g, relay.Server, m); is {
		return d
	}
	switch {
	case m.Kind == relay.Response:
		return g.response(relay.Server, m)
	case g.unguarded.Load() != nil:
		return relay.Drop()
	case m.Kind == relay.Notification:
		switch {
		case m.Method == acp.CancelRequest:
			return g.cancelRequest(relay.Server, m)
		case m.Method == acp.SessionUpdate:
			if passed := g.update(m); passed != nil {
				return relay.PassIn(lane(m), m.Line).Unless(func() bool {
					g.send(relay.Client, m.Line)
					close(passed)
					return true
				})
			}
		case slices.Contains(judgedOfAgent, m.Method):
			g.options.note("a " + m.Method + " of the agent without an id was not passed on: it would not read the answer")
			return relay.Drop()
		}
		return relay.PassIn(lane(m), m.Line)
	}
	return g.decide(relay.Server, m, g.agentRequest)
}

// agentRequest decides a request of the agent. An error refuses it.
func (g *guard) agentRequest(m *relay.Message, r *request) (d relay.Decision, err error) {
	switch {
	case m.Method == acp.SessionRequestPermission:
		d, err = g.permission(m, r)
	case slices.Contains(judgedOfAgent, m.Method):
		d, err = g.clientCall(m, r)
	case strings.HasPrefix(m.Method, "terminal/"):
		d, err = g.terminalCall(m, r)
	default:
		return relay.PassIn(r.Call.lane, m.Line), nil
	}
	if err != nil {
		g.options.note("a request of the agent was refused: " + err.Error())
	}
	return d, err
}

// response decides an answer: to a request of the other side, or of the proxy's own.
func (g *guard) response(from relay.Side, m *relay.Message) relay.Decision {
	asker := 1 - from
	if jsonspan.IsNull(m.ID) { // to what it could not read
		return relay.Pass(m.Line)
	}
	if answered := g.own[from].take(m.ID); answered != nil {
		return answered(m)
	}
	r := g.asked[asker].Get(m.ID)
	if r == nil || r.Call.unsent != nil && r.Call.unsent() {
		if !g.asked[asker].WasCancelled(m.ID) {
			g.options.note(fmt.Sprintf("an answer of %s to a request that it has not got was not passed on", [2]string{"the editor", "the agent"}[from]))
		}
		return relay.Drop()
	}
	if r.Method != acp.SessionPrompt { // a turn may go on after its first answer
		g.asked[asker].Remove(r)
	}
	switch {
	case r.Call.answered != nil:
		return r.Call.answered(m)
	case from == relay.Client: // a turn may wait for it, while hooks judge the next prompt
		return relay.Pass(m.Line)
	}
	return relay.PassIn(r.Call.lane, m.Line)
}

// cancelRequest decides a notification that a request is given up.
func (g *guard) cancelRequest(from relay.Side, m *relay.Message) relay.Decision {
	id := jsonspan.Get(m.Params, "requestId")
	if id == nil {
		return relay.Pass(m.Line)
	}
	r := g.asked[from].Get(id)
	switch {
	case r == nil:
		return relay.Pass(m.Line)
	case r.Call.gaveUp != nil && r.Call.gaveUp():
		return relay.Drop()
	}
	line := m.Line
	if r.Call.knownAs != nil {
		if known := r.Call.knownAs(); known != nil {
			line = m.With("params", relay.Replace(m.Params, "requestId", known))
		}
	}
	return relay.PassIn(r.Call.lane, line)
}

// agentEnded answers what the client still waits for: nothing else will.
func (g *guard) agentEnded(how string) {
	text := "the agent has ended"
	if how != "" {
		text += ": " + how
	}
	g.sessions.each(func(s *session) { s.fail(text) })
	for _, r := range g.asked[relay.Client].TakeAll() {
		g.send(relay.Client, relay.ErrorLine(r.ID, codeInternal, "hookd: "+text))
	}
}

// ownRequests are requests of the proxy's own to one side that have no answer.
type ownRequests struct {
	mu   sync.Mutex
	last int
	open map[string]func(*relay.Message) relay.Decision
}

// add returns an id for another request, which is none that taken knows.
func (o *ownRequests) add(answered func(*relay.Message) relay.Decision, taken func(id protocol.RawMessage) bool) protocol.RawMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		o.last++
		if id := jsonspan.Quote(fmt.Sprintf("hookd-%d", o.last)); !taken(id) {
			o.open[relay.Key(id)] = answered
			return id
		}
	}
}

func (o *ownRequests) has(id protocol.RawMessage) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.open[relay.Key(id)] != nil
}

// take returns what takes the answer to a request, nil if there is no such request.
func (o *ownRequests) take(id protocol.RawMessage) func(*relay.Message) relay.Decision {
	o.mu.Lock()
	defer o.mu.Unlock()
	answered := o.open[relay.Key(id)]
	delete(o.open, relay.Key(id))
	return answered
}

// ownRequest returns a request of the proxy's own to a side, which is to be sent, and has answered
// take the answer.
func (g *guard) ownRequest(side relay.Side, method string, params protocol.RawMessage, answered func(*relay.Message) relay.Decision) (id protocol.RawMessage, line []byte) {
	id = g.own[side].add(answered, func(id protocol.RawMessage) bool { return g.asked[1-side].Get(id) != nil })
	return id, object(texts("jsonrpc", "2.0"), member{"id", id}, texts("method", method), member{"params", params})
}

// await asks a side and waits for the answer. The error says that none came.
func (g *guard) await(ctx context.Context, side relay.Side, method string, params protocol.RawMessage) (*relay.Message, error) {
	answer := make(chan *relay.Message, 1)
	id, line := g.ownRequest(side, method, params, func(m *relay.Message) relay.Decision {
		answer <- m
		return relay.Drop()
	})
	g.send(side, line)
	select {
	case m := <-answer:
		return m, nil
	case <-ctx.Done():
		g.send(side, notification(acp.CancelRequest, object(member{"requestId", id})))
		g.own[side].replace(id, func(*relay.Message) relay.Decision { return relay.Drop() })
		return nil, context.Cause(ctx)
	}
}

// replace has another function take the answer to a request that has none yet.
func (o *ownRequests) replace(id protocol.RawMessage, answered func(*relay.Message) relay.Decision) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if key := relay.Key(id); o.open[key] != nil {
		o.open[key] = answered
	}
}

func notification(method string, params protocol.RawMessage) []byte {
	return object(texts("jsonrpc", "2.0"), texts("method", method), member{"params", params})
}
