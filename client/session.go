package client

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
)

// SessionOptions say what a session is about. Project or Cwd is required.
type SessionOptions struct {
	ID      string `json:"id,omitzero"`      // default: a new one
	Project string `json:"project,omitzero"` // absolute path; default: the project that Cwd lies in
	Cwd     string `json:"cwd,omitzero"`     // absolute path, for events that name none
	Host    string `json:"host,omitzero"`    // agent.host of its events; default: Options.Name
}

// Session is one conversation of the agent. It is a gate in the sense of the
// agent loop.
type Session struct {
	client *Client

	ID         string
	Key        string // lets another connection fire events of this session
	Generation int64  // of the set of hooks at the opening
}

// Open opens a session. It ends with [Session.Close] or with the connection.
func (c *Client) Open(ctx context.Context, opt SessionOptions) (*Session, error) {
	var opened struct {
		ID         string `json:"id"`
		Key        string `json:"key"`
		Generation int64  `json:"generation"`
	}
	if err := c.conn.call(ctx, "session/open", opt, &opened); err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	return &Session{client: c, ID: opened.ID, Key: opened.Key, Generation: opened.Generation}, nil
}

// Attach returns a session that another connection has opened.
func (c *Client) Attach(id, key string) *Session { return &Session{client: c, ID: id, Key: key} }

// Close ends the session after the events that were fired before.
func (s *Session) Close(ctx context.Context) error {
	return s.client.conn.call(ctx, "session/close", map[string]string{"id": s.ID, "key": s.Key}, nil)
}

// Fire asks the hooks of one event and returns the outcome to obey. The event
// needs no id, seq, time, session or project; the outcome's event has them.
//
// The error is non-nil for one reason only: ctx ended. If the daemon is gone or refuses
// the event, the outcome is that of a failed hook with the rule block: a gate is refused,
// agent-stop and subagent-stop end the run, points and notices pass. A notice says why.
//
// If the event has CheckArgs, args that a hook changed are checked here, since
// the daemon cannot.
func (s *Session) Fire(ctx context.Context, event protocol.Event) (protocol.Outcome, error) {
	event.Session.ID, event.Session.Key = s.ID, s.Key
	out, err := s.client.Fire(ctx, event)
	if err == nil {
		return checkArgs(event, out), nil
	}
	if ctx.Err() != nil {
		return protocol.Outcome{}, context.Cause(ctx)
	}
	return couldNotAsk(event, protocol.FailLost, err), nil
}

// Fire asks the hooks of one event of the session that event.Session names by
// id and, when another connection opened it, by key. The error may be an
// [*rpc.Error] of the daemon, wrap [ErrLost], or be the cause of the end of ctx.
// [Session.Fire] returns an outcome that is safe to obey in all these cases.
//
// [*rpc.Error]: https://pkg.go.dev/github.com/hookd-dev/hookd/protocol/rpc#Error
func (c *Client) Fire(ctx context.Context, event protocol.Event) (protocol.Outcome, error) {
	var out protocol.Outcome
	if err := c.conn.call(ctx, "event/fire", fireParams{
		Event: event.Event, Session: event.Session, Agent: event.Agent, Project: event.Project, Cwd: event.Cwd,
		Turn: event.Turn, Step: event.Step, Recipe: event.Recipe, Compaction: event.Compaction, Usage: event.Usage,
		Data: event.Data, Unknown: event.Unknown,
	}, &out); err != nil {
		return protocol.Outcome{}, err
	}
	out.Event.CheckArgs, out.Event.Touches = event.CheckArgs, event.Touches
	return out, nil
}

// fireParams is an event without what the daemon adds.
type fireParams struct {
	Event      protocol.EventName  `json:"event"`
	Session    protocol.Session    `json:"session"`
	Agent      protocol.Agent      `json:"agent"`
	Project    string              `json:"project,omitzero"`
	Cwd        string              `json:"cwd,omitzero"`
	Turn       int                 `json:"turn"`
	Step       int                 `json:"step"`
	Recipe     *string             `json:"recipe"`
	Compaction protocol.Compaction `json:"compaction"`
	Usage      protocol.RunUsage   `json:"usage"`
	Data       protocol.RawMessage `json:"data"`
	Unknown    jsontext.Value      `json:",embed"`
}

// couldNotAsk is the outcome of an event whose hooks could not be asked.
func couldNotAsk(event protocol.Event, kind protocol.FailureKind, cause error) protocol.Outcome {
	event.Session.Key = ""
	out := protocol.Outcome{
		Action: protocol.Observe, Failure: kind, Event: event,
		Notices: []protocol.HookText{{Hook: "hookd", Text: fmt.Sprintf("the hooks of %s could not be asked: %v", event.Event, cause)}},
	}
	if spec := event.Spec(); spec != nil && spec.Kind == protocol.Gate {
		out.Reason = kind.Refusal("hookd")
		out.Action = protocol.Block
		if spec.Block == protocol.BlockContinues {
			out.Action = protocol.Stop // a block would force the run on
		}
	}
	return out
}

// checkArgs checks a tool's args against its schema after the last modifier.
func checkArgs(before protocol.Event, out protocol.Outcome) protocol.Outcome {
	if before.CheckArgs == nil || out.Event.Event != protocol.ToolCallStart || out.Refused() {
		return out
	}
	args := argsOf(out.Event.Data)
	if bytes.Equal(args, argsOf(before.Data)) {
		return out
	}
	err := before.CheckArgs(args)
	if err == nil {
		return out
	}
	refused := couldNotAsk(before, protocol.FailReply, fmt.Errorf("a hook changed args to what the tool does not take: %w", err))
	refused.Notices = append(out.Notices, refused.Notices...)
	refused.Generation, refused.Runs = out.Generation, out.Runs
	return refused
}

func argsOf(data protocol.RawMessage) protocol.RawMessage {
	var call struct {
		Args protocol.RawMessage `json:"args"`
	}
	_ = json.Unmarshal(data, &call)
	return call.Args
}
