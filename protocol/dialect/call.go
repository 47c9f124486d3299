package dialect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// Call is what an agent sent for one event, read.
type Call struct {
	Agent *Agent
	Row   *Row

	// Event is ready to be fired. Its data has our names and forms, and the agent's
	// own bytes as the member host.
	Event protocol.Event

	their theirCall // of a tool's event
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

// reading is what an agent's file reads of an input besides what all agents send alike.
type reading struct {
	in   *input // with the common names of members, where the agent has others
	data any    // one of the Data types of package protocol
	call theirCall
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

// errNothing says that an agent fired an event about something that has not happened: no
// hook is asked, and nothing is refused.
var errNothing = errors.New("nothing has happened that hooks are asked about")

// readCall returns the name of the event, too, as far as it is known.
func (a *Agent) readCall(name string, stdin []byte, lim protocol.DecodeLimits) (*Call, string, error) {
	object, err := protocol.StrictJSON(stdin, lim)
	if err != nil {
		return nil, name, fmt.Errorf("what %s sent cannot be read: %w", a.Title, err)
	}
	if jsonspan.Kind(object) != '{' {
		return nil, name, fmt.Errorf("what %s sent is %s where an object is expected", a.Title, jsonspan.KindName(object))
	}
	in := &input{object: object}
	says := in.first("hook_event_name", "hookEventName", "event", "event_type", "agent_action_name")
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
		return nil, name, fmt.Errorf("%s sent the event %s to the hook of %s", a.Title, says, name)
	}
	got, err := a.read(a, in, row)
	if err != nil {
		return nil, name, fmt.Errorf("%s of %s: %w", row.Name, a.Title, err)
	}
	data, err := json.Marshal(got.data)
	if err != nil {
		return nil, name, fmt.Errorf("%s of %s: %w", row.Name, a.Title, err)
	}
	c := &Call{Agent: a, Row: row, their: got.call}
	host := in.object
	if got.in != nil {
		in = got.in
	}
	c.Event = protocol.Event{
		Event: row.Event,
		Session: protocol.Session{
			ID:         in.first("session_id", "sessionId", "conversation_id", "trajectory_id", "taskId"),
			Transcript: in.first("transcript_path", "transcriptPath"),
		},
		Agent: protocol.Agent{ID: "main", Host: a.Name},
		Cwd:   in.first("cwd", "working_dir", "working_directory"),
		Data:  jsonspan.With(data, "host", host),
	}
	c.Event.Lost = c.lost
	if id := in.first("agent_id", "agentId"); id != "" && row.Event != protocol.SubagentStart && row.Event != protocol.SubagentStop {
		c.Event.Agent.ID, c.Event.Agent.Depth = id, 1
	}
	return c, name, nil
}

// input is the object that an agent sent.
type input struct {
	object protocol.RawMessage
	// tool is the called tool by a name that the vocabulary has, where the member tool_name
	// is another.
	tool string
	// noArgs says that the agent leaves tool_input out where a call has no args.
	noArgs bool
}

// at returns the value at a JSON Pointer, nil if there is none.
func (in *input) at(pointer string) protocol.RawMessage {
	if !strings.HasPrefix(pointer, "/") {
		pointer = "/" + pointer
	}
	return jsonspan.Find(in.object, pointer)
}

// text returns the string at a JSON Pointer, empty if there is none.
func (in *input) text(pointer string) string {
	value := in.at(pointer)
	if jsonspan.Kind(value) != '"' {
		return ""
	}
	return jsonspan.Text(value)
}

// first returns the first of several members that is a string and not empty.
func (in *input) first(names ...string) string {
	for _, name := range names {
		if s := in.text(name); s != "" {
			return s
		}
	}
	return ""
}

// is reports whether the value at a JSON Pointer is true.
func (in *input) is(pointer string) bool { return string(in.at(pointer)) == "true" }

// need returns the string at a JSON Pointer, or an error that names it. An empty string
// is a string.
func (in *input) need(pointer string) (string, error) {
	value := in.at(pointer)
	if jsonspan.Kind(value) != '"' {
		return "", fmt.Errorf("%s is missing or no string", pointer)
	}
	return jsonspan.Text(value), nil
}

// with is the input with another value of a member, or the same input if value is nil.
func (in *input) with(name string, value protocol.RawMessage) *input {
	if value == nil {
		return in
	}
	other := *in
	other.object = set(in.object, name, value)
	return &other
}

// set returns an object in which a member has this value, at its end.
func set(object []byte, name string, value []byte) protocol.RawMessage {
	return jsonspan.With(jsonspan.Without(object, name), name, value)
}
