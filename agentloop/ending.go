package agentloop

import (
	"fmt"

	"github.com/hookd-dev/hookd/protocol"
)

// ending is why a run ends before it is done: with agent-end and a stop reason,
// or with agent-error and a cause. It travels up as an error.
type ending struct {
	stopReason string // of agent-end: steps tokens time budget hook aborted; "" for agent-error
	cause      string // of agent-error: blocked failure model tool limit internal
	message    string
	by         string // the hook, "" if none
	err        error  // what is underneath, if anything
}

func (e *ending) Error() string { return e.message }
func (e *ending) Unwrap() error { return e.err }

// Error is the error of a run that ended with agent-error.
type Error struct {
	Cause   string // blocked failure model tool limit internal
	By      string // the hook that refused, "" if none did
	Message string
	err     error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.err }

func internal(err error) *ending {
	return &ending{cause: "internal", message: err.Error(), err: err}
}

// refusal is the ending of a run whose event was refused or stopped, nil if the
// event passed. A stop is the regular end of a run, a refusal is not; a rule
// that refuses because a hook could not be asked is no regular end either.
func (v *verdict) refusal() error {
	switch {
	case v.passed():
		return nil
	case v.Failure != "":
		return &ending{cause: "failure", message: v.told(), by: v.by()}
	case v.Action == protocol.Stop && !protocol.Lookup(v.name).StopErrs:
		return &ending{stopReason: v.stopReason(), message: v.told(), by: v.by()}
	case v.name == protocol.InferenceStart && v.by() == "retries" && v.DecidedLayer() == protocol.Builtin:
		return &ending{cause: "model", message: v.told(), by: v.by(), err: errNoMoreTries}
	default:
		return &ending{cause: "blocked", message: v.told(), by: v.by()}
	}
}

// stopReason is the stopReason of agent-end after a stop: a limit's own where a
// built-in of that name said it.
func (v *verdict) stopReason() string {
	switch name := v.by(); name {
	case "steps", "tokens", "time", "budget":
		if v.DecidedLayer() == protocol.Builtin {
			return name
		}
	}
	return "hook"
}

// told is what the model and the person read of a refusal. Of a hook that could
// not be asked the model learns no more than that.
func (v *verdict) told() string {
	switch {
	case v.Failure != "":
		return fmt.Sprintf("blocked: the check %s could not be made (%s)", v.by(), v.Failure)
	case v.Reason != "":
		return v.Reason
	case v.Action == protocol.Stop:
		return "stopped by " + v.by()
	default:
		return "blocked by " + v.by()
	}
}
