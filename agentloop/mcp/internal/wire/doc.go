// Package wire carries the messages of MCP between the SDK and a server that may write
// anything. It is the transport under the SDK's client session.
//
// [Stdio] speaks over the pipes of a program (stdio.go): lines.go cuts its stdout into
// lines and passes over banners, message.go reads the messages in a line. [NewWeb] speaks
// over HTTP (web.go), whose answers are messages or streams of events (webbody.go).
//
// Each answer is matched with its request in pending.go before the SDK sees it: one that
// names no request, a request twice, or the wrong one would otherwise leave a call waiting
// for ever. [WithRawResult] keeps the result of a call as the server wrote it
// (rawresult.go), since the SDK's types lose digits and refuse what they do not know.
//
// All that a server sends is bounded. A server that breaks the protocol in a way that does
// not end the connection is named once by a [Report].
package wire

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Report is told of what a server does that it should not and that does not end it: the
// kind in one word, and a text that goes on after the name of the server.
type Report func(kind, text string)

// Lenient reads what servers write, which is not always strict JSON.
var Lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
