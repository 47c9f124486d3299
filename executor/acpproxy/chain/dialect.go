package chain

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// dialect is how a conductor speaks of successors.
type dialect struct {
	begin string // method of the first request

	// mark is the place of true in the params of the first request, and accept its place in the
	// result, where a proxy says that it is one. nil: the method says it.
	mark, accept []string

	send, receive envelopes
}

// envelopes are the methods of envelopes.
type envelopes struct{ request, notification string }

func (e *envelopes) method(kind relay.Kind) string {
	if kind == relay.Request {
		return e.request
	}
	return e.notification
}

// dialects are those that are spoken: of the protocol itself, which has them under
// discussion, and of the conductors that came before.
var dialects = []*dialect{
	{begin: "proxy/initialize", send: both("proxy/successor"), receive: both("proxy/successor")},
	{begin: "_proxy/initialize", send: both("_proxy/successor"), receive: both("_proxy/successor")},
	{begin: acp.Initialize, mark: []string{"_meta", "proxy"}, accept: []string{"_meta", "proxy"}, send: oneEach("_proxy/successor/"), receive: oneEach("_proxy/successor/")},
	{
		begin: acp.Initialize, mark: []string{"clientCapabilities", "_meta", "symposium", "proxy"}, accept: []string{"agentCapabilities", "_meta", "symposium", "proxy"},
		send: oneEach("_proxy/successor/"), receive: oneEach("_proxy/successor/"),
	},
	{
		begin: acp.Initialize, mark: []string{"_meta", "symposium", "proxy"}, accept: []string{"_meta", "symposium", "proxy"},
		send: oneEach("_proxy/successor/send/"), receive: oneEach("_proxy/successor/receive/"),
	},
}

func both(method string) envelopes { return envelopes{method, method} }

func oneEach(prefix string) envelopes { return envelopes{prefix + "request", prefix + "notification"} }

// isBegin reports whether a method begins a chain, in some dialect.
func isBegin(method string) bool {
	return method == acp.Initialize || method == dialects[0].begin || method == dialects[1].begin
}

// isChain reports whether a method is one between conductors and proxies, which no client and no
// agent calls.
func isChain(method string) bool {
	return strings.HasPrefix(method, "proxy/") || strings.HasPrefix(method, "_proxy/")
}

// recognize returns the dialect of the request that begins a chain, and the request as an agent
// gets it.
func recognize(m *relay.Message) (*dialect, []byte, error) {
	if !isBegin(m.Method) {
		return nil, nil, fmt.Errorf("the chain has not begun: %q came before proxy/initialize", m.Method)
	}
	if !m.Strict || jsonspan.Kind(m.Params) != '{' {
		return nil, nil, fmt.Errorf("the params of %s are no object, or have a member twice, or text that is not valid UTF-8", m.Method)
	}
	var found *dialect
	for _, d := range dialects {
		switch {
		case d.begin != m.Method || d.mark != nil && !isTrue(jsonspan.Find(m.Params, "/"+strings.Join(d.mark, "/"))):
		case found != nil:
			return nil, nil, fmt.Errorf("%s says in two ways that hookd is a proxy: %s and %s", m.Method, strings.Join(found.mark, "."), strings.Join(d.mark, "."))
		default:
			found = d
		}
	}
	switch {
	case found == nil:
		return nil, nil, fmt.Errorf("this is hookd acp --chain, a member of a proxy chain, and %s came without _meta.proxy: nothing would be guarded (have a conductor start it as a proxy, or write hookd acp -- AGENT in the editor)", m.Method)
	case found.mark != nil:
		return found, m.With("params", without(m.Params, found.mark)), nil
	}
	return found, edit(m.Line, nil, jsonspan.Quote(acp.Initialize), m.Params), nil
}

func isTrue(value json.RawMessage) bool { return string(jsonspan.Trim(value)) == "true" }

// accepted returns the answer to the request that has begun the chain, with its mark.
func (d *dialect) accepted(m *relay.Message) []byte {
	if d.accept == nil || m.Result == nil || jsonspan.Kind(m.Result) != '{' {
		return m.Line
	}
	return m.With("result", with(m.Result, d.accept, []byte("true")))
}

// with returns an object with a value at a place.
func with(object json.RawMessage, place []string, value []byte) json.RawMessage {
	if len(place) > 1 {
		inner := jsonspan.Get(object, place[0])
		if jsonspan.Kind(inner) != '{' {
			inner = json.RawMessage("{}")
		}
		value = with(inner, place[1:], value)
	}
	return relay.Replace(object, place[0], value)
}

// without returns an object without what is at a place.
func without(object json.RawMessage, place []string) json.RawMessage {
	if len(place) > 1 {
		return relay.Replace(object, place[0], without(jsonspan.Get(object, place[0]), place[1:]))
	}
	return jsonspan.Without(object, place[0])
}
