package rpc

import (
	stdjson "encoding/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// mostToken bounds what is kept of a value of a line that is too long: longer ids and names
// of methods are not known.
const mostToken = 1 << 10

// Overlong finds the id of a line that is too long to be kept, and what kind of message it
// is, while the line goes by. Other programs write the id first or last.
type Overlong struct {
	depth   int
	inText  bool
	escaped bool
	isValue bool   // after the colon of a member of the message
	token   []byte // the name or the value that is being read, as long as it is short
	cut     bool   // it is not
	name    string // of the member whose value is being read
	ids     int
	id      stdjson.RawMessage
	answers bool // it has a result or an error
	method  string
}

// Add takes the next bytes of the line.
func (o *Overlong) Add(piece []byte) {
	for _, c := range piece {
		o.next(c)
	}
}

func (o *Overlong) next(c byte) {
	if o.inText {
		o.keep(c)
		switch {
		case o.escaped:
			o.escaped = false
		case c == '\\':
			o.escaped = true
		case c == '"':
			o.inText = false
		}
		return
	}
	switch c {
	case '"':
		o.inText = true
		o.keep(c)
	case '{', '[':
		o.keep(c)
		o.depth++
	case '}', ']':
		if o.depth == 1 {
			o.member()
		}
		o.depth--
	case ':':
		if o.depth == 1 && !o.isValue {
			o.name, o.isValue = jsonspan.Text(o.token), true
			o.token, o.cut = o.token[:0], false
		}
	case ',':
		if o.depth == 1 {
			o.member()
		}
	case ' ', '\t', '\r', '\n':
	default:
		o.keep(c)
	}
}

// keep keeps a byte of a name or a value of the message itself.
func (o *Overlong) keep(c byte) {
	switch {
	case o.depth != 1 || o.cut:
	case len(o.token) == mostToken:
		o.cut = true
	default:
		o.token = append(o.token, c)
	}
}

// member takes the member that has ended.
func (o *Overlong) member() {
	value := stdjson.RawMessage(string(o.token))
	switch {
	case o.name == "id":
		o.ids++
		if o.id = nil; o.ids == 1 && !o.cut && isID(value) && jsonspan.Valid(value) {
			o.id = value
		}
	case o.name == "method":
		if o.method = "(too long)"; !o.cut {
			o.method = jsonspan.Text(value)
		}
	case o.name == "result" || o.name == "error":
		o.answers = true
	}
	o.name, o.isValue, o.token, o.cut = "", false, o.token[:0], false
}

// Message returns the id and the method of the message, as far as they are known: both of a
// request, a response has no method, a notification no id. known is false if it cannot be said
// what it was.
func (o *Overlong) Message() (m Message, known bool) {
	switch {
	case o.id != nil && o.method != "" && !o.answers:
		return Message{ID: o.id, Method: o.method}, true
	case o.id != nil && o.method == "" && o.answers:
		return Message{ID: o.id}, true
	case o.ids == 0 && o.method != "":
		return Message{Method: o.method}, true
	}
	return Message{}, false
}

func isID(value stdjson.RawMessage) bool {
	kind := jsonspan.Kind(value)
	return kind == '"' || kind == '0'
}
