package rpc

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// Message is one JSON-RPC 2.0 message, request, notification or response, with
// everything but the method still the bytes it came as. The bytes belong to the
// line it was parsed from.
type Message struct {
	ID     stdjson.RawMessage // a string or a number; nil for a notification
	Method string             // "" for a response
	Params stdjson.RawMessage // an object or array; nil if absent
	Result stdjson.RawMessage // of a response; nil if absent
	Error  *Error             // of a response

	// Invalid is why the message is not one that JSON-RPC allows. The other
	// members are then set as far as they could be read.
	Invalid *Error
}

// Key is an id in a form that compares equal for equal ids, however a string
// was escaped. It is "" for a notification.
func (m *Message) Key() string { return idKey(m.ID) }

func idKey(id stdjson.RawMessage) string {
	if len(id) == 0 || id[0] != '"' {
		return string(id)
	}
	text, err := jsontext.AppendUnquote(nil, id)
	if err != nil {
		return string(id)
	}
	return `"` + string(text)
}

// Parse reads one line, which is one message. The error is the response to a line that
// cannot be read, and to a batch: hookd takes none, and events that are to be decided side
// by side are sent one a line. A message that JSON-RPC does not allow has Invalid set instead.
//
// Members inside params and result are not looked at: repeated names and lone
// surrogates are for the one who decodes them. The line must be UTF-8.
func Parse(line []byte) (Message, *Error) {
	if at := invalidUTF8(line); at >= 0 {
		return Message{}, syntaxError(int64(at), errors.New("invalid UTF-8"))
	}
	p := parser{line: line, dec: jsontext.NewDecoder(bytes.NewBuffer(line),
		jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))}
	batch := p.dec.PeekKind() == '['
	m := p.message()
	p.end()
	if batch && p.failed == nil {
		return Message{}, Errorf(InvalidRequest, "batches are not taken: send one message a line")
	}
	return m, p.failed
}

func invalidUTF8(line []byte) int {
	if utf8.Valid(line) {
		return -1
	}
	for at := 0; at < len(line); {
		r, size := utf8.DecodeRune(line[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// parser reads the message of one line. The first syntax error is kept in
// failed, and nothing is read after it.
type parser struct {
	line   []byte
	dec    *jsontext.Decoder
	failed *Error
}

func (p *parser) fail(err error) {
	if p.failed != nil {
		return
	}
	offset := p.dec.InputOffset()
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		offset, err = syntactic.ByteOffset, syntactic.Err
	}
	if errors.Is(err, io.EOF) {
		offset, err = int64(len(p.line)), io.ErrUnexpectedEOF
	}
	p.failed = syntaxError(offset, err)
}

func syntaxError(offset int64, err error) *Error {
	return Errorf(ParseError, "invalid JSON at byte %d: %v", offset, err).With("offset", offset)
}

func (p *parser) token() jsontext.Token {
	if p.failed != nil {
		return jsontext.Token{}
	}
	t, err := p.dec.ReadToken()
	if err != nil {
		p.fail(err)
	}
	return t
}

// value returns the next value as a part of the line.
func (p *parser) value() stdjson.RawMessage {
	if p.failed != nil {
		return nil
	}
	v, err := p.dec.ReadValue()
	if err != nil {
		p.fail(err)
		return nil
	}
	end := p.dec.InputOffset()
	return stdjson.RawMessage(p.line[end-int64(len(v)) : end : end])
}

func (p *parser) end() {
	if p.failed != nil {
		return
	}
	if _, err := p.dec.ReadToken(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("more than one message on the line")
		}
		p.fail(err)
	}
}

func (p *parser) message() (m Message) {
	if p.dec.PeekKind() != '{' {
		p.value()
		m.Invalid = Errorf(InvalidRequest, "a message must be an object")
		return m
	}
	invalid := func(format string, args ...any) {
		if m.Invalid == nil {
			m.Invalid = Errorf(InvalidRequest, format, args...)
		}
	}
	version := ""
	seen := map[string]bool{}
	p.token()
	for p.failed == nil && p.dec.PeekKind() != '}' {
		name := p.token().String()
		value := p.value()
		if p.failed != nil {
			return m
		}
		if seen[name] && known[name] {
			invalid("member %q is repeated", name)
		}
		seen[name] = true
		switch name {
		case "jsonrpc":
			version = text(value)
		case "id":
			m.ID = value
		case "method":
			if m.Method = text(value); m.Method == "" {
				invalid("method must be a string that is not empty")
			}
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			if err := json.Unmarshal(value, &m.Error); err != nil || m.Error == nil {
				invalid("error must be an object with code and message")
			}
		}
	}
	p.token()
	m.check(version, seen, invalid)
	return m
}

var known = map[string]bool{"jsonrpc": true, "id": true, "method": true, "params": true, "result": true, "error": true}

func (m *Message) check(version string, seen map[string]bool, invalid func(string, ...any)) {
	if seen["id"] && !validID(m.ID) {
		// A response without a result may have no id: its request could not be read.
		if !seen["error"] || jsonspan.Kind(m.ID) != 'n' {
			invalid("id must be a string or a number")
		}
		m.ID = nil
	}
	if version != "2.0" {
		invalid(`jsonrpc must be "2.0"`)
	}
	response := seen["result"] || seen["error"]
	switch {
	case seen["method"] && response:
		invalid("a message is a request or a response, not both")
	case seen["result"] && seen["error"]:
		invalid("a response has a result or an error, not both")
	case !seen["method"] && !response:
		invalid("method is missing")
	}
	if kind := jsonspan.Kind(m.Params); seen["params"] && kind != '{' && kind != '[' {
		invalid("params must be an object or an array")
	}
}

// validID reports whether an id can be repeated in a response: a number, or a string that
// every JSON reader understands.
func validID(id stdjson.RawMessage) bool {
	switch jsonspan.Kind(id) {
	case '0':
		return true
	case '"':
		_, err := jsontext.AppendUnquote(nil, id)
		return err == nil
	}
	return false
}

func text(v stdjson.RawMessage) string {
	if jsonspan.Kind(v) != '"' {
		return ""
	}
	s, _ := jsontext.AppendUnquote(nil, v)
	return string(s)
}

// AppendRequest appends a request, or with a nil id a notification, to dst.
// Params, when not nil, is a whole JSON value and is appended as it is.
func AppendRequest(dst []byte, id stdjson.RawMessage, method string, params stdjson.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if id != nil {
		dst = append(append(dst, `,"id":`...), id...)
	}
	dst = append(dst, `,"method":`...)
	dst, _ = jsontext.AppendQuote(dst, method)
	if params != nil {
		dst = append(append(dst, `,"params":`...), params...)
	}
	return append(dst, '}')
}

// AppendResult appends the response with a result, a whole JSON value, to dst.
func AppendResult(dst []byte, id, result stdjson.RawMessage) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = append(append(dst, `,"result":`...), result...)
	return append(dst, '}')
}

// AppendError appends the response with an error to dst. A nil id stands for a
// request whose id could not be read.
func AppendError(dst []byte, id stdjson.RawMessage, failure *Error) []byte {
	if id == nil {
		id = stdjson.RawMessage("null")
	}
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = append(dst, `,"error":`...)
	dst = failure.appendTo(dst)
	return append(dst, '}')
}

// Code is the code of a JSON-RPC error.
type Code int

// The codes in use. The first five are JSON-RPC's own.
const (
	ParseError     Code = -32700 // the line is not JSON
	InvalidRequest Code = -32600 // JSON, but not a request
	MethodNotFound Code = -32601
	InvalidParams  Code = -32602 // data.path points at the member
	InternalError  Code = -32603
	Cancelled      Code = -32800 // by $/cancelRequest, a disconnect or the end of the daemon
	TooLarge       Code = -32001 // a line, event or response over its limit
	UnknownSession Code = -32002
	ShuttingDown   Code = -32003
)

// Error is the error of a response.
type Error struct {
	Code    Code               `json:"code"`
	Message string             `json:"message"`
	Data    stdjson.RawMessage `json:"data,omitzero"` // an object
}

// Errorf makes an error from a code and a message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// With returns a copy of e whose data is an object with one more member.
func (e *Error) With(name string, value any) *Error {
	members := map[string]any{}
	if e.Data != nil {
		_ = json.Unmarshal(e.Data, &members) // data is always what With made
	}
	members[name] = value
	data, err := json.Marshal(members, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return e
	}
	return &Error{Code: e.Code, Message: e.Message, Data: data}
}

// Path is the JSON Pointer below params that data names, "" if none.
func (e *Error) Path() string {
	var data struct {
		Path string `json:"path"`
	}
	if e.Data == nil || json.Unmarshal(e.Data, &data) != nil {
		return ""
	}
	return data.Path
}

func (e *Error) appendTo(dst []byte) []byte {
	dst = fmt.Appendf(dst, `{"code":%d,"message":`, e.Code)
	dst, _ = jsontext.AppendQuote(dst, e.Message) // invalid UTF-8 is replaced
	if e.Data != nil {
		dst = append(append(dst, `,"data":`...), e.Data...)
	}
	return append(dst, '}')
}
