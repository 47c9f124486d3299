package agentloop

import (
	"errors"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/store"
)

// SetModel lets another model answer from the next prompt on, and keeps what
// [model.Origin] says of it with the session. It returns [ErrRunning] while a prompt runs and [ErrClosed]
// behind the end of the session.
func (l *Loop) SetModel(m model.Model) error {
	if m == nil {
		return errors.New("agent loop: a model is needed")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return ErrClosed
	case l.running:
		return ErrRunning
	}
	if err := l.keep(store.Entry{Kind: store.Model, Text: model.Origin(m)}); err != nil {
		return err
	}
	l.options.Model = m
	return nil
}
