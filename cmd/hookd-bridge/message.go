package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strconv"
	"unicode/utf8"
)

// The messages of JSON-RPC that the messenger writes and reads. It reads answers only in
// the form in which the daemon of its own version writes them, byte for byte; anything
// else is an error, after which the messenger does without the daemon.
const (
	idOfEvent = "1"
	idOfPing  = "2"
	opening   = `{"jsonrpc":"2.0","id":`
	ping      = opening + idOfPing + `,"method":"ping"}` + "\n"
)

// event is what is sent of a call.
type event struct {
	agent, name, cwd string
	leftMs           int64
	environ          []string
	input            []byte
}

// encode writes a call of bridge/event. It fails if something is not UTF-8, which JSON
// cannot carry.
func (e *event) encode() ([]byte, error) {
	size := 512 + base64.StdEncoding.EncodedLen(len(e.input))
	for _, variable := range e.environ {
		size += len(variable) + 8
	}
	b := append(make([]byte, 0, size), opening+idOfEvent+`,"method":"bridge/event","params":{"version":`...)
	b = appendQuoted(b, version)
	b = appendQuoted(append(b, `,"agent":`...), e.agent)
	b = appendQuoted(append(b, `,"event":`...), e.name)
	b = strconv.AppendInt(append(b, `,"leftMs":`...), e.leftMs, 10)
	b = appendQuoted(append(b, `,"cwd":`...), e.cwd)
	b = append(b, `,"environ":[`...)
	for i, variable := range e.environ {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, variable)
	}
	if !utf8.Valid(b) {
		return nil, errors.New("the environment or a path is not UTF-8")
	}
	b = base64.StdEncoding.AppendEncode(append(b, `],"input":"`...), e.input)
	return append(b, "\"}}\n"...), nil
}

// appendQuoted appends a JSON string.
func appendQuoted(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// errForm says that a message is not what the daemon of our version writes.
var errForm = errors.New("the daemon answers in another form")

// decode reads a line from the daemon. A line that is not about the event is skipped:
// then answered is false.
func decode(line []byte) (r reply, answered bool, err error) {
	rest, isAnswer := bytes.CutPrefix(line, []byte(opening+idOfEvent+`,"result":{"exit":`))
	if !isAnswer {
		if bytes.HasPrefix(line, []byte(opening+idOfPing+",")) || bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","method":`)) {
			return r, false, nil
		}
		return r, false, errForm // an error, most likely
	}
	exit, rest, hasStdout := bytes.Cut(rest, []byte(`,"stdout":"`))
	stdout, rest, hasStderr := bytes.Cut(rest, []byte(`","stderr":"`))
	stderr, whole := bytes.CutSuffix(rest, []byte(`"}}`))
	if !hasStdout || !hasStderr || !whole || bytes.IndexByte(line, '\r') >= 0 { // base64 would skip it
		return r, false, errForm
	}
	if r.exit, err = strconv.Atoi(string(exit)); err != nil || r.exit < 0 || r.exit > 255 || strconv.Itoa(r.exit) != string(exit) {
		return reply{}, false, errForm
	}
	strict := base64.StdEncoding.Strict()
	if r.stdout, err = strict.AppendDecode(nil, stdout); err != nil {
		return reply{}, false, errForm
	}
	if r.stderr, err = strict.AppendDecode(nil, stderr); err != nil {
		return reply{}, false, errForm
	}
	return r, true, nil
}
