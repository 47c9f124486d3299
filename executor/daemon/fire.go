package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

func planFire(c *conn, params protocol.RawMessage, r *request) (protocol.RawMessage, *rpc.Error) {
	event, failure := readEvent(params)
	if failure != nil {
		return nil, failure
	}
	session, failure := c.server.schedule.lookup(c, event.Session.ID, event.Session.Key)
	if failure != nil {
		return nil, failure.With("session", event.Session.ID)
	}
	event.Session.Key = "" // hooks never see it
	r.session, r.counts, r.tool = session, true, toolCallID(event.Data)
	r.run = func(ctx context.Context, r *request) (protocol.RawMessage, *rpc.Error) {
		return c.fire(ctx, r, event)
	}
	return nil, nil
}

// fire gives an event what only the daemon knows, asks the engine, and fits the
// outcome to what the host can carry out.
func (c *conn) fire(ctx context.Context, r *request, event protocol.Event) (protocol.RawMessage, *rpc.Error) {
	session := r.session
	if session.project == nil {
		return nil, errUnknownSession.With("session", session.ID) // it could not be opened
	}
	if failure := c.server.checkProject(session, event.Project); failure != nil {
		return nil, failure
	}
	event.Protocol = protocol.Version
	event.ID = protocol.NewID()
	event.Seq, event.Epoch = &r.seq, session.opening
	event.Time = time.Now().UTC()
	event.Project = session.project.root
	if event.Cwd == "" {
		event.Cwd = session.Cwd
	}
	if event.Agent.ID == "" {
		event.Agent.ID = "main"
	}
	if event.Agent.Host == "" {
		event.Agent.Host = session.Host
	}
	can := c.peer.Load().can
	event.Lost = can.lost
	outcome, err := session.project.engine.Fire(ctx, event, c.progressOf(session, &event))
	if err != nil {
		return nil, cancelled(ctx)
	}
	outcome = can.fit(outcome)
	return encode(&outcome)
}

// checkProject refuses an event that names another project than its session: a
// session keeps the project it began with.
func (s *Server) checkProject(session *session, project string) *rpc.Error {
	if project == "" || project == session.project.root {
		return nil
	}
	if root, err := s.opt.Resolve(project, ""); err == nil && root == session.project.root {
		return nil
	}
	return badParam("/project", "/project: the session belongs to "+quote(session.project.root))
}

// toolCallID returns the toolCallId of an event's data, "" if it has none.
func toolCallID(data protocol.RawMessage) string {
	return jsonspan.Text(jsonspan.Get(data, "toolCallId"))
}

// readEvent reads the params of event/fire: an event without what the daemon
// adds. Members that the daemon sets itself are ignored.
func readEvent(params protocol.RawMessage) (protocol.Event, *rpc.Error) {
	if jsonspan.Kind(params) != '{' {
		return protocol.Event{}, badParam("", "params must be an object")
	}
	event, err := protocol.DecodeEvent(params, protocol.DecodeLimits{})
	var wrong *protocol.DecodeError
	switch {
	case errors.Is(err, protocol.ErrTooLarge):
		return event, rpc.Errorf(rpc.TooLarge, "the event is not taken: %v", err)
	case errors.As(err, &wrong):
		return event, badParam(wrong.Path, where(wrong.Path)+wrong.Err.Error())
	case err != nil:
		return event, badParam("", err.Error())
	case event.Session.ID == "":
		return event, badParam("/session/id", "/session/id: must name an open session")
	}
	return event, nil
}

// Capabilities are what a client says in initialize that it can carry out, and
// what it wants to be told. What it does not name it cannot do.
type Capabilities struct {
	Ask           bool     `json:"ask"`      // let a person decide
	Callback      bool     `json:"callback"` // run a recipe
	Continue      bool     `json:"continue"` // go on with a step or run that would end
	Notifications []string `json:"notifications,omitzero"`
}

// ours are the capabilities of the daemon: it passes on everything.
var ours = Capabilities{Ask: true, Callback: true, Continue: true, Notifications: []string{
	hooksChanged, hookStarted, hookFinished, logMessage,
}}

// lost says what fit takes from an outcome, for its record.
func (can Capabilities) lost(out *protocol.Outcome) (lost []string) {
	for _, n := range can.fit(*out).Notices[len(out.Notices):] {
		if n.Hook != "" {
			n.Text = "the hook " + n.Hook + " " + n.Text
		}
		lost = append(lost, n.Text)
	}
	return lost
}

// fit reduces an outcome to what the host can carry out. An ask becomes a block if the
// host cannot ask a person. A notice says what else is lost, so that the person knows
// what a hook wanted.
func (can Capabilities) fit(out protocol.Outcome) protocol.Outcome {
	by := ""
	if out.By != nil {
		by = *out.By
	}
	out.Notices = append([]protocol.HookText(nil), out.Notices...)
	note := func(hook, text string) {
		out.Notices = append(out.Notices, protocol.HookText{Hook: hook, Text: text})
	}
	if out.Action == protocol.Ask && !can.Ask {
		out.Action = protocol.Block
		note(by, "wants a person to decide, and this host cannot ask one: refused")
	}
	if out.Callback != nil && !can.Callback {
		note(out.Callback.By, "asked for the recipe "+quote(out.Callback.Name)+", and this host cannot run recipes: lost")
		out.Callback = nil
		if out.Action == protocol.Callback {
			out.Action = protocol.Observe
		}
	}
	if !can.Continue && (out.Action == protocol.Continue || len(out.Messages) > 0) {
		note(by, "wants the run to go on, and this host cannot: lost")
		out.Messages = nil
		if out.Action == protocol.Continue {
			out.Action = protocol.Observe
		}
	}
	return out
}
