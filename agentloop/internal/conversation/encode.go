package conversation

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
)

// encodings keeps the JSON of a conversation's messages. Five events of each step
// carry the whole conversation: encoding it anew for each would make a run cost the
// square of its length.
//
// A message that is part of a conversation is never changed in place, so one with the
// same id and the same content in memory is the same message.
type encodings struct{ list []encoded }

type encoded struct {
	id      string
	role    protocol.Role
	content *protocol.Part // the first
	parts   int
	json    []byte
}

func (e *encoded) is(m *protocol.Message) bool {
	return e.json != nil && e.id == m.ID && e.role == m.Role && e.parts == len(m.Content) &&
		(e.parts == 0 || e.content == &m.Content[0])
}

// messages appends the JSON of a list of messages to dst.
func (e *encodings) messages(dst []byte, messages []protocol.Message) ([]byte, error) {
	dst = append(dst, '[')
	for i := range messages {
		m := &messages[i]
		if i == len(e.list) {
			e.list = append(e.list, encoded{})
		}
		if !e.list[i].is(m) {
			text, err := protocol.Marshal(m)
			if err != nil {
				return nil, err
			}
			e.list[i] = encoded{id: m.ID, role: m.Role, parts: len(m.Content), json: text}
			if len(m.Content) > 0 {
				e.list[i].content = &m.Content[0]
			}
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, e.list[i].json...)
	}
	clear(e.list[len(messages):]) // a compaction has taken them away
	e.list = e.list[:len(messages)]
	return append(dst, ']'), nil
}

// size returns about how many bytes the messages take.
func (e *encodings) size() (n int) {
	for i := range e.list {
		n += len(e.list[i].json) + 1
	}
	return n
}

// data encodes the data of an event. The JSON of its messages comes from e.
func (e *encodings) data(data any) (protocol.RawMessage, error) {
	rest, messages := withoutMessages(data)
	text, err := protocol.Marshal(rest)
	if err != nil || messages == nil {
		return text, err
	}
	place := []byte(`"messages":[]`)
	at, err := offsetOf(text, place)
	if err != nil {
		return nil, err
	}
	whole := make([]byte, 0, len(text)+e.size()+4096) // with room for a new message
	whole = append(whole, text[:at+len(place)-len("[]")]...)
	if whole, err = e.messages(whole, messages); err != nil {
		return nil, err
	}
	return append(whole, text[at+len(place):]...), nil
}

// withoutMessages takes the conversation out of an event's data, nil if there is
// none in it.
func withoutMessages(data any) (rest any, messages []protocol.Message) {
	switch d := data.(type) {
	case protocol.AgentStartData:
		messages, d.Messages = d.Messages, nil
		return d, messages
	case protocol.StepStartData:
		messages, d.Messages = d.Messages, nil
		return d, messages
	case protocol.InferenceStartData:
		messages, d.Messages = d.Messages, nil
		return d, messages
	case protocol.StepStopData:
		messages, d.Messages = d.Messages, nil
		return d, messages
	case protocol.AgentStopData:
		messages, d.Messages = d.Messages, nil
		return d, messages
	}
	return data, nil
}

// offsetOf returns the offset of a member in an object that has its default form.
func offsetOf(object, member []byte) (int, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowInvalidUTF8(true))
	decoder.ReadToken()
	for decoder.PeekKind() == '"' {
		before := int(decoder.InputOffset())
		if _, err := decoder.ReadToken(); err != nil {
			return 0, err
		}
		for object[before] != '"' { // the comma
			before++
		}
		if bytes.HasPrefix(object[before:], member) {
			return before, nil
		}
		if err := decoder.SkipValue(); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("there is no member %s", member)
}
