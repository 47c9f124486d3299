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
	r.event = event.Event
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
