package chain

import (
	"bytes"
	"errors"
	"io"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// writer takes the lines of the proxy to one side. Each write is of whole lines.
type writer struct {
	member *Member
	to     relay.Side
}

func (w *writer) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if err := w.member.send(w.to, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Close ends what the side says, once the proxy says no more to it: as a program ends whose
// input does. Of the client nothing more is read then, anyway.
func (w *writer) Close() error {
	w.member.says[w.to].finish()
	return nil
}

// send sends a line of the proxy to a side. Its bytes are kept by nobody.
func (m *Member) send(to relay.Side, line []byte) error {
	message, fault := relay.Read(line)
	if fault != nil {
		m.note(fault.Text, line)
		return nil
	}
	switch d := m.dialect.Load(); {
	case message.Kind == relay.Response:
		request, open := m.received.answered(to, message.ID)
		if open && request.begins {
			return m.write(d.accepted(message))
		}
		return m.write(message.Line)
	case message.Kind == relay.Notification && message.Method == acp.CancelRequest:
		id := m.sent.of(to, jsonspan.Get(message.Params, "requestId"))
		if id == nil { // it has its answer
			return nil
		}
		return m.write(message.With("params", relay.Replace(message.Params, "requestId", id)))
	case to == relay.Client && message.Kind == relay.Notification:
		return m.write(message.Line)
	case d == nil:
		return errors.New("the chain has not begun")
	case message.Kind == relay.Notification:
		return m.write(wrap(message, nil, d.send.notification))
	default:
		return m.ask(to, message, d)
	}
}

// ask sends a request of the proxy to a side, under an id of the connection.
func (m *Member) ask(to relay.Side, message *relay.Message, d *dialect) error {
	id := m.sent.add(to, message.ID)
	switch {
	case id == nil:
		m.says[to].put(relay.ErrorLine(message.ID, codeInternal, "hookd: too many requests have no answer yet"), false)
		return nil
	case to == relay.Client:
		return m.write(message.With("id", id))
	}
	return m.write(wrap(message, id, d.send.request))
}

// write writes a line to the conductor.
func (m *Member) write(line []byte) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	n, err := m.out.Write(append(line[:len(line):len(line)], '\n'))
	if err == nil && n <= len(line) {
		err = io.ErrShortWrite
	}
	return err
}
