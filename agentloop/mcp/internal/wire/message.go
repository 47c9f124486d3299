package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// message is a message of JSON-RPC as a server wrote it.
type message struct {
	Version protocol.RawMessage `json:"jsonrpc"`
	ID      protocol.RawMessage `json:"id"`
	Method  protocol.RawMessage `json:"method"`
	Params  protocol.RawMessage `json:"params"`
	Result  protocol.RawMessage `json:"result"`
	Error   protocol.RawMessage `json:"error"`
}

// isMessage reports whether a JSON object is meant as a message. Logs are written as
// JSON, too, and with any members: the tag tells, or what only an answer has.
func (e *message) isMessage() bool {
	return e.Version != nil || e.ID != nil && (e.Result != nil || e.Error != nil)
}

// isAnswer reports whether the message answers a request.
func (e *message) isAnswer() bool { return e.Method == nil }

// readMessages reads a line: one message, several, or the batch that the revision
// 2025-03-26 allows. It returns none for text and for JSON that is no message. Only a
// message that is broken is an error.
func readMessages(line []byte) ([]message, error) {
	if len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return nil, nil
	}
	if e, is := readMessage(line); is { // nearly every line; a large one is read once
		return checked([]message{e}, line)
	}
	var list []message
	all := true
	d := jsontext.NewDecoder(bytes.NewReader(line), Lenient)
	for {
		value, err := d.ReadValue()
		if err == io.EOF {
			break
		}
		if err == nil && jsonspan.Kind(value) == '[' {
			value = bytes.Clone(value)
			batch, whole := readBatch(protocol.RawMessage(value))
			list, all = append(list, batch...), all && whole
			continue
		}
		if err != nil {
			if len(list) > 0 || claims(line) {
				return nil, noMessage(line, err)
			}
			return nil, nil
		}
		if e, is := readMessage(protocol.RawMessage(value)); is {
			list = append(list, e)
		} else {
			all = false
		}
	}
	if len(list) > 0 && !all {
		return nil, noMessage(line, errors.New("a part of it is none"))
	}
	return checked(list, line)
}

func checked(list []message, line []byte) ([]message, error) {
	for i := range list {
		if v := list[i].Version; v != nil && string(v) != `"2.0"` {
			return nil, noMessage(line, fmt.Errorf("jsonrpc is %s, not \"2.0\"", Clip(string(v), 40)))
		}
	}
	return list, nil
}

// readMessage reads one object. An empty value is none: a server primes a stream
// with an event that has an id and no data.
func readMessage(value protocol.RawMessage) (e message, is bool) {
	if len(value) == 0 || value[0] != '{' || json.Unmarshal(value, &e, Lenient) != nil {
		return e, false
	}
	return e, e.isMessage()
}

func readBatch(value protocol.RawMessage) (list []message, all bool) {
	var pieces []protocol.RawMessage
	if json.Unmarshal(value, &pieces, Lenient) != nil {
		return nil, false
	}
	for _, piece := range pieces {
		if e, is := readMessage(piece); is {
			list = append(list, e)
		}
	}
	return list, len(list) == len(pieces)
}

// claims reports whether text that is no JSON begins as a message does: as an
// object, or a list of them, with the tag or with the members of an answer.
func claims(line []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(line), Lenient)
	token, err := d.ReadToken()
	if err == nil && token.Kind() == '[' {
		token, err = d.ReadToken()
	}
	if err != nil || token.Kind() != '{' {
		return false
	}
	id, answer := false, false
	for {
		name, err := d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return id && answer
		}
		switch name.String() {
		case "jsonrpc":
			return true
		case "id":
			id = true
		case "result", "error":
			answer = true
		}
		if d.SkipValue() != nil {
			return id && answer
		}
	}
}

// request is a message that is no answer, as the SDK reads it.
func (e *message) request() (jsonrpc.Message, error) {
	r := &jsonrpc.Request{Params: []byte(e.Params)}
	if err := json.Unmarshal(e.Method, &r.Method); err != nil || jsonspan.Kind(e.Method) != '"' {
		return nil, fmt.Errorf("wrote a message whose method is no string: %s", sample(e.Method))
	}
	var id any
	if e.ID != nil {
		if err := json.Unmarshal(e.ID, &id, Lenient); err != nil {
			return nil, err
		}
	}
	var err error
	if r.ID, err = jsonrpc.MakeID(id); err != nil {
		return nil, fmt.Errorf("wrote a message whose id is neither a string nor a number: %s", sample(e.ID))
	}
	return r, nil
}

// failure is the error of an answer, nil if it has none.
func (e *message) failure() *jsonrpc.Error {
	if e.Error == nil || jsonspan.Kind(e.Error) == 'n' {
		if e.Result == nil {
			return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "its answer has neither a result nor an error"}
		}
		return nil
	}
	var said struct {
		Code    protocol.RawMessage `json:"code"`
		Message protocol.RawMessage `json:"message"`
		Data    protocol.RawMessage `json:"data"`
	}
	failed := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: Clip(string(e.Error), 500)}
	if jsonspan.Kind(e.Error) != '{' || json.Unmarshal(e.Error, &said, Lenient) != nil {
		return failed
	}
	_ = json.Unmarshal(said.Code, &failed.Code, Lenient)       // else the code above
	_ = json.Unmarshal(said.Message, &failed.Message, Lenient) // else the whole error
	failed.Data = []byte(said.Data)
	return failed
}

func noMessage(line []byte, err error) error {
	return fmt.Errorf("wrote a line that is no message of MCP (%w): %s", err, sample(line))
}

// sample returns the beginning of a server's text, for an error.
func sample(text []byte) string {
	const most = 200
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], []byte("\uFFFD"))) + " …"
	}
	return string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
}

// Clip returns the beginning of a text, at most so many bytes, whole characters.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most = max(most, 0); most > 0 && !utf8.RuneStart(text[most]); most-- {
	}
	return text[:most]
}
