package dialect

import (
	"errors"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// Answer writes an outcome as the agent expects it.
func (c *Call) Answer(out *protocol.Outcome) Answer {
	s := settling{c: c, out: out, can: &c.Row.Can}
	s.settle()
	a := c.written(&s.v)
	if !s.can.Notice.Possible() {
		a.Stderr = object.Lines(a.Stderr, s.notice())
	}
	a.Lost = append(s.lost, a.Lost...)
	return a
}

// lost are the parts of an outcome that the agent cannot carry out, for the record.
func (c *Call) lost(out *protocol.Outcome) []string { return c.Answer(out).Lost }

// written writes a verdict. What is to be refused is never an empty answer, which every
// agent takes for a yes: exit code 2 with the reason on stderr is a no for nearly all of
// them. Only a question that the agent puts anyway is left to it by saying nothing.
func (c *Call) written(v *Verdict) Answer {
	a := c.Agent.WriteAnswer(c, v)
	asks := v.Ask && c.Row.Event != protocol.PermissionRequest
	if (v.Refuse || asks || v.Continue) && len(a.Stdout) == 0 && a.Exit == 0 {
		a.Exit, a.Stderr = 2, v.Reason
	}
	return a
}

// Refuse answers a call that could not be read or decided. name is the agent's name of
// the event, "" if it is not known. What the agent can refuse is refused, and so is what
// nobody can name. An event that no row has goes on: hookd is not installed for it.
func (a *Agent) Refuse(name string, err error) Answer {
	if unknown, is := errors.AsType[*UnknownEventError](err); is {
		return Answer{Lost: []string{unknown.Error()}}
	}
	if input, is := errors.AsType[*InputError](err); is && input.Event != "" {
		name = input.Event // what the input says counts, whatever hook it was sent to
	}
	reason := "hookd: " + err.Error()
	row := a.Row(name)
	switch {
	case row != nil && errors.Is(err, ErrNothing):
		return (&Call{Agent: a, Row: row}).written(&Verdict{})
	case row == nil && a.WriteRefusal != nil:
		return a.WriteRefusal(reason)
	case row == nil:
		return Answer{Exit: 2, Stderr: reason}
	case row.Can.Block.Possible():
		return (&Call{Agent: a, Row: row}).written(&Verdict{Refuse: true, Reason: reason})
	default:
		return Answer{Lost: []string{reason}}
	}
}
