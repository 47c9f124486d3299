package dialect

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// Read reads what the agent wrote to stdin. name is the event as the command line
// gives it, empty if the input itself names it. An error is an [*UnknownEventError] or an
// [*InputError]; [Agent.Refuse] answers both.
func (a *Agent) Read(name string, stdin []byte, lim protocol.DecodeLimits) (*Call, error) {
	c, name, err := a.readCall(name, stdin, lim)
	if _, unknown := errors.AsType[*UnknownEventError](err); err != nil && !unknown {
		return nil, &InputError{name, err}
	}
	return c, err
}

// readCall returns the name of the event, too, as far as it is known.
func (a *Agent) readCall(name string, stdin []byte, lim protocol.DecodeLimits) (*Call, string, error) {
	sent, err := protocol.StrictJSON(stdin, lim)
	if err != nil {
		return nil, name, fmt.Errorf("what %s sent cannot be read: %w", a.Title, err)
	}
	if jsonspan.Kind(sent) != '{' {
		return nil, name, fmt.Errorf("what %s sent is %s where an object is expected", a.Title, jsonspan.KindName(sent))
	}
	in := &Input{Reader: object.Reader{JSON: sent}}
	row, name, err := a.rowOf(name, in)
	if err != nil {
		return nil, name, err
	}
	c := &Call{Agent: a, Row: row}
	if err := c.read(in); err != nil {
		return nil, name, fmt.Errorf("%s of %s: %w", row.Name, a.Title, err)
	}
	return c, name, nil
}

// rowOf finds the row of an input's event, and returns the event's name. Where the command
// line and the input name two events that are not the same to us, neither is believed.
func (a *Agent) rowOf(name string, in *Input) (*Row, string, error) {
	says := in.First("hook_event_name", "hookEventName", "event", "event_type", "agent_action_name")
	if hook := in.Text("hookName"); says == "" && a.Row(hook) != nil { // else it may be a name that is no event's
		says = hook
	}
	if name == "" {
		name = says
	}
	if name == "" {
		return nil, name, errors.New("what " + a.Title + " sent does not name its event: give it, hookd bridge " + a.Name + " EVENT")
	}
	row := a.Row(name)
	if row == nil && says != name { // only the command line names it: it is misspelt there
		unknown := UnknownEventError{a, name}
		return nil, says, errors.New(unknown.Error() + ", and the input does not say that it is that")
	}
	if row == nil {
		return nil, name, &UnknownEventError{a, name}
	}
	if other := a.Row(says); other != nil && other.Event != row.Event {
		return nil, says, fmt.Errorf("%s sent the event %s to the hook of %s", a.Title, says, name)
	}
	return row, name, nil
}

// read makes our event of an input.
func (c *Call) read(in *Input) error {
	got, err := c.Agent.ReadInput(c.Agent, in, c.Row)
	if err != nil {
		return err
	}
	data, err := json.Marshal(got.Data)
	if err != nil {
		return err
	}
	c.their, c.Folders = got.Call, workspaceFolders(in)
	host := in.JSON
	if got.In != nil {
		in = got.In
	}
	c.Event = protocol.Event{
		Event: c.Row.Event,
		Session: protocol.Session{
			ID:         in.First("session_id", "sessionId", "conversation_id", "trajectory_id", "taskId"),
			Transcript: in.First("transcript_path", "transcriptPath"),
		},
		Agent: protocol.Agent{ID: "main", Host: c.Agent.Name},
		Cwd:   in.First("cwd", "working_dir", "working_directory"),
		Data:  jsonspan.With(data, "host", host),
	}
	c.Event.Lost = c.lost
	if id := in.First("agent_id", "agentId"); id != "" && c.Row.Event != protocol.SubagentStart && c.Row.Event != protocol.SubagentStop {
		c.Event.Agent.ID, c.Event.Agent.Depth = id, 1
	}
	return nil
}
