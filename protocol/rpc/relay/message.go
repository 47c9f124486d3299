package relay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Kind is what a message is.
type Kind int

const (
	Request Kind = iota + 1
	Notification
	Response
)

// Message is one message as it was read. Its parts share the bytes of the line.
type Message struct {
	Line   []byte // without its newline
	Kind   Kind
	ID     json.RawMessage // nil of a notification
	Method string          // "" of a response

	Params, Result, Error json.RawMessage // nil where there is none

	// Strict reports whether the whole line is strictly valid: no member twice in any
	// object, valid UTF-8. What is not strict may be read in several ways.
	Strict bool
}

// Fault is why a line is no message, as the error of JSON-RPC that answers it.
type Fault struct {
	ID   json.RawMessage // nil: not known
	Code int
	Text string

	// Answers is the id of the request that the line is an answer to, nil of one that is no
	// answer, or does not say to what.
	Answers json.RawMessage
	// Asks is the id of the request that the line is, nil of one that is none for certain.
	Asks json.RawMessage
}

func (f *Fault) Error() string { return f.Text }

// Codes of JSON-RPC errors.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeServer         = -32000 // the first of those that a server may give a meaning
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// lenient is JSON that some programs write and most read.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// Read reads a line that holds one message. What two programs could take for two different
// messages is a fault: a member of the message that is there twice, or that some readers
// take for one of those below because they do not mind upper and lower case; an answer that
// is a result and an error. Of these two, one that is null says nothing where the other one is
// there.
//
// Programs that read a carriage return as the end of a line would find several messages in
// one that has it between its tokens: its blanks are left out then.
func Read(line []byte) (*Message, *Fault) {
	line = bytes.TrimPrefix(line, byteOrderMark)
	members, strict := jsonspan.ScanObject(line, 10000)
	if !strict {
		if !jsontext.Value(line).IsValid(lenient...) {
			return nil, notJSON(line)
		}
		members = jsonspan.Members(line)
	}
	if jsonspan.Kind(line) != '{' {
		return nil, &Fault{Code: CodeInvalidRequest, Text: "the line is no message of JSON-RPC, which is an object"}
	}
	if ends := bytes.TrimRight(line, "\r"); bytes.IndexByte(ends, '\r') >= 0 {
		return Read(jsonspan.OneLine(line))
	}
	m := &Message{Line: line, Strict: strict}
	var fault *Fault
	for i, member := range members {
		if again := slices.ContainsFunc(members[:i], func(o jsonspan.Member) bool { return o.Name == member.Name }); again && isKnown(member.Name) {
			fault = &Fault{Text: fmt.Sprintf("the message has the member %q twice", member.Name)}
		}
		if strings.ContainsRune(member.Name, 0) {
			fault = &Fault{Text: fmt.Sprintf("the message has the member %q, whose name some programs take to end at the NUL", member.Name)}
		}
		if name := alike(member.Name); name != "" {
			fault = &Fault{Text: fmt.Sprintf("the message has the member %q, which some programs take for %q", member.Name, name)}
		}
		m.set(member)
	}
	if problem := m.classify(members); fault == nil {
		fault = problem
	}
	switch {
	case fault == nil:
		return m, nil
	case m.Kind == Response && !slices.ContainsFunc(members, isMethod):
		fault.Answers = onlyID(members)
	case m.Kind == Request:
		fault.ID, fault.Asks = m.ID, onlyID(members)
	case m.Kind != Response && isID(m.ID):
		fault.ID = m.ID
	}
	fault.Code = CodeInvalidRequest
	return nil, fault
}

func isMethod(member jsonspan.Member) bool { return strings.EqualFold(member.Name, "method") }

// onlyID returns the id of a message, nil if it has none, or could have another one.
func onlyID(members []jsonspan.Member) (id json.RawMessage) {
	for _, member := range members {
		switch {
		case !strings.EqualFold(member.Name, "id"):
		case id != nil || member.Name != "id" || !isID(member.Value):
			return nil
		default:
			id = member.Value
		}
	}
	return id
}

// notJSON is the fault of a line that is no JSON. It may look like a whole message: some programs
// write NaN for a number, or nest without end.
func notJSON(line []byte) *Fault {
	fault := &Fault{Code: CodeParse, Text: "the line is not valid JSON"}
	o := &rpc.Overlong{}
	o.Add(line)
	switch m, known := o.Message(); {
	case known && m.Method == "":
		fault.Answers = m.ID
	case known && m.ID != nil:
		fault.Asks = m.ID
	}
	return fault
}

// knownNames are the members of messages.
var knownNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}

func isKnown(name string) bool { return slices.Contains(knownNames, name) }

// alike returns the name that a name is not, but is taken for by programs that do not mind
// case.
func alike(name string) string {
	if isKnown(name) {
		return ""
	}
	for _, known := range knownNames {
		if strings.EqualFold(name, known) {
			return known
		}
	}
	return ""
}

func (m *Message) set(member jsonspan.Member) {
	switch member.Name {
	case "id":
		m.ID = member.Value
	case "params":
		m.Params = member.Value
	case "result":
		m.Result = member.Value
	case "error":
		m.Error = member.Value
	}
}

// classify says what a message is by the members that it has.
func (m *Message) classify(members []jsonspan.Member) *Fault {
	method := json.RawMessage(nil)
	for _, member := range members {
		if member.Name == "method" {
			method = member.Value
		}
	}
	answers := m.Result != nil || m.Error != nil
	switch {
	case method != nil && answers:
		m.Kind = Response // so that nobody is answered
		return &Fault{Text: "the message is a request and an answer at the same time"}
	case m.ID != nil && !isID(m.ID) && !(answers && jsonspan.IsNull(m.ID)):
		return &Fault{Text: "the id of the message is neither text nor a number"}
	case answers:
		return m.classifyAnswer()
	case method == nil:
		return &Fault{Text: "the message has neither a method nor a result nor an error"}
	case jsonspan.Kind(method) != '"':
		return &Fault{Text: "the method of the message is no text"}
	case strings.ContainsRune(jsonspan.Text(method), 0):
		return &Fault{Text: "the method of the message has a NUL, where some programs take it to end"}
	case m.ID == nil:
		m.Kind, m.Method = Notification, jsonspan.Text(method)
	default:
		m.Kind, m.Method = Request, jsonspan.Text(method)
	}
	return nil
}

func isID(id json.RawMessage) bool {
	kind := jsonspan.Kind(id)
	return kind == '"' || kind == '0'
}

// classifyAnswer says what an answer is: a result or an error.
func (m *Message) classifyAnswer() *Fault {
	m.Kind = Response
	switch {
	case m.ID == nil:
		return &Fault{Text: "the message is an answer without an id"}
	case m.Result == nil || m.Error == nil:
	case jsonspan.IsNull(m.Error): // older programs write both
		m.Error = nil
	case jsonspan.IsNull(m.Result):
		m.Result = nil
	default:
		return &Fault{Text: "the message is a result and an error at the same time"}
	}
	return nil
}

// Key returns a text that is the same for ids that are the same: 1, 1.0 and 1e0, "a" and
// "\u0061", and numbers that are the same to programs that read them as 64 bit floats, which
// answer with what they read. A number and a text are never the same.
func Key(id json.RawMessage) string {
	if jsonspan.Kind(id) != '0' {
		return jsonspan.Canonical(id)
	}
	number := string(jsonspan.Trim(id))
	if n, err := strconv.ParseFloat(number, 64); err == nil {
		return strconv.FormatFloat(n+0, 'g', -1, 64) // -0 is 0
	}
	return number
}

// With returns the line with another value of a member of the message.
func (m *Message) With(member string, value []byte) []byte { return Replace(m.Line, member, value) }

// Replace returns an object with another value of a member, or with that member if it has
// none. All other bytes stay. The object must not have the member twice.
func Replace(object []byte, member string, value []byte) []byte {
	value = jsonspan.OneLine(value)
	for _, m := range jsonspan.Members(object) {
		if m.Name == member {
			out := make([]byte, 0, len(object)-len(m.Value)+len(value))
			out = append(append(out, object[:m.Start]...), value...)
			return append(out, object[m.End():]...)
		}
	}
	return jsonspan.With(object, member, value)
}
