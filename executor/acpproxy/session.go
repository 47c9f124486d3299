package acpproxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// session is a session of the agent.
type session struct {
	guard *guard
	id    string
	seen  bool // it was seen to begin
	*proxied.Events

	mu      sync.Mutex
	ended   bool
	start   start
	judging context.Context
	stop    context.CancelCauseFunc // ends judging: what was asked in this turn is given up
	work    work
	mode    forced
}

// start is where the session began, which never changes, and what hooks said then.
type start struct {
	folders  folders
	refusing string   // why it takes no prompts, "" if it does
	contexts []string // for the model: they go with the next prompt
}

// work is what goes on in a session.
type work struct {
	loading   int // requests that have its history told again
	turns     []*turn
	tools     map[string]*tool
	terminals map[string]*terminal
}

// sessions are the sessions of a connection.
type sessions struct {
	mu   sync.Mutex
	open map[string]*session
}

func (s *sessions) get(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

func (s *sessions) each(do func(*session)) {
	s.mu.Lock()
	var all []*session
	for _, one := range s.open {
		all = append(all, one)
	}
	s.mu.Unlock()
	for _, one := range all {
		do(one)
	}
}

// remove reports whether a session was open. It is not any more.
func (s *sessions) remove(id string, one *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] != one {
		return false
	}
	delete(s.open, id)
	return true
}

// session returns the session with an id. One that was not seen to begin has the hooks of
// the proxy's working directory.
func (g *guard) session(id string) (*session, error) {
	if id == "" {
		return nil, errors.New("the request names no session")
	}
	if s := g.sessions.get(id); s != nil {
		return s, nil
	}
	own := g.sessions.foldersOf("", g.options.Cwd)
	hooks, err := g.options.Open(own.real())
	if err != nil {
		return nil, err
	}
	return g.sessions.keep(g.newSession(id, own, hooks))
}

// mostUnseen bounds the sessions that were not seen to begin: an agent can invent their ids.
const mostUnseen = 256

// keep adds a session that was not seen to begin, unless there is one with its id, and returns the
// one that there is. If there are too many it forgets one in which nothing goes on.
func (s *sessions) keep(one *session) (*session, error) {
	s.mu.Lock()
	if is := s.open[one.id]; is != nil {
		s.mu.Unlock()
		return is, nil
	}
	unseen, idle := 0, (*session)(nil)
	for _, other := range s.open {
		if other.seen {
			continue
		}
		if unseen++; idle == nil && !other.isBusy() {
			idle = other
		}
	}
	if unseen < mostUnseen {
		idle = nil
	} else if idle == nil {
		s.mu.Unlock()
		return nil, fmt.Errorf("there are %d sessions that hookd has not seen begin, and something goes on in each of them: begin sessions with session/new", unseen)
	} else {
		delete(s.open, idle.id)
	}
	s.open[one.id] = one
	s.mu.Unlock()
	if idle != nil {
		idle.leave("hookd has forgotten its session for others")
	}
	return one, nil
}

// isBusy reports whether something goes on in the session that must not be forgotten.
func (s *session) isBusy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.work.turns) > 0 || len(s.work.terminals) > 0
}

// put adds a session in place of any with its id, which was not seen to begin and is not busy.
func (s *sessions) put(one *session) {
	s.mu.Lock()
	before := s.open[one.id]
	s.open[one.id] = one
	s.mu.Unlock()
	if before != nil && before != one {
		before.leave("its session has begun")
	}
}

// leave gives up what hooks are asked about in the session, and tells them so of the calls that
// have not ended.
func (s *session) leave(why string) {
	s.mu.Lock()
	stop, terminals := s.stop, s.work.terminals
	s.work.terminals = map[string]*terminal{}
	s.mu.Unlock()
	stop(proxied.ErrClosed)
	for _, t := range terminals {
		t.gone()
	}
	for _, tell := range s.CloseCalls(s.guard.life, proxied.Aborted(why)) {
		s.guard.background.observe(tell, nil)
	}
}

func (g *guard) newSession(id string, in folders, hooks proxied.Hooks) *session {
	o := g.options
	s := &session{guard: g, id: id, start: start{folders: in}, work: work{tools: map[string]*tool{}, terminals: map[string]*terminal{}}}
	s.Events = proxied.NewEvents(hooks, proxied.Session{Host: Host, ID: "acp-" + id, Cwd: in.cwd(), Depth: o.Depth}, lost, o.Tell)
	s.judging, s.stop = context.WithCancelCause(g.life)
	return s
}

// asking returns the context of hooks that are asked about what the agent does in this turn.
func (s *session) asking() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.judging
}

// foldersOf returns the folders of a session that is open, else the proxy's own working directory.
func (s *sessions) foldersOf(id, own string) folders {
	if is := s.get(id); is != nil {
		return is.start.folders
	}
	clean, real, err := fsutil.Folder(own)
	if err != nil {
		clean, real = own, own
	}
	return folders{{clean, real}}
}

// opening is a request of the client that opens a session, until it is answered.
type opening struct {
	request *request
	id      string // "" where the agent gives it
	folders folders
	source  string
	hooks   proxied.Hooks
	before  *session // with this id, which was open already
	session *session // with this id, which is before or begins, nil: the agent gives the id
	sent    atomic.Bool
}

// opens decides a request that opens a session: new, load, resume, fork.
func (g *guard) opens(m *relay.Message, r *request) (relay.Decision, error) {
	p, err := readParams(m, "sessionId", "cwd", "additionalDirectories", "mcpServers")
	if err != nil {
		return relay.Decision{}, err
	}
	o := &opening{request: r, id: p.text("sessionId"), source: "startup"}
	switch m.Method {
	case acp.SessionLoad, acp.SessionResume:
		o.source = "resume"
	case "session/fork":
		o.id, o.source = "", "fork"
	}
	switch o.folders, err = p.folders(); {
	case err != nil:
		return relay.Decision{}, err
	case o.folders == nil && slices.Contains(judgedOfClient, m.Method):
		return relay.Decision{}, errors.New("the request has no cwd, and which hooks count is not known")
	case o.folders == nil:
		o.folders = g.sessions.foldersOf(o.id, g.options.Cwd)
	}
	r.Call.answered = func(m *relay.Message) relay.Decision { return g.opened(o, m) }
	r.Call.unsent = func() bool { return !o.sent.Load() }
	return relay.Later(cmp.Or(r.Call.lane, "opening"), func() relay.Decision { return g.open(m, p, o) }), nil
}

// open has the request reach the agent once the hooks of the session's folder are there.
func (g *guard) open(m *relay.Message, p *params, o *opening) relay.Decision {
	hooks, err := g.options.Open(o.folders.real())
	line := []byte(nil)
	switch is := g.sessions.get(o.id); {
	case err != nil || is == nil:
	case is.seen && !is.start.folders.hold(o.folders):
		err = fmt.Errorf("it is open in %s, whose hooks judge it: close it before it is opened in another folder", strings.Join(is.start.folders.given(), ", "))
	case !is.seen && is.isBusy():
		err = errors.New("something goes on in it already, although hookd has not seen it begin: wait for its end")
	}
	if err == nil {
		o.hooks = hooks
		line, err = g.options.guardServers(m, p, Server{Project: hooks.Project(), Folders: o.folders.real()})
	}
	if err != nil {
		g.asked[relay.Client].Remove(o.request)
		g.options.note(fmt.Sprintf("the session was not opened: %v", err))
		return refused(o.request.ID, codeInternal, "the session was not opened: "+err.Error())
	}
	if o.id != "" {
		o.before = g.sessions.get(o.id)
		if o.session = o.before; o.before == nil || !o.before.seen {
			o.session = g.newSession(o.id, o.folders, hooks)
			o.session.seen = true
			g.sessions.put(o.session)
		}
		o.session.load(1)
	}
	o.sent.Store(true)
	return relay.Pass(line)
}

// load counts the requests that have the history told again.
func (s *session) load(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work.loading += n
}

// opened takes the agent's answer to a request that opens a session. One with the id of another
// session that is open is refused: the two could not be told apart, and what hooks know of the
// first, such as the output that they withhold, would be forgotten. That one stays open, and ends
// once, as it would have.
func (g *guard) opened(o *opening, m *relay.Message) relay.Decision {
	s := o.session
	if s != nil {
		s.load(-1)
	}
	if g.sessions.get(o.id) != s { // it was closed in the meantime
		s = nil
	}
	if m.Error != nil {
		if s != nil && o.before != s {
			g.sessions.remove(o.id, s)
			s.leave("its session was not opened")
		}
		return relay.PassIn(o.request.Call.lane, m.Line)
	}
	id := cmp.Or(jsonspan.Text(jsonspan.Get(m.Result, "sessionId")), o.id)
	if id == "" || !m.Strict {
		return relay.PassIn(o.request.Call.lane, relay.ErrorLine(o.request.ID, codeInternal, "hookd: the session was not opened: what the agent answers can be read in two ways, or names no session"))
	}
	if s == nil || s.id != id {
		if s != nil && s != o.before { // it goes by another id
			g.sessions.remove(o.id, s)
			s.leave("its session goes by another id")
		}
		if other := g.sessions.get(id); other != nil && (other.seen || other.isBusy()) {
			problem := fmt.Sprintf("the session was not opened: the agent answers with the id %.100q, which is that of a session that is open", id)
			g.options.note(problem)
			return relay.PassIn(o.request.Call.lane, relay.ErrorLine(o.request.ID, codeInternal, "hookd: "+problem))
		}
		s = g.newSession(id, o.folders, o.hooks)
		s.seen = true
		g.sessions.put(s)
	}
	decide := func() (*protocol.Outcome, error) { return nil, nil }
	if s != o.before { // it was not open
		decide = s.Begin(g.life, protocol.SessionStart, protocol.SessionStartData{Source: o.source, Model: modelOf(m.Result)})
	}
	return relay.Later(laneOf(id), func() relay.Decision { return s.begin(o, m, decide) })
}

// modelOf is the model that a session begins with, as far as the agent says it.
func modelOf(result protocol.RawMessage) string {
	return jsonspan.Text(jsonspan.Find(result, "/models/currentModelId"))
}

// begin hands a session to the client once hooks have seen it begin and its mode is set.
func (s *session) begin(o *opening, m *relay.Message, decide func() (*protocol.Outcome, error)) relay.Decision {
	outcome, err := decide()
	if err == nil && outcome != nil {
		s.mu.Lock()
		s.start.contexts = append(s.start.contexts, proxied.Contexts(outcome)...)
		if outcome.Action == protocol.Stop {
			s.start.refusing = outcome.RefusalText()
		}
		s.mu.Unlock()
	}
	line, err := s.force(m)
	if err != nil {
		s.guard.options.note(err.Error())
		s.end("error")
		return relay.Pass(relay.ErrorLine(o.request.ID, codeInternal, "hookd: "+err.Error()))
	}
	return relay.Pass(line)
}

// closes decides a request that closes or removes a session.
func (g *guard) closes(m *relay.Message, r *request) (relay.Decision, error) {
	id := jsonspan.Text(jsonspan.Get(m.Params, "sessionId"))
	r.Call.answered = func(answer *relay.Message) relay.Decision {
		if s := g.sessions.get(id); s != nil && answer.Error == nil {
			s.end("closed")
		}
		return relay.PassIn(r.Call.lane, answer.Line)
	}
	return relay.PassIn(r.Call.lane, m.Line), nil
}

// end ends a session for hooks, once.
func (s *session) end(reason string) {
	s.guard.sessions.remove(s.id, s)
	s.mu.Lock()
	ended := s.ended
	s.ended = true
	s.mu.Unlock()
	s.leave("the session has ended")
	if ended || !s.seen {
		return
	}
	s.guard.background.observe(s.BeginDetached(s.guard.life, protocol.SessionEnd, protocol.SessionEndData{Reason: reason}), nil)
}

// fail tells hooks that what goes on in a session has no end that anybody reads.
func (s *session) fail(why string) {
	s.mu.Lock()
	turns, tools := s.work.turns, slices.Collect(maps.Values(s.work.tools))
	s.work = work{tools: map[string]*tool{}, terminals: s.work.terminals}
	s.mu.Unlock()
	lose(tools, why)
	s.leave(why)
	for _, t := range turns {
		t.failed(why, "internal", nil)
	}
}
