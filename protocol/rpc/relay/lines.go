package relay

import (
	"encoding/json"
	"strconv"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// ErrorLine is a message that answers a request with an error; a nil id stands for a message
// whose id is not known.
func ErrorLine(id json.RawMessage, code int, text string) []byte {
	line := head(id)
	line = append(line, `,"error":{"code":`...)
	line = strconv.AppendInt(line, int64(code), 10)
	line = append(line, `,"message":`...)
	return append(jsonspan.AppendQuote(line, text), "}}"...)
}

// InPlace is the message in place of an answer that cannot be read.
func (f *Fault) InPlace(code int) []byte {
	return ErrorLine(f.Answers, code, "hookd: the answer was left out: "+f.Text)
}

// ResultLine is a message that answers a request.
func ResultLine(id json.RawMessage, result []byte) []byte {
	line := append(head(id), `,"result":`...)
	return append(append(line, jsonspan.OneLine(result)...), '}')
}

func head(id json.RawMessage) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	return append([]byte(`{"jsonrpc":"2.0","id":`), id...)
}
