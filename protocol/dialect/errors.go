package dialect

import (
	"errors"
	"fmt"

	"github.com/hookd-dev/hookd/internal/text"
)

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

// InputError says what is wrong with an input.
type InputError struct {
	Event string // the agent's name of the event, "" if the input does not even say that
	err   error
}

func (e *InputError) Error() string { return e.err.Error() }
func (e *InputError) Unwrap() error { return e.err }

// ErrNothing says that an agent fired an event about something that has not happened: no
// hook is asked, and nothing is refused.
var ErrNothing = errors.New("nothing has happened that hooks are asked about")
