package dialect

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// Call is what an agent sent for one event, read.
type Call struct {
	Agent *Agent
	Row   *Row

	// Event is ready to be fired. Its data has our names and forms, and the agent's
	// own bytes as the member host.
	Event protocol.Event

	their TheirCall // of a tool's event
}

// UnknownEventError says that an agent calls for an event that no row has: the agent
// is newer than this hookd, or the name is misspelt where hookd was installed.
type UnknownEventError struct {
	Agent *Agent
	Event string
}

func (e *UnknownEventError) Error() string {
	var known []string
	for _, r := range e.Agent.Rows {
		known = append(known, r.Name)
	}
	hint := ""
	if near := text.Nearest(e.Event, known); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return fmt.Sprintf("%s has no event %q that hookd knows%s", e.Agent.Title, text.Shorten(e.Event, 60), hint)
}

// Reading is what an agent's file reads of an input besides what all agents send alike.
type Reading struct {
	In   *Input // with the common names of members, where the agent has others
	Data any    // one of the Data types of package protocol
	Call TheirCall
}

// InputError says what is wrong with an input.
type InputError struct {
	Event string // the agent's name of the event, "" if the input does not even say that
	Err   error
}

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

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

// ErrNothing says that an agent fired an event about something that has not happened: no
// hook is asked, and nothing is refused.
var ErrNothing = errors.New("nothing has happened that hooks are asked about")

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
	says := in.First("hook_event_name", "hookEventName", "event", "event_type", "agent_action_name")
	if name == "" {
		name = says
	}
	if name == "" {
		return nil, name, errors.New("what " + a.Title + " sent does not name its event: give it, hookd bridge " + a.Name + " EVENT")
	}
	row := a.Row(name)
	if row == nil {
		return nil, name, &UnknownEventError{a, name}
	}
	if other := a.Row(says); other != nil && other.Event != row.Event {
		return nil, says, fmt.Errorf("%s sent the event %s to the hook of %s", a.Title, says, name)
	}
	got, err := a.ReadInput(a, in, row)
	if err != nil {
		return nil, name, fmt.Errorf("%s of %s: %w", row.Name, a.Title, err)
	}
	data, err := json.Marshal(got.Data)
	if err != nil {
		return nil, name, fmt.Errorf("%s of %s: %w", row.Name, a.Title, err)
	}
	c := &Call{Agent: a, Row: row, their: got.Call}
	host := in.JSON
	if got.In != nil {
		in = got.In
	}
	c.Event = protocol.Event{
		Event: row.Event,
		Session: protocol.Session{
			ID:         in.First("session_id", "sessionId", "conversation_id", "trajectory_id", "taskId"),
			Transcript: in.First("transcript_path", "transcriptPath"),
		},
		Agent: protocol.Agent{ID: "main", Host: a.Name},
		Cwd:   in.First("cwd", "working_dir", "working_directory"),
		Data:  jsonspan.With(data, "host", host),
	}
	c.Event.Lost = c.lost
	if id := in.First("agent_id", "agentId"); id != "" && row.Event != protocol.SubagentStart && row.Event != protocol.SubagentStop {
		c.Event.Agent.ID, c.Event.Agent.Depth = id, 1
	}
	return c, name, nil
}

// Input is the object that an agent sent.
type Input struct {
	object.Reader
	// Tool is the called tool by a name that the vocabulary has, where the member tool_name
	// is another.
	Tool string
	// NoArgs says that the agent leaves tool_input out where a call has no args.
	NoArgs bool
}

// With returns the input with another value of a member, or the same input if value is nil.
func (in *Input) With(name string, value protocol.RawMessage) *Input {
	if value == nil {
		return in
	}
	other := *in
	other.JSON = object.Set(in.JSON, name, value)
	return &other
}
