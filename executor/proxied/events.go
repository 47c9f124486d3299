package proxied

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// Hooks are the hooks of the project that a proxy works in.
type Hooks interface {
	Project() string // root, "" outside of any project
	// Begin gives an event its place and returns what decides it; see [protocol.EventGate].
	Begin(ctx context.Context, event protocol.Event) func() (protocol.Outcome, error)
	// MayChange reports whether a hook that may block or change an event could match it.
	MayChange(event protocol.Event) bool
	// Refuses returns the name of a hook that refuses an event whatever else it says than the
	// tool, "" if none is known to.
	Refuses(event protocol.Event) string
}

// Session is what the events of a session say of it.
type Session struct {
	Host  string // the kind of proxy, whatever the client calls itself: a client must not choose which agent's rules count
	ID    string
	Cwd   string // absolute path
	Depth int    // how many hooks and tools stand above this process
}

// Events fires the events of a session. It is safe for concurrent use.
type Events struct {
	hooks   Hooks
	session Session
	lost    func(*protocol.Outcome) []string
	tell    func(*protocol.Outcome)
	opened  time.Time
	calls   calls

	mu  sync.Mutex
	seq int64
}

// NewEvents returns the events of a session that begins now. lost says what of an outcome
// the proxy cannot carry out; tell is told each decided event, nil: nobody is.
func NewEvents(hooks Hooks, s Session, lost func(*protocol.Outcome) []string, tell func(*protocol.Outcome)) *Events {
	return &Events{hooks: hooks, session: s, lost: lost, tell: tell, opened: time.Now()}
}

// Begin begins an event: those that begin one after the other meet the hooks in this order.
// data is the struct of the event's row. add adds what the proxy itself has to say about the
// event, such as how a person is asked.
func (e *Events) Begin(ctx context.Context, name protocol.EventName, data any, add ...func(*protocol.Event)) func() (*protocol.Outcome, error) {
	return e.begin(ctx, name, data, add...)
}

// BeginDetached begins an event of which nobody waits for the outcome: it tells what has
// happened, also when the connection has ended.
func (e *Events) BeginDetached(ctx context.Context, name protocol.EventName, data any) func() (*protocol.Outcome, error) {
	return e.begin(ctx, name, data, Detached)
}

func (e *Events) begin(ctx context.Context, name protocol.EventName, data any, add ...func(*protocol.Event)) func() (*protocol.Outcome, error) {
	event, err := protocol.NewEvent(name, data)
	if err != nil {
		return func() (*protocol.Outcome, error) { return nil, err }
	}
	e.complete(&event)
	event.Lost = e.lost
	for _, add := range add {
		add(&event)
	}
	e.mu.Lock()
	e.seq++
	seq := e.seq
	event.Seq = &seq
	decide := e.hooks.Begin(ctx, event)
	e.mu.Unlock()
	return func() (*protocol.Outcome, error) {
		outcome, err := decide()
		if err != nil {
			return nil, err
		}
		if e.tell != nil {
			e.tell(&outcome)
		}
		return &outcome, nil
	}
}

func (e *Events) complete(event *protocol.Event) {
	event.ID, event.Time, event.Epoch = protocol.NewID(), time.Now().UTC(), e.opened.UnixNano()
	event.Session.ID = e.session.ID
	event.Agent = protocol.Agent{ID: "main", Depth: e.session.Depth, Host: e.session.Host}
	event.Project, event.Cwd = e.hooks.Project(), e.session.Cwd
}

// MayChange reports whether hooks may withhold or change what an event is about.
func (e *Events) MayChange(name protocol.EventName, data any) bool {
	event, err := protocol.NewEvent(name, data)
	if err != nil {
		return true
	}
	e.complete(&event)
	return e.hooks.MayChange(event)
}

// MayChangeAny reports whether hooks may withhold or change what an event with this name is
// about, whatever it says.
func (e *Events) MayChangeAny(name protocol.EventName) bool {
	event := protocol.Event{Protocol: protocol.Version, Event: name}
	e.complete(&event)
	return e.hooks.MayChange(event)
}

// Refuses returns the name of a hook that refuses an event whatever else it says than the
// tool, "" if none is known to.
func (e *Events) Refuses(name protocol.EventName, data any) string {
	event, err := protocol.NewEvent(name, data)
	if err != nil {
		return ""
	}
	e.complete(&event)
	return e.hooks.Refuses(event)
}

// Who names the one who decided an outcome.
func Who(o *protocol.Outcome) string {
	if o.By == nil || *o.By == "" {
		return "hookd"
	}
	for i := range o.Runs { // where settings cannot be read hookd refuses by itself; a hook may have its name
		if run := &o.Runs[i]; *o.By == "hookd" && run.Hook == *o.By && run.Source == protocol.Builtin {
			return "hookd"
		}
	}
	return "the hook " + *o.By
}

// Explain returns the reason of a refusal as a person reads it: where the hook that refused could
// not be asked, with what happened and what to do about it. A model reads the reason alone.
func Explain(o *protocol.Outcome, reason string) string {
	for i := range o.Runs {
		run := &o.Runs[i]
		if o.By == nil || run.Hook != *o.By || run.Failure == "" || run.Failure != o.Failure {
			continue
		}
		if detail := strings.TrimPrefix(run.Detail, run.Hook+": "); detail != "" {
			reason += ": " + text.Line(detail)
		}
		if run.Remedy != "" {
			reason += " (" + text.Line(run.Remedy) + ")"
		}
		break
	}
	return reason
}

// Contexts are the texts that hooks add for the model.
func Contexts(o *protocol.Outcome) (texts []string) {
	for _, c := range o.Context {
		texts = append(texts, "[context from hook "+c.Hook+"]\n"+c.Text)
	}
	return texts
}
